/* SPDX-License-Identifier: MIT */
/* unstacked.h: lists of nodes as sums by frame (profile/flat.h): for answers that show no stacks,
 * which then are never made. Each node is looked at twice, and nothing is searched. */
#ifndef SEAM_STORE_UNSTACKED_H
#define SEAM_STORE_UNSTACKED_H

#include "profile/flat.h"
#include "store/parts/summed.h"
#include "store/stacks/joined.h"

/* The groups of the lists' counts, as rows of the profile have them; key.node means nothing. */
struct unstacked_groups {
	const struct profile_key *keys; /* by group, from 1 on */
	uint32_t n;
};

/* What is added: lists and parts of the same names, whose groups are these. */
struct unstacked_from {
	struct joined *lists;
	size_t n;
	struct summed *parts;
	size_t n_parts;
	struct unstacked_groups groups;
};

/* Adds lists, which lose what they have, and parts: their own samples to the profile's rows, all
 * else to its sums. Names are loaded (lookup_load). *folded: samples of stacks that were folded are
 * added to it. -ENOMEM; -EBADMSG: a list is in no order in which stacks can be told. */
int unstacked_add(struct flat *to, struct profile *p, struct lookup *l,
                  const struct unstacked_from *from, uint64_t *folded);
/* Whether parts have what a table of these columns shows (1u << enum rollup_column); *way: as which
 * of their sums, where it shows any. */
bool unstacked_way(unsigned columns, enum summed_way *way);
/* Whether such a table tells frames apart. Where it does not, parts need no frames, and the profile
 * has rows without any. */
bool unstacked_tells_frames(unsigned columns);

#endif
