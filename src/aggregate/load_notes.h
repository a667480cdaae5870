/* SPDX-License-Identifier: MIT */
/*
 * load_notes.h: the second pass over entries in place of samples: each gets its verdict from the
 * stitcher, its name and address spaces from proc, and is counted.
 *
 * What holds of a task from one moment to another is looked up once: most samples then cost a
 * verdict and a count.
 */
#ifndef SEAM_AGGREGATE_LOAD_NOTES_H
#define SEAM_AGGREGATE_LOAD_NOTES_H

#include "aggregate/load.h"
#include "aggregate/load_walk_result.h"
#include "samples/sample_index.h"

/* Where a sample belongs in a table. */
void load_key(struct stacks_key *ret, const struct recording *rec, const struct load_opts *opts,
              const struct seam_id *id, const char *comm, uint32_t event);

/* Counts all entries of a recording into their stacks. -ENOMEM. */
int load_notes(struct sample_index *index, const struct recording *rec,
               const struct load_opts *opts, struct load_walk_result *result,
               struct seam_stitch_counts *counts);

#endif
