/* SPDX-License-Identifier: MIT */
/*
 * sorted.h: a list of nodes (blocks.h) that does not grow any more, sorted so that stacks with the
 * same callers stand together: a node comes right behind its parent or behind what an elder brother
 * called. Then its parent is told by how many steps up it is, mostly 0 or 1, and a block packs to
 * half the bytes. A block can be read without those in front of it: it begins with the path to the
 * node in front.
 *
 * A block: how long the path is, and its nodes, each as the distance from the one before; for each
 * node the steps up from the node in front of it to its parent; then for each its frame's place
 * among what its caller calls (callees.h), and behind all the frames that got a new place, 0 where
 * stacks were folded. Callers in front of the block are all taken for one.
 *
 * In stores of version 3 each node had its frame in place of that. A block of version 4 begins with
 * 0 and 1: such a one never did, as where there is no path its first node has no parent.
 */
#ifndef SEAM_STORE_SORTED_H
#define SEAM_STORE_SORTED_H

#include "store/stacks/blocks.h"

/* Nodes of a block: few enough that a small question does not unpack too many. */
#define SORTED_BLOCK 65536u

/* nodes[1 to n], a parent in front of its children. number[id] becomes the node's number in sorted
 * order, number[0] 0. -ENOMEM. */
int sorted_numbers(uint32_t *number, const struct blocks_node *nodes, uint32_t n);

/* Appends nodes[first to first + n - 1] of a sorted list. -ENOMEM. */
int sorted_put(struct buf *plain, const struct blocks_node *nodes, uint32_t first, uint32_t n);
/* Reads them again into to[0 to n - 1]. Nothing in the bytes is trusted. -EBADMSG, -ENOMEM. */
int sorted_read(struct cursor *c, uint32_t first, uint32_t n, struct blocks_node *to);

#endif
