// SPDX-License-Identifier: MIT
// load_slices.c: see load_slices.h.
#include "aggregate/load_slices.h"

#include "aggregate/load_number.h"
#include "base/cpus.h"

struct profile_slices load_slices_of(const struct recording *rec, const struct load_opts *opts)
{
	if (!(opts->keep & PROFILE_KEEP_SLICE) || !opts->slice_ns)
		return (struct profile_slices){ 0 };
	return (struct profile_slices){ .quantum_ns = opts->slice_ns,
		                        .first = rec->first_ns / opts->slice_ns };
}

size_t load_slices_rows(const struct load_opts *opts)
{
	unsigned threads = cpus_for(opts->threads);

	if (!(opts->keep & PROFILE_KEEP_SLICE) || !opts->slice_ns || !opts->rows_most)
		return SIZE_MAX;
	return opts->rows_most / (threads < SAMPLES_THREADS_MAX ? threads : SAMPLES_THREADS_MAX);
}

/* A slice of the table begins where one of twice the length does, or in its middle. */
static void load_slices_change(void *first, struct stacks_key *key)
{
	uint32_t *slice = &key->number[LOAD_NUMBER_SLICE];

	if (*slice != PROFILE_NOT_KEPT)
		*slice = (uint32_t)(((uint64_t)*slice + *(const uint64_t *)first % 2) / 2);
}

int load_slices_double(struct stacks *s, struct profile_slices *slices)
{
	uint64_t first = slices->first;

	slices->quantum_ns *= 2;
	slices->first /= 2;
	return stacks_change_keys(s, load_slices_change, &first);
}

static bool load_slices_is_one(const struct stacks *s)
{
	uint32_t slice;

	for (uint32_t id = 1; id <= s->keys.n; id++) {
		slice = ((const struct stacks_key *)pool_at(&s->keys, id))
		                ->number[LOAD_NUMBER_SLICE];
		if (slice && slice != PROFILE_NOT_KEPT)
			return false;
	}
	return true;
}

int load_slices_fit(struct stacks *s, struct profile_slices *slices, size_t most)
{
	int r = 0;

	while (r >= 0 && s->n > most && slices->quantum_ns <= UINT64_MAX / 2 &&
	       !load_slices_is_one(s))
		r = load_slices_double(s, slices);
	return r;
}
