/* SPDX-License-Identifier: MIT */
/* inside.h: what a profile is made of, for profile.c, and for events.c, which numbers its events
 * anew. */
#ifndef SEAM_PROFILE_INSIDE_H
#define SEAM_PROFILE_INSIDE_H

#include "base/intern.h"
#include "base/pool.h"
#include "base/trie.h"
#include "profile/origin.h"
#include "profile/profile.h"

struct profile {
	unsigned keep;
	bool chosen; /* what is not rows, sums and samples is another's */
	struct intern strings, events, objects, tasks;
	struct pool frames;
	struct trie nodes;
	struct profile_row *rows;
	/* All fields together have the struct's size only if nothing stands between them. */
	size_t n_rows, rows_capacity;
	uint64_t *row_index; /* half of the key's hash, row + 1 below; 0 is free */
	size_t row_index_capacity;
	size_t n_indexed; /* the first rows, which are in it; others when one is looked up */
	uint64_t secret;  /* of this process: where a row goes */
	/* By event: the sums of its rows, by their state. */
	struct profile_sums {
		struct profile_sum {
			uint64_t samples, weight;
			uint64_t no_stack;       /* samples */
		} state[PROFILE_STATES_MAX + 1]; /* the last one: of states beyond these */
	} * sums;
	size_t sums_capacity;
	struct profile_sample *samples;
	size_t n_samples, samples_capacity;
	struct profile_state states[PROFILE_STATES_MAX]; /* strings of the pool */
	size_t n_states;
	struct profile_counts counts;
	struct profile_slices slices;
	struct origin origin;
	_Atomic(void *) segments; /* kept.h */
};

#endif
