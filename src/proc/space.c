// SPDX-License-Identifier: MIT
/*
 * space.c: see space.h. A treap: ordered by start, shaped by a hash of start and a seed that the
 * writer of a file cannot know, so that no file can make it deep. Cutting and joining recurse to
 * the depth of the tree.
 *
 * Nodes are never changed but under the stamp by which they were made: a tree that somebody holds
 * stays what it is. Node 0 is "none", so that numbers serve as pointers.
 */
#include "proc/space.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"

int space_init(struct space_pool *pool, uint64_t seed)
{
	*pool = (struct space_pool){ .capacity = 64, .seed = seed, .n = 1 };
	pool->nodes = calloc(pool->capacity, sizeof(*pool->nodes));
	return pool->nodes ? 0 : -ENOMEM;
}

void space_destroy(struct space_pool *pool)
{
	free(pool->nodes);
	*pool = (struct space_pool){ 0 };
}

/* Adds a copy of a node to the pool; 0: out of memory, or of numbers, and pool->failed is set.
 * Nodes may move in memory, so callers keep numbers. */
static uint32_t space_new(struct space_pool *pool, const struct space_node *from, uint32_t stamp)
{
	struct space_node node = *from; /* from may lie in the array that moves */

	if (pool->n == UINT32_MAX ||
	    ARRAY_ROOM(&pool->nodes, &pool->capacity, (size_t)pool->n + 1) < 0) {
		pool->failed = 1;
		return 0;
	}
	node.stamp = stamp;
	pool->nodes[pool->n] = node;
	return pool->n++;
}

/* The node itself if it was made under this stamp, else a copy that may be changed. */
static uint32_t space_own(struct space_pool *pool, uint32_t i, uint32_t stamp)
{
	return pool->nodes[i].stamp == stamp ? i : space_new(pool, &pool->nodes[i], stamp);
}

/* The priority of a node in the treap: larger is nearer to the root. */
static uint64_t space_weight(const struct space_pool *pool, uint32_t i)
{
	return map_mix(pool->nodes[i].start ^ pool->seed);
}

/* Nodes that start before key go to *left, the others to *right. */
static void space_split(struct space_pool *pool, uint32_t root, uint64_t key, uint32_t stamp,
                        uint32_t *left, uint32_t *right)
{
	uint32_t inner;

	if (!root) {
		*left = *right = 0;
		return;
	}
	root = space_own(pool, root, stamp);
	if (!root) { /* out of memory: the result is thrown away */
		*left = *right = 0;
		return;
	}
	if (pool->nodes[root].start < key) {
		space_split(pool, pool->nodes[root].right, key, stamp, &inner, right);
		pool->nodes[root].right = inner;
		*left = root;
	} else {
		space_split(pool, pool->nodes[root].left, key, stamp, left, &inner);
		pool->nodes[root].left = inner;
		*right = root;
	}
}

/* All of left is before all of right. */
static uint32_t space_join(struct space_pool *pool, uint32_t left, uint32_t right, uint32_t stamp)
{
	uint32_t root, inner;

	if (!left || !right)
		return left ? left : right;
	if (space_weight(pool, left) > space_weight(pool, right)) {
		root = space_own(pool, left, stamp);
		inner = space_join(pool, pool->nodes[root].right, right, stamp);
		pool->nodes[root].right = inner;
	} else {
		root = space_own(pool, right, stamp);
		inner = space_join(pool, left, pool->nodes[root].left, stamp);
		pool->nodes[root].left = inner;
	}
	return root;
}

/* The rightmost node; NULL: the tree is empty. */
static const struct space_node *space_last(const struct space_pool *pool, uint32_t root)
{
	while (root && pool->nodes[root].right)
		root = pool->nodes[root].right;
	return root ? &pool->nodes[root] : NULL;
}

/* The last range of the tree shall end at `end`. */
static uint32_t space_cut_last(struct space_pool *pool, uint32_t root, uint64_t end, uint32_t stamp)
{
	uint32_t top = root = space_own(pool, root, stamp), next;

	while (root && pool->nodes[root].right) {
		next = space_own(pool, pool->nodes[root].right, stamp);
		pool->nodes[root].right = next;
		root = next;
	}
	if (root)
		pool->nodes[root].end = end;
	return top;
}

/* Cuts the tree into what lies in front of the range, in it and behind it, and joins the new range
 * in between. Trees that share nodes with this one do not change, because nodes of another stamp
 * are copied. */
int space_put(struct space_pool *pool, uint32_t *root, uint32_t stamp, uint64_t start, uint64_t end,
              uint32_t value)
{
	struct space_node fresh = { .start = start, .end = end, .value = value }, rest = { 0 };
	const struct space_node *last;
	uint32_t left, covered, right;

	space_split(pool, *root, start, stamp, &left, &right);
	space_split(pool, right, end, stamp, &covered, &right);
	/* What reached beyond `end` is the last range of what is covered, or else the one
	 * before. */
	last = space_last(pool, covered ? covered : left);
	if (last && last->end > end)
		rest = (struct space_node){ .start = end, .end = last->end, .value = last->value };
	last = space_last(pool, left);
	if (last && last->end > start)
		left = space_cut_last(pool, left, start, stamp);
	if (value != SPACE_NONE)
		left = space_join(pool, left, space_new(pool, &fresh, stamp), stamp);
	if (rest.end)
		left = space_join(pool, left, space_new(pool, &rest, stamp), stamp);
	left = space_join(pool, left, right, stamp);
	if (pool->failed)
		return -ENOMEM;
	*root = left;
	return 0;
}

const struct space_node *space_find(const struct space_pool *pool, uint32_t root, uint64_t addr)
{
	while (root) {
		const struct space_node *node = &pool->nodes[root];

		if (addr < node->start)
			root = node->left;
		else if (addr >= node->end)
			root = node->right;
		else
			return node;
	}
	return NULL;
}

/* space_any_of_last, with *most counting down. Recurses to the depth of the tree. */
static bool space_any(const struct space_pool *pool, uint32_t root, unsigned *most,
                      bool (*is)(const void *ctx, uint32_t value), const void *ctx)
{
	for (; root && *most; root = pool->nodes[root].left) {
		if (space_any(pool, pool->nodes[root].right, most, is, ctx))
			return true;
		if (*most && is(ctx, pool->nodes[root].value))
			return true;
		*most -= *most > 0;
	}
	return false;
}

bool space_any_of_last(const struct space_pool *pool, uint32_t root, unsigned most,
                       bool (*is)(const void *ctx, uint32_t value), const void *ctx)
{
	return space_any(pool, root, &most, is, ctx);
}

/* The first range that ends above the address. */
const struct space_node *space_from(const struct space_pool *pool, uint32_t root, uint64_t addr)
{
	const struct space_node *found = NULL;

	while (root) {
		const struct space_node *node = &pool->nodes[root];

		if (addr >= node->end) {
			root = node->right;
		} else {
			found = node;
			root = node->left;
		}
	}
	return found;
}
