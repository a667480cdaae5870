// SPDX-License-Identifier: MIT
/*
 * innermost.c: see innermost.h.
 *
 * The nodes that are made are in the order of their frames, which is that of a sorted list. What
 * was folded is named after its caller (lookup.h), so that one stays in front of it.
 */
#include "store/stacks/innermost.h"

#include <errno.h>
#include <stdlib.h>

/* By frame. Of 0, which no frame has: what was folded at the root. */
struct innermost_frame {
	uint32_t node;   /* that stands for it; 1: it is needed */
	uint32_t folded; /* likewise, of what was folded below it */
};

/* The frame after which a node is named; UINT32_MAX: there is no such node. */
static uint32_t innermost_named(const struct lookup_stacks *s, uint32_t node)
{
	uint32_t frame = node <= s->list.highest ? s->nodes[node].frame : 0;

	if (!frame)
		return UINT32_MAX;
	if (frame == BLOCKS_FOLDED)
		frame = s->nodes[s->nodes[node].parent].frame;
	return frame == BLOCKS_FOLDED ? UINT32_MAX : frame;
}

/* Marks what the counts need: what was folded needs its caller's node, too. -EBADMSG. */
static int innermost_mark(struct innermost_frame *frames, const struct lookup_stacks *s,
                          const struct sums *sums)
{
	for (size_t i = 0; i < sums->n; i++) {
		const uint32_t node = sums->rows[i].node;
		const uint32_t frame = node ? innermost_named(s, node) : 0;

		if (frame == UINT32_MAX)
			return -EBADMSG;
		frames[frame].node |= frame != 0;
		frames[frame].folded |= node && s->nodes[node].frame == BLOCKS_FOLDED;
	}
	return 0;
}

/* Gives each marked place its node, in the order of frames. */
static uint32_t innermost_make(struct blocks_node *to, struct innermost_frame *frames,
                               uint32_t highest)
{
	uint32_t n = 0;

	for (uint32_t f = 0; f <= highest; f++) {
		if (frames[f].node) {
			to[++n] = (struct blocks_node){ 0, f };
			frames[f].node = n;
		}
		if (frames[f].folded) {
			to[++n] = (struct blocks_node){ frames[f].node, BLOCKS_FOLDED };
			frames[f].folded = n;
		}
	}
	return n;
}

/* Counts by the nodes that were made. */
static void innermost_rename(struct sums *sums, const struct innermost_frame *frames,
                             const struct lookup_stacks *s)
{
	for (size_t i = 0; i < sums->n; i++) {
		struct sums_row *row = &sums->rows[i];
		const struct innermost_frame *at;

		if (!row->node)
			continue;
		at = &frames[innermost_named(s, row->node)];
		row->node = s->nodes[row->node].frame == BLOCKS_FOLDED ? at->folded : at->node;
	}
	sums->sorted = 0;
}

/* The highest frame that a node has. */
static uint32_t innermost_highest(const struct lookup_stacks *s)
{
	uint32_t highest = 0;

	for (uint32_t id = 1; id <= s->list.highest; id++)
		if (s->nodes[id].frame != BLOCKS_FOLDED && s->nodes[id].frame > highest)
			highest = s->nodes[id].frame;
	return highest;
}

/* The list keeps its place, with other nodes. */
int innermost_take(struct lookup_stacks *s, struct sums *sums)
{
	const uint32_t highest = innermost_highest(s);
	struct innermost_frame *frames = calloc((size_t)highest + 1, sizeof(*frames));
	struct blocks_node *nodes = calloc(2 * ((size_t)highest + 1) + 1, sizeof(*nodes));
	int r = frames && nodes ? innermost_mark(frames, s, sums) : -ENOMEM;

	if (r >= 0) {
		const uint32_t n = innermost_make(nodes, frames, highest);

		innermost_rename(sums, frames, s);
		free(s->nodes);
		s->nodes = nodes;
		s->list.highest = n;
		s->sorted = true;
		nodes = NULL;
	}
	free(frames);
	free(nodes);
	return r;
}
