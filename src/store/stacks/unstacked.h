/* SPDX-License-Identifier: MIT */
/* unstacked.h: lists of nodes as sums by frame (profile/flat.h): for answers that show no stacks,
 * which then are never made. Each node is looked at twice, and nothing is searched. */
#ifndef SEAM_STORE_UNSTACKED_H
#define SEAM_STORE_UNSTACKED_H

#include "profile/flat.h"
#include "store/stacks/joined.h"

/* The groups of the lists' counts, as rows of the profile have them; key.node means nothing. */
struct unstacked_groups {
	const struct profile_key *keys; /* by group, from 1 on */
	uint32_t n;
};

/* Adds n lists of the same names, which lose what they have: their own samples to the profile's
 * rows, all else to its sums. Names are loaded (lookup_load). *folded: samples of stacks that were
 * folded are added to it. -ENOMEM; -EBADMSG: a list is in no order in which stacks can be told. */
int unstacked_add(struct flat *to, struct profile *p, struct lookup *l, struct joined *lists,
                  size_t n, const struct unstacked_groups *groups, uint64_t *folded);

#endif
