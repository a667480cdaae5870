/* SPDX-License-Identifier: MIT */
/*
 * load_rows.h: rows on their way to the profile: entries that come one after the other with one key
 * and at one node are added as one. For load_build.c only.
 */
#ifndef SEAM_AGGREGATE_LOAD_ROWS_H
#define SEAM_AGGREGATE_LOAD_ROWS_H

#include "profile/profile.h"
#include "samples/stacks.h"

/* The last row of a key. */
struct load_row {
	uint32_t id;            /* of the key; 0: it was not met */
	struct profile_key key; /* what the profile has of it, and the node */
	uint64_t samples, weight;
};

struct load_rows;

/* Of one table of stacks. NULL: out of memory. free() it. */
struct load_rows *load_rows_new(struct profile *p);
/* The row of a key. Its id is 0 where the row was another key's, or nobody's: then the caller fills
 * its key. NULL: out of memory. */
struct load_row *load_row(struct load_rows *rows, uint32_t id);
/* Adds what an entry counted at a node to the row of its key. -ENOMEM. */
int load_rows_add(struct load_rows *rows, struct load_row *row, const struct stacks_entry *e,
                  uint32_t node);
/* Adds what waits to the profile; call it at the end. -ENOMEM. */
int load_rows_flush(struct load_rows *rows);

#endif
