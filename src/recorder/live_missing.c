// SPDX-License-Identifier: MIT
/* live_missing.c: see live_missing.h. What could not be unwound for want of a table, by object and
 * reason, for the account at the end. Programs decide how many objects there are, so that the list
 * is bounded; it is searched from its beginning, because it is short. */
#include "recorder/live_missing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Without an object the reason alone is compared. */
static bool live_missing_same(const struct unwound_missing *a, const struct unwound_missing *b)
{
	if (!a->object != !b->object || strcmp(a->reason, b->reason) != 0)
		return false;
	return !a->object || !strcmp(a->object->path, b->object->path);
}

static const char *live_missing_text(struct live_missing *to, const char *text)
{
	return arena_string(&to->names, text, strlen(text));
}

/* Adds an entry with texts of its own, because the tables that it points into will be freed.
 * -ENOMEM. */
static int live_missing_copy(struct live_missing *to, const struct unwound_missing *m)
{
	struct unwound_missing copy = { .samples = m->samples,
		                        .reason = live_missing_text(to, m->reason) };

	if (!copy.reason)
		return -ENOMEM;
	if (m->object) {
		struct proc_object *object = arena_copy(&to->names, m->object, sizeof(*object));

		if (!object)
			return -ENOMEM;
		object->path = live_missing_text(to, m->object->path);
		if (!object->path)
			return -ENOMEM;
		copy.object = object;
	}
	return buf_put(&to->entries, &copy, sizeof(copy));
}

/* Adds the samples of one place. Beyond LIVE_MISSING_MAX places they count as "in other places".
 * -ENOMEM. */
static int live_missing_add_one(struct live_missing *to, struct unwound_missing m)
{
	size_t n = to->entries.n / sizeof(m);

	/* The second turn is for what finds no place: it joins those "in other places". */
	for (int beyond = 0; beyond < 2; beyond++) {
		struct unwound_missing *have = (struct unwound_missing *)(void *)to->entries.bytes;

		for (size_t i = 0; i < n; i++) {
			if (live_missing_same(&have[i], &m)) {
				have[i].samples += m.samples;
				return 0;
			}
		}
		if (n < LIVE_MISSING_MAX)
			break;
		m.object = NULL;
		m.reason = "in other places";
	}
	return live_missing_copy(to, &m);
}

int live_missing_add(struct live_missing *to, const struct unwound_missing *m, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++)
		r = live_missing_add_one(to, m[i]);
	return r;
}

/* The most samples first. */
static int live_missing_order(const void *a, const void *b)
{
	const struct unwound_missing *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return strcmp(x->reason, y->reason);
}

void live_missing_sort(struct live_missing *missing)
{
	size_t n = missing->entries.n / sizeof(struct unwound_missing);

	if (n)
		qsort(missing->entries.bytes, n, sizeof(struct unwound_missing),
		      live_missing_order);
}

void live_missing_free(struct live_missing *missing)
{
	buf_free(&missing->entries);
	arena_free(&missing->names);
}
