/* SPDX-License-Identifier: MIT */
/*
 * load_slices.h: slices of time in a table of stacks, which are made longer where there would be
 * too many rows. For load.c and load_count.c only.
 */
#ifndef SEAM_AGGREGATE_LOAD_SLICES_H
#define SEAM_AGGREGATE_LOAD_SLICES_H

#include "aggregate/load.h"
#include "samples/stacks.h"

/* As they are asked for. */
struct profile_slices load_slices_of(const struct recording *rec, const struct load_opts *opts);
/* How many rows one thread's table may have; SIZE_MAX: any. */
size_t load_slices_rows(const struct load_opts *opts);
/* Two slices become one. Nothing may wait in the table (stacks_settle). -ENOMEM. */
int load_slices_double(struct stacks *s, struct profile_slices *slices);
/* The same until the table has at most so many rows, or there is one slice. */
int load_slices_fit(struct stacks *s, struct profile_slices *slices, size_t most);

#endif
