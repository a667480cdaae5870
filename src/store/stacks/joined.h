/* SPDX-License-Identifier: MIT */
/*
 * joined.h: the nodes of several lists as those of one, with what was counted of them. The lists'
 * frames have the same names, and their nodes are sorted (sorted.h): so lists become one in a
 * walk from front to back, in which nothing is searched.
 */
#ifndef SEAM_STORE_JOINED_H
#define SEAM_STORE_JOINED_H

#include "base/sums.h"
#include "store/stacks/lookup.h"

/* Zero-initialise; joined_free. */
struct joined {
	struct blocks_node *nodes; /* by id, sorted */
	uint32_t n;
	struct sums sums; /* by group, then by node; each once */
};

/* What was needed of a list that is loaded, with the counts of its nodes; both are empty then, and
 * the counts keep their room for those of another list. -ENOMEM; -EBADMSG: a count is of no
 * node. */
int joined_take(struct joined *ret, struct lookup_stacks *s, struct sums *sums);
/* Makes one list of n, the first one; the others are empty then. -ENOMEM, -EBADMSG: they are sound,
 * and have lost what they had. */
int joined_all(struct joined *lists, size_t n);
void joined_free(struct joined *j);

#endif
