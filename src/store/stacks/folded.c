// SPDX-License-Identifier: MIT
// folded.c: see folded.h. What is folded is found by how many nodes have one sample, two, three;
// what was met more often than the last of these stays, however much there is of it.
#include "store/stacks/folded.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/map.h"
#include "store/stacks/blocks.h"

/* Which nodes are folded: those with fewer samples, and so many of 2^32 of those with as many. */
struct folded_rare {
	uint32_t samples;
	uint64_t part;
};

/* Finds what must be folded so that as many nodes are left as fit. What was folded before counts
 * for none: else it would make more be folded each time. False: all fit. */
static bool folded_find(const struct pool *tree, const uint32_t *samples, uint32_t most,
                        struct folded_rare *ret)
{
	uint32_t with[256] = { 0 }, left = 0, least = 0;

	for (uint32_t id = 1; id <= tree->n; id++) {
		const struct blocks_node *node = pool_at(tree, id);

		if (node->frame == BLOCKS_FOLDED)
			continue;
		with[samples[id] < 255 ? samples[id] : 255]++;
		left++;
	}
	if (left <= most)
		return false;
	for (; least < 254 && left - with[least] > most; least++)
		left -= with[least];
	ret->samples = least;
	ret->part = left - most < with[least] ? ((uint64_t)(left - most) << 32) / with[least]
	                                      : (uint64_t)1 << 32;
	return true;
}

/* Whether a node is folded, whose caller is not. A stack's last functions were mostly met as often
 * as each other: the outermost of these decides for all. */
static bool folded_is_rare(const struct pool *tree, const uint32_t *samples,
                           const struct folded_rare *rare, uint32_t id)
{
	const struct blocks_node *node = pool_at(tree, id);
	const uint32_t met = samples[id];

	if (met != rare->samples || samples[node->parent] == met)
		return met < rare->samples;
	return map_hash_bytes(&id, sizeof(id), 0) >> 32 < rare->part;
}

/* Each node has the samples of those below it, too. */
static void folded_add_up(const struct pool *tree, uint32_t *samples)
{
	for (uint32_t id = tree->n; id; id--) {
		const struct blocks_node *node = pool_at(tree, id);

		folded_add(&samples[node->parent], samples[id]);
	}
}

/* Makes the tree anew: parents come first, and below one that is folded there is nothing. */
int folded_fold(struct pool *tree, uint32_t *samples, uint32_t most, uint32_t *to)
{
	struct pool made = { .size = sizeof(struct blocks_node) };
	struct folded_rare rare;

	folded_add_up(tree, samples);
	if (!folded_find(tree, samples, most, &rare))
		return 0;
	for (uint32_t id = 1; id <= tree->n; id++) {
		struct blocks_node node = *(const struct blocks_node *)pool_at(tree, id);
		const struct blocks_node *up;

		node.parent = to[node.parent];
		up = node.parent ? pool_at(&made, node.parent) : NULL;
		if (up && up->frame == BLOCKS_FOLDED) {
			to[id] = node.parent;
			continue;
		}
		if (folded_is_rare(tree, samples, &rare, id))
			node.frame = BLOCKS_FOLDED;
		to[id] = pool_put(&made, &node);
		if (to[id] == POOL_FAILED) {
			pool_free(&made);
			return -ENOMEM;
		}
	}
	pool_free(tree);
	*tree = made;
	return 1;
}
