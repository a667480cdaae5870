// SPDX-License-Identifier: MIT
// load_number.c: see load_number.h. There is a function load_number_<name> for each number of
// profile/columns.def: what the sample has of it, or PROFILE_NOT_KEPT.
#include "aggregate/load_number.h"

static uint32_t load_number_cpu(const struct profile_slices *slices, const struct seam_id *id)
{
	(void)slices;
	return id->has & SEAM_SAMPLE_CPU ? id->cpu : PROFILE_NOT_KEPT;
}

/* The number of the slice of time, counted from the first sample. */
static uint32_t load_number_slice(const struct profile_slices *slices, const struct seam_id *id)
{
	uint64_t slice;

	if (!slices->quantum_ns || !(id->has & SEAM_SAMPLE_TIME))
		return PROFILE_NOT_KEPT;
	slice = id->time_ns / slices->quantum_ns - slices->first;
	return slice < PROFILE_NOT_KEPT ? (uint32_t)slice : PROFILE_NOT_KEPT;
}

/* It is not in the sample's id: load.c asks load_cgroup.h. */
static uint32_t load_number_cgroup(const struct profile_slices *slices, const struct seam_id *id)
{
	(void)slices;
	(void)id;
	return PROFILE_NOT_KEPT;
}

/* Nor are labels of who was served: load_count.c puts their set in. */
#define LOAD_NUMBER_OF_SET(name)                                                \
	static uint32_t load_number_##name(const struct profile_slices *slices, \
	                                   const struct seam_id *id)            \
	{                                                                       \
		(void)slices;                                                   \
		(void)id;                                                       \
		return PROFILE_NOT_KEPT;                                        \
	}
LOAD_NUMBER_OF_SET(label)
LOAD_NUMBER_OF_SET(trace)
LOAD_NUMBER_OF_SET(span)
LOAD_NUMBER_OF_SET(context)

/* Fills ret with what a sample has of each number that the profile keeps; all others are
 * PROFILE_NOT_KEPT. */
void load_numbers(uint32_t *ret, const struct profile_slices *slices, unsigned keep,
                  const struct seam_id *id)
{
	for (size_t i = 0; i < STACKS_NUMBERS; i++)
		ret[i] = PROFILE_NOT_KEPT;
#define NUMBER(bit, number, name)         \
	if (keep & PROFILE_KEEP_##number) \
		ret[LOAD_NUMBER_##number] = load_number_##name(slices, id);
#include "profile/columns.def"
}
