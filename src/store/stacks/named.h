/* SPDX-License-Identifier: MIT */
/* named.h: the frames of one function among the names of an epoch, and a list of stacks as whether
 * that function is on them: for answers that show nothing else. */
#ifndef SEAM_STORE_NAMED_H
#define SEAM_STORE_NAMED_H

#include "base/sums.h"
#include "store/stacks/lookup.h"

/* Zero-initialise; named_free. */
struct named {
	unsigned char *frames; /* by frame: whether it is the function's */
	uint32_t n;            /* frames */
	uint32_t one, other;   /* the first that is, and the first that is not; 0: none */
	bool folded;           /* what was folded is */
};

/* Reads all names. -EBADMSG, -ENOMEM. */
int named_find(struct named *ret, const struct lookup *l, const char *function);
void named_free(struct named *f);

/* Makes two nodes of a list that is loaded, and of the counts theirs: one for stacks whose
 * innermost frame is the function's, and one below it for those that have it further out. Others
 * are of no stack then. -ENOMEM; -EBADMSG: a count is of no node. */
int named_take(const struct named *f, struct lookup *l, struct lookup_stacks *s, struct sums *sums);

#endif
