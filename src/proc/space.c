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
#include <string.h>

#include "base/array.h"
#include "base/map.h"

int space_init(struct space_pool *pool, uint64_t seed)
{
	*pool = (struct space_pool){ .capacity = 64, .seed = seed, .n = 1 };
	pool->nodes = calloc(pool->capacity, sizeof(*pool->nodes));
	return pool->nodes ? 0 : -ENOMEM;
}

void space_share_end(struct space_pool *pool)
{
	free(pool->shared);
	free(pool->fresh);
	pool->shared = NULL;
	pool->fresh = NULL;
	pool->shared_capacity = pool->fresh_capacity = 0;
}

void space_destroy(struct space_pool *pool)
{
	space_share_end(pool);
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

/* ---- equal spaces ---- */

/* Of what a node holds, its parts by number. */
static uint64_t space_hash(const struct space_pool *pool, const struct space_node *node)
{
	uint64_t range = map_hash_pair(node->start, node->end, pool->seed);
	uint64_t rest = (uint64_t)node->left << 32 | node->right;

	return map_mix(map_hash_pair(range ^ node->value, rest, pool->seed));
}

/* Where among the shared ones the node is, or belongs. */
static size_t space_slot(const struct space_pool *pool, const struct space_node *node)
{
	size_t i = space_hash(pool, node) & (pool->shared_capacity - 1);

	for (; pool->shared[i]; i = (i + 1) & (pool->shared_capacity - 1)) {
		const struct space_node *have = &pool->nodes[pool->shared[i]];

		if (have->start == node->start && have->end == node->end &&
		    have->value == node->value && have->left == node->left &&
		    have->right == node->right)
			break;
	}
	return i;
}

/* Makes room for so many more: at most half of the slots are taken. */
static int space_grow_shared(struct space_pool *pool, uint32_t more)
{
	size_t capacity = pool->shared_capacity ? pool->shared_capacity : 256;
	uint32_t *old = pool->shared;
	size_t n = pool->shared_capacity;

	while (capacity / 2 < (size_t)pool->n_shared + more)
		capacity *= 2;
	if (capacity == n)
		return 0;
	pool->shared = calloc(capacity, sizeof(*pool->shared));
	if (!pool->shared) {
		pool->shared = old;
		return -ENOMEM;
	}
	pool->shared_capacity = capacity;
	for (size_t i = 0; i < n; i++) {
		if (old[i])
			pool->shared[space_slot(pool, &pool->nodes[old[i]])] = old[i];
	}
	free(old);
	return 0;
}

/* The number that a node will have, its parts being shared first. One that is new is put behind the
 * others in pool->fresh, *n of which are there. Two nodes of one tree are never equal. */
static uint32_t space_share_node(struct space_pool *pool, uint32_t i, uint32_t from, uint32_t *n)
{
	struct space_node node = pool->nodes[i];
	size_t slot;

	if (i < from)
		return i;
	node.left = space_share_node(pool, node.left, from, n);
	node.right = space_share_node(pool, node.right, from, n);
	node.stamp = 0;
	/* A part that is new has a number that no shared node knows of. */
	if (node.left < from && node.right < from) {
		slot = space_slot(pool, &node);
		if (pool->shared[slot])
			return pool->shared[slot];
	}
	pool->fresh[*n] = node;
	return from + (*n)++;
}

int space_share(struct space_pool *pool, uint32_t *root, uint32_t from)
{
	uint32_t n = 0, most = pool->n - from;

	if (space_grow_shared(pool, most) < 0 ||
	    ARRAY_ROOM(&pool->fresh, &pool->fresh_capacity, most) < 0) {
		pool->failed = 1;
		return -ENOMEM;
	}
	*root = space_share_node(pool, *root, from, &n);
	memcpy(pool->nodes + from, pool->fresh, n * sizeof(*pool->nodes));
	pool->n = from + n;
	pool->n_shared += n;
	for (uint32_t i = from; i < pool->n; i++)
		pool->shared[space_slot(pool, &pool->nodes[i])] = i;
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
