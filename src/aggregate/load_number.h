/* SPDX-License-Identifier: MIT */
/*
 * load_number.h: the numbers of a sample that a profile keeps where it is asked to
 * (profile/columns.def), on their way through the table of stacks, which does not know what they
 * are.
 */
#ifndef SEAM_AGGREGATE_LOAD_NUMBER_H
#define SEAM_AGGREGATE_LOAD_NUMBER_H

#include "aggregate/load.h"
#include "samples/stacks.h"

/* The index of each in stacks_key.number. */
enum load_number {
#define NUMBER(bit, id, name) LOAD_NUMBER_##id,
#include "profile/columns.def"
	LOAD_NUMBERS,
};
_Static_assert(LOAD_NUMBERS <= STACKS_NUMBERS, "columns.def: STACKS_NUMBERS of samples/stacks.h");

/* Fills STACKS_NUMBERS of them; those that the profile does not keep are PROFILE_NOT_KEPT. */
void load_numbers(uint32_t *ret, const struct profile_slices *slices, unsigned keep,
                  const struct seam_id *id);

#endif
