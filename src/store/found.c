// SPDX-License-Identifier: MIT
// found.c: see found.h, and store.h: store_found_free, store_found_count.
#include "store/found.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The state of this name, put behind the others if it is not among them. PROFILE_FAILED: there are
 * too many. */
uint32_t found_state(struct profile *p, const char *name)
{
	uint32_t n = (uint32_t)profile_n_states(p);
	const struct profile_state state = { .name = name, .text = name };

	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(profile_state_at(p, i)->name, name))
			return i;
	return n < PROFILE_STATES_MAX && profile_set_state(p, n, &state) >= 0 ? n : PROFILE_FAILED;
}

/* Adds to a count of the answer, by its name. */
int found_add_count(struct store_found *f, const char *name, uint64_t value)
{
	struct store_count *more;

	for (size_t i = 0; i < f->n_counts; i++)
		if (!strcmp(f->counts[i].name, name)) {
			f->counts[i].value += value;
			return 0;
		}
	/* One by one: there are some dozens of names. */
	more = realloc(f->counts, (f->n_counts + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	f->counts = more;
	/* It counts as there only when it has its name, so what is freed later is sound. */
	more[f->n_counts] = (struct store_count){ strdup(name), value };
	return more[f->n_counts].name ? (int)(++f->n_counts, 0) : -ENOMEM;
}

void store_found_free(struct store_found *f)
{
	for (size_t i = 0; i < f->n_counts; i++)
		free((void *)f->counts[i].name);
	free(f->counts);
	*f = (struct store_found){ 0 };
}

/* 0: the answer has no such count. */
uint64_t store_found_count(const struct store_found *f, const char *name)
{
	for (size_t i = 0; i < f->n_counts; i++)
		if (!strcmp(f->counts[i].name, name))
			return f->counts[i].value;
	return 0;
}
