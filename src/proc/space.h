/* SPDX-License-Identifier: MIT */
/*
 * space.h: address spaces as persistent trees of disjoint ranges.
 *
 * A space is the index of its root; 0 is the empty one. An edit copies only the path to what it
 * changes, so every earlier root keeps what it held: history costs O(log n) nodes per edit, and a
 * fork costs nothing. Nodes made under the same stamp are changed in place, for edits between which
 * nobody looks.
 *
 * Where spaces are shared (space_share), each distinct node is there once, and equal spaces have
 * one number, whatever edits led to them.
 */
#ifndef SEAM_PROC_SPACE_H
#define SEAM_PROC_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPACE_EMPTY 0u
#define SPACE_NONE UINT32_MAX

struct space_node {
	uint64_t start, end; /* [start, end), disjoint from all others of the tree */
	uint32_t value;
	uint32_t left, right;
	uint32_t stamp;
};

struct space_pool {
	struct space_node *nodes; /* [0] stands for "no node" */
	uint32_t n;
	size_t capacity;
	uint64_t seed; /* of the shape; not of any result */
	int failed;    /* out of memory; sticks */
	/* Of shared nodes: their numbers by what they hold, open addressing; 0: free. */
	uint32_t *shared;
	size_t shared_capacity;
	uint32_t n_shared;
	struct space_node *fresh; /* room for those that are new */
	size_t fresh_capacity;
};

int space_init(struct space_pool *pool, uint64_t seed);
void space_destroy(struct space_pool *pool);
/* *root with [start, end) removed and, unless value is SPACE_NONE, mapped to value. start < end.
 * -ENOMEM: the pool is not to be used any more. */
int space_put(struct space_pool *pool, uint32_t *root, uint32_t stamp, uint64_t start, uint64_t end,
              uint32_t value);
/*
 * *root: the space of the same ranges among those that were shared before, which it joins if there
 * is none. Nodes from `from` on are of this space alone, and all nodes before are shared; those of
 * them that are not needed are dropped. -ENOMEM: as space_put.
 */
int space_share(struct space_pool *pool, uint32_t *root, uint32_t from);
/* No more spaces will be shared: gives back what finds them. */
void space_share_end(struct space_pool *pool);
/* The node that holds addr, or NULL. */
const struct space_node *space_find(const struct space_pool *pool, uint32_t root, uint64_t addr);
/* Whether is() holds for the value of any of the last `most` ranges, from the highest addresses
 * down. */
bool space_any_of_last(const struct space_pool *pool, uint32_t root, unsigned most,
                       bool (*is)(const void *ctx, uint32_t value), const void *ctx);
/* The lowest node that ends behind addr, or NULL. */
const struct space_node *space_from(const struct space_pool *pool, uint32_t root, uint64_t addr);

#endif
