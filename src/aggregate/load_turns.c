// SPDX-License-Identifier: MIT
/* load_turns.c: see load_turns.h. */
#include "aggregate/load_turns.h"

#include <stdlib.h>

#include "base/radix.h"

/* The place that an entry hit; UINT64_MAX: it is known of its own address space alone. */
static uint64_t load_turn_place(const struct load_table *t, const struct stacks_entry *e)
{
	return stacks_key(t->stacks, e)->user_space == LOAD_ALIKE && !e->same.user
	               ? load_alike_hit_place(t->alike, e->same.hit)
	               : UINT64_MAX;
}

struct load_turn *load_turns(const struct load_table *t)
{
	const size_t n = t->stacks->n;
	struct load_turn *turns = malloc((n + 1) * sizeof(*turns));

	for (size_t i = 0; i < n && turns; i++)
		turns[i] = (struct load_turn){ .place = load_turn_place(t, &t->stacks->entries[i]),
			                       .entry = i };
	if (turns && !radix_sort(turns, n, sizeof(*turns))) {
		free(turns);
		return NULL;
	}
	return turns;
}
