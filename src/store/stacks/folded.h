/* SPDX-License-Identifier: MIT */
/*
 * folded.h: a tree of stacks with fewer nodes: those that were met least lose their innermost
 * functions, for which one node BLOCKS_FOLDED stands below their caller.
 */
#ifndef SEAM_STORE_FOLDED_H
#define SEAM_STORE_FOLDED_H

#include <stdint.h>

#include "base/pool.h"

/* Adds up to what fits: folding is about what is rare. */
static inline void folded_add(uint32_t *to, uint64_t samples)
{
	*to = samples < UINT32_MAX - *to ? *to + (uint32_t)samples : UINT32_MAX;
}

/*
 * Folds of a tree of struct blocks_node as much as is needed so that at most so many nodes are left
 * that are not folded themselves; what was met more than 254 times stays. samples: of each node,
 * with room for node 0; then with all below it. to: zero; then the number of each node in the new
 * tree, or of what it was folded into. 1; 0: all fit, and *to is nothing; -ENOMEM.
 */
int folded_fold(struct pool *tree, uint32_t *samples, uint32_t most, uint32_t *to);

#endif
