// SPDX-License-Identifier: MIT
// sorted.c: see sorted.h. Sorting takes time in proportion to the nodes and their frames: nodes go
// into the lists of their parents by frame, the last first, and a walk down gives the numbers.
#include "store/stacks/sorted.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/leb.h"
#include "store/stacks/callees.h"

/* ---- order ---- */

/* A frame's number as it is written. */
static uint32_t sorted_frame(uint32_t frame)
{
	return frame == BLOCKS_FOLDED ? 0 : frame;
}

/* The nodes by frame. -ENOMEM. */
static int sorted_by_frame(uint32_t *order, const struct blocks_node *nodes, uint32_t n)
{
	uint32_t highest = 0, *at;

	for (uint32_t id = 1; id <= n; id++)
		highest = sorted_frame(nodes[id].frame) > highest ? nodes[id].frame : highest;
	at = calloc((size_t)highest + 2, sizeof(*at));
	if (!at)
		return -ENOMEM;
	for (uint32_t id = 1; id <= n; id++)
		at[sorted_frame(nodes[id].frame) + 1]++;
	for (uint32_t frame = 0; frame <= highest; frame++)
		at[frame + 1] += at[frame];
	for (uint32_t id = 1; id <= n; id++)
		order[at[sorted_frame(nodes[id].frame)]++] = id;
	free(at);
	return 0;
}

/* Numbers nodes on the way down: a node, all below it, then its next brother. */
static void sorted_walk(uint32_t *number, const struct blocks_node *nodes, const uint32_t *child,
                        const uint32_t *brother)
{
	uint32_t at = child[0], next = 0;

	number[0] = 0;
	while (at) {
		number[at] = ++next;
		if (child[at]) {
			at = child[at];
			continue;
		}
		while (at && !brother[at])
			at = nodes[at].parent;
		at = at ? brother[at] : 0;
	}
}

/* Gives every node its number in sorted order. */
int sorted_numbers(uint32_t *number, const struct blocks_node *nodes, uint32_t n)
{
	uint32_t *child = calloc((size_t)n + 1, sizeof(*child));
	uint32_t *brother = calloc((size_t)n + 1, sizeof(*brother));
	uint32_t *order = calloc((size_t)n + 1, sizeof(*order));
	int r = child && brother && order ? sorted_by_frame(order, nodes, n) : -ENOMEM;

	for (uint32_t i = n; i-- && r >= 0;) {
		uint32_t id = order[i];

		brother[id] = child[nodes[id].parent];
		child[nodes[id].parent] = id;
	}
	if (r >= 0)
		sorted_walk(number, nodes, child, brother);
	free(child);
	free(brother);
	free(order);
	return r;
}

/* ---- bytes ---- */

/* The path to a node, from the root's child down. */
struct sorted_path {
	uint32_t *nodes;
	size_t n, capacity;
};

/* The path to a node of a sorted list. -ENOMEM. */
static int sorted_path_to(struct sorted_path *p, const struct blocks_node *nodes, uint32_t id)
{
	for (uint32_t at = id; at; at = nodes[at].parent)
		p->n++;
	if (ARRAY_ROOM(&p->nodes, &p->capacity, p->n + 1) < 0)
		return -ENOMEM;
	for (size_t i = p->n; i--; id = nodes[id].parent)
		p->nodes[i] = id;
	return 0;
}

/* The caller by which a node's callees are kept: its frame, which is not 0; 0: it is not in this
 * block. What was folded calls nothing, but in a block that is damaged. */
static uint32_t sorted_caller(uint32_t parent, uint32_t first, const struct blocks_node *of_parent)
{
	return parent < first ? 0 : sorted_frame(of_parent->frame);
}

/* Appends the frames, each as its place among the callees of its caller. -ENOMEM. */
static int sorted_put_frames(struct buf *plain, const struct blocks_node *nodes, uint32_t first,
                             uint32_t n)
{
	struct callees callees = { 0 };
	struct buf new_ones = { 0 };
	int r = 0;

	for (uint32_t id = first; id - first < n && r >= 0; id++) {
		const uint32_t parent = nodes[id].parent, frame = sorted_frame(nodes[id].frame);
		uint32_t place = 0;
		bool is_new;

		r = callees_place(&callees, sorted_caller(parent, first, &nodes[parent]), frame,
		                  &place, &is_new);
		blocks_put_number(plain, place);
		if (r >= 0 && is_new)
			blocks_put_number(&new_ones, frame);
	}
	if (r >= 0)
		r = new_ones.failed ? -ENOMEM : buf_put(plain, new_ones.bytes, new_ones.n);
	buf_free(&new_ones);
	callees_free(&callees);
	return r;
}

/* Columns, not nodes one by one: steps up are like each other, and so are frames. */
int sorted_put(struct buf *plain, const struct blocks_node *nodes, uint32_t first, uint32_t n)
{
	struct sorted_path path = { 0 };
	uint32_t before = 0;

	if (sorted_path_to(&path, nodes, first - 1) < 0)
		return -ENOMEM;
	blocks_put_number(plain, 0);
	blocks_put_number(plain, 1);
	blocks_put_number(plain, path.n);
	for (size_t i = 0; i < path.n; i++) {
		blocks_put_number(plain, path.nodes[i] - before);
		before = path.nodes[i];
	}
	free(path.nodes);
	for (uint32_t id = first; id - first < n; id++) {
		uint32_t up = 0;

		for (uint32_t at = id - 1; at != nodes[id].parent; at = nodes[at].parent)
			up++;
		blocks_put_number(plain, up);
	}
	return sorted_put_frames(plain, nodes, first, n) < 0 || plain->failed ? -ENOMEM : 0;
}

/* Goes behind n numbers: each ends with its only byte below 0x80. Of eight bytes at once no more
 * than eight end. */
static void sorted_skip(struct cursor *c, uint32_t n)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t bytes;

	for (; n >= sizeof(bytes) && cursor_left(c) >= sizeof(bytes); c->at += sizeof(bytes)) {
		memcpy(&bytes, c->at, sizeof(bytes));
		n -= (uint32_t)((~bytes >> 7 & ones) * ones >> 56);
	}
	for (; n && c->at < c->end; c->at++)
		n -= *c->at < 0x80;
	if (n)
		cursor_fail(c);
}

/* Reads frames that are told by their places. The new ones stand behind all places. -EBADMSG,
 * -ENOMEM. */
static int sorted_read_frames(struct cursor *c, uint32_t first, uint32_t n, struct blocks_node *to)
{
	struct callees callees = { 0 };
	struct cursor places = *c;
	int r = 0;

	sorted_skip(c, n);
	for (uint32_t i = 0; i < n && r >= 0; i++) {
		const uint32_t parent = to[i].parent;
		const uint32_t caller =
		        sorted_caller(parent, first, parent < first ? NULL : &to[parent - first]);
		const uint64_t place = leb_unsigned(&places), there = callees_n(&callees, caller);
		uint64_t frame;

		if (place < there) {
			frame = callees_at(&callees, caller, (uint32_t)place);
		} else {
			frame = leb_unsigned(c);
			if (c->failed || place > there || frame >= BLOCKS_THINGS_MAX)
				r = -EBADMSG;
			else
				r = callees_add(&callees, caller, (uint32_t)frame);
		}
		to[i].frame = frame ? (uint32_t)frame : BLOCKS_FOLDED;
	}
	callees_free(&callees);
	return r < 0 ? r : c->failed ? -EBADMSG : 0;
}

/* Whether a block is of version 4, and what it begins with. */
static bool sorted_has_places(struct cursor *c)
{
	struct cursor at = *c;

	if (leb_unsigned(&at) != 0 || leb_unsigned(&at) != 1)
		return false;
	*c = at;
	return true;
}

/* Reads the path that a block begins with: ascending numbers below the block's first. */
static int sorted_read_path(struct cursor *c, uint32_t first, struct sorted_path *path)
{
	uint64_t n = leb_unsigned(c), at = 0;

	/* Each takes a byte at least. */
	if (c->failed || n > cursor_left(c))
		return -EBADMSG;
	if (ARRAY_ROOM(&path->nodes, &path->capacity, (size_t)n + 1) < 0)
		return -ENOMEM;
	for (; path->n < n; path->n++) {
		uint64_t step = leb_unsigned(c);

		if (c->failed || !step || step >= first - at)
			return -EBADMSG;
		at += step;
		path->nodes[path->n] = (uint32_t)at;
	}
	/* It leads to the node in front. */
	return at == first - 1 ? 0 : -EBADMSG;
}

/* Reads parents. Each is on the path to the node in front, so its number is less. -EBADMSG,
 * -ENOMEM. */
static int sorted_read_parents(struct cursor *c, uint32_t first, uint32_t n,
                               struct sorted_path *path, struct blocks_node *to)
{
	struct cursor ups = *c;
	size_t depth = path->n;

	if (ARRAY_ROOM(&path->nodes, &path->capacity, depth + n) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t up = leb_unsigned(&ups);

		if (up > depth)
			return -EBADMSG;
		depth -= up;
		to[i].parent = depth ? path->nodes[depth - 1] : 0;
		path->nodes[depth++] = first + i;
	}
	*c = ups;
	return c->failed ? -EBADMSG : 0;
}

/* Parents first: by them frames are told. */
int sorted_read(struct cursor *c, uint32_t first, uint32_t n, struct blocks_node *to)
{
	const bool has_places = sorted_has_places(c);
	struct sorted_path path = { 0 };
	int r = sorted_read_path(c, first, &path);

	if (r >= 0)
		r = sorted_read_parents(c, first, n, &path, to);
	if (r >= 0 && has_places)
		r = sorted_read_frames(c, first, n, to);
	for (uint32_t i = 0; i < n && r >= 0 && !has_places; i++) {
		uint64_t frame = leb_unsigned(c);

		to[i].frame = frame ? (uint32_t)frame : BLOCKS_FOLDED;
		if (c->failed || frame >= BLOCKS_THINGS_MAX)
			r = -EBADMSG;
	}
	free(path.nodes);
	return r;
}
