/* SPDX-License-Identifier: MIT */
/* summing.h: sums by frame as they are made (summed.h): of stacks, or of shorter parts. */
#ifndef SEAM_STORE_SUMMING_H
#define SEAM_STORE_SUMMING_H

#include "base/map.h"
#include "base/pool.h"
#include "profile/flat.h"
#include "store/parts/summed.h"
#include "store/stacks/joined.h"

/* Zero-initialise; summing_free. */
struct summing {
	struct pool heads; /* of summing_key */
	/* group << 32 | place (and says << 24) -> index, + 1 */
	struct map tops, selfs, nameless, totals;
	struct summed_top *all_tops; /* in the order they were met */
	struct summed_self *all_selfs;
	struct summed_nameless *all_nameless;
	struct summed_total *all_totals;
	size_t n_tops, n_selfs, n_nameless, n_totals;
	size_t tops_room, selfs_room, nameless_room, totals_room;
};

/* The number of a group. POOL_FAILED. */
uint32_t summing_group(struct summing *s, const struct summed_head *head);
/* What is added to; it lives until the next of its kind. NULL: out of memory. */
uint64_t *summing_top(struct summing *s, uint32_t group, uint32_t place, uint32_t says);
struct summed_value *summing_self(struct summing *s, uint32_t group, uint32_t place);
uint64_t *summing_nameless(struct summing *s, uint32_t group, uint32_t place);
struct summed_total *summing_total(struct summing *s, uint32_t group, uint32_t place);
/* Adds a part of the same lists of names. -ENOMEM; -EBADMSG: it makes no sense. */
int summing_add(struct summing *s, const struct summed *part);
/* All as bytes. Nothing can be added any more. -ENOMEM. */
int summing_pack(struct summing *s, struct buf *packed, enum blocks_level level);
void summing_free(struct summing *s);

static inline void summed_add(struct summed_value *to, const struct summed_value *v)
{
	to->samples += v->samples;
	to->weight += v->weight;
}

/* What is added of stacks: lists of the same names, which lose what they have. */
struct summing_stacks {
	const struct flat *how; /* its `frame` and ctx say what frames are */
	struct profile *p;      /* in which frames are made to be asked for */
	struct lookup *names;   /* loaded (lookup_load) */
	struct joined *lists;
	size_t n;
	const struct summed_head *heads; /* by the lists' groups, from 1 on */
};

/* -ENOMEM; -EBADMSG: a list is in no order in which stacks can be told. */
int summing_add_stacks(struct summing *s, const struct summing_stacks *of);

/* What is added of a profile that has its stacks. */
struct summing_profile {
	const struct flat *how;
	const struct profile *p;
	const uint32_t *frames;          /* by the profile's number: that of the lists of names */
	const struct summed_head *heads; /* by row */
};

/* -ENOMEM. */
int summing_add_profile(struct summing *s, const struct summing_profile *of);

#endif
