/* SPDX-License-Identifier: MIT */
/* innermost.h: a list of stacks as their innermost frames alone, for answers that show no caller.
 * Such a list has as many nodes as there are functions that samples hit. */
#ifndef SEAM_STORE_INNERMOST_H
#define SEAM_STORE_INNERMOST_H

#include "base/sums.h"
#include "store/stacks/lookup.h"

/* Of a list that is loaded, and the counts of its nodes. It is sorted (sorted.h) then. -ENOMEM;
 * -EBADMSG: a count is of no node. */
int innermost_take(struct lookup_stacks *s, struct sums *sums);

#endif
