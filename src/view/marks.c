// SPDX-License-Identifier: MIT
// marks.c: see marks.h. A person marks a few; they are looked for one by one.
#include "view/marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Whether a mark is of this object. Where one of both tells no objects apart, "", any is. */
static bool marks_of(const struct mark *mark, const char *object, const char *symbol)
{
	return !strcmp(mark->object, object) || (*symbol && (!*mark->object || !*object));
}

/* The place of a function's mark; m->n: it has none. */
static size_t marks_find(const struct marks *m, const char *object, const char *symbol)
{
	size_t i = 0;

	while (i < m->n &&
	       (strcmp(m->mark[i].symbol, symbol) || !marks_of(&m->mark[i], object, symbol)))
		i++;
	return i;
}

bool marks_has(const struct marks *m, const char *object, const char *symbol)
{
	return m->n && marks_find(m, object, symbol) < m->n;
}

/* The last mark takes the place of one that goes: marks have no order. */
int marks_toggle(struct marks *m, const char *object, const char *symbol)
{
	size_t at = marks_find(m, object, symbol);
	struct mark new;

	if (at < m->n) {
		free(m->mark[at].object);
		free(m->mark[at].symbol);
		m->mark[at] = m->mark[--m->n];
		return 0;
	}
	if (ARRAY_ROOM(&m->mark, &m->capacity, m->n + 1) < 0)
		return -ENOMEM;
	new.object = strdup(object);
	new.symbol = strdup(symbol);
	if (!new.object || !new.symbol) {
		free(new.object);
		free(new.symbol);
		return -ENOMEM;
	}
	m->mark[m->n++] = new;
	return 0;
}

void marks_free(struct marks *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->mark[i].object);
		free(m->mark[i].symbol);
	}
	free(m->mark);
}
