// SPDX-License-Identifier: MIT
// marks.c: see marks.h. A person marks a few; they are looked for one by one.
#include "view/marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char *marks_object(const struct profile *p, uint32_t object)
{
	return object ? profile_text(p, profile_object_at(p, object)->path) : "";
}

static const char *marks_symbol(const struct profile *p, uint32_t symbol)
{
	return symbol ? profile_text(p, symbol) : "";
}

/* Whether a mark is of this object. Where one of both tells no objects apart, "", any is. */
static bool marks_of(const struct mark *mark, const char *path, const char *name)
{
	return !strcmp(mark->object, path) || (*name && (!*mark->object || !*path));
}

/* The place of a function's mark; m->n: it has none. */
static size_t marks_find(const struct marks *m, const struct profile *p, uint32_t object,
                         uint32_t symbol)
{
	const char *path = marks_object(p, object), *name = marks_symbol(p, symbol);
	size_t i = 0;

	while (i < m->n && (strcmp(m->mark[i].symbol, name) || !marks_of(&m->mark[i], path, name)))
		i++;
	return i;
}

bool marks_has(const struct marks *m, const struct profile *p, uint32_t object, uint32_t symbol)
{
	return m->n && marks_find(m, p, object, symbol) < m->n;
}

/* The last mark takes the place of one that goes: marks have no order. */
int marks_toggle(struct marks *m, const struct profile *p, uint32_t object, uint32_t symbol)
{
	size_t at = marks_find(m, p, object, symbol);
	struct mark new;

	if (at < m->n) {
		free(m->mark[at].object);
		free(m->mark[at].symbol);
		m->mark[at] = m->mark[--m->n];
		return 0;
	}
	if (ARRAY_ROOM(&m->mark, &m->capacity, m->n + 1) < 0)
		return -ENOMEM;
	new.object = strdup(marks_object(p, object));
	new.symbol = strdup(marks_symbol(p, symbol));
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
