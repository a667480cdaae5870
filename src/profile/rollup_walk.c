// SPDX-License-Identifier: MIT
/*
 * rollup_walk.c: see rollup_walk.h.
 *
 * Sums up by segments of the tree, from the innermost ones out, and then goes through the segments
 * that have wanted stacks, depth first. What a segment has is added to the row of each of its
 * frames that was not met further out on the path, because a function that recurs counts once.
 */
#include "profile/rollup_walk.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/trie.h"
#include "profile/segments.h"

#define SAMPLED 64u /* stacks, whose depths stand for those of all */

struct rollup_total {
	uint64_t weight, samples;
};

/* A segment that has wanted stacks, in it or below it: which are summed up here. */
struct rollup_segment {
	struct rollup_total total;
	uint32_t child, next; /* the first of those below it, and the one beside it; 0: none */
};

/* A segment on the path. */
struct rollup_step {
	uint32_t segment;
	size_t n_met; /* rows that were met further out */
};

struct rollup_walker {
	const struct rollup_walk *walk;
	const struct segments *segments;
	struct rollup_segment *sums; /* by segment */
	uint8_t *wanted;             /* by segment */
	struct rollup_total *totals; /* by row of the table + 1: far less than the row itself */
	uint8_t *met;                /* likewise: it is on the path */
	size_t totals_room, met_room;
	uint32_t *path_met; /* those that are, the innermost last */
	size_t n_path_met, path_met_room;
	struct rollup_step *path;
	size_t n, capacity;
};

bool rollup_walk_pays(const struct rollup_walk *w)
{
	const struct profile *p = w->table->profile;
	const struct trie *tree = profile_tree(p);
	size_t step = w->n / SAMPLED + 1, stacks = 0, frames = 0;

	for (size_t i = 0; i < w->n; i += step, stacks++) {
		uint32_t node = profile_row_at(p, w->rows[i])->key.node;

		for (; node != PROFILE_ROOT; node = trie_at(tree, node).parent)
			frames++;
	}
	return stacks && frames / stacks * w->n > (size_t)tree->n * 2;
}

/* Adds up the wanted rows of each segment and of those below it, and links the segments that have
 * some. A segment's number is greater than that of the one above it. */
static void rollup_walk_sum(struct rollup_walker *w)
{
	const struct profile *p = w->walk->table->profile;

	for (size_t i = 0; i < w->walk->n; i++) {
		const struct profile_row *row = profile_row_at(p, w->walk->rows[i]);
		const uint32_t segment = segments_at(w->segments, row->key.node);

		w->wanted[segment] = 1;
		w->sums[segment].total.weight += row->weight;
		w->sums[segment].total.samples += row->samples;
	}
	for (uint32_t i = w->segments->n; i > 0; i--) {
		const uint32_t outer = w->segments->above[i];
		struct rollup_segment *of = &w->sums[i], *above = &w->sums[outer];

		if (!w->wanted[i])
			continue;
		w->wanted[outer] = 1;
		above->total.weight += of->total.weight;
		above->total.samples += of->total.samples;
		of->next = above->child;
		above->child = i;
	}
}

/* The row of a frame that was not asked for yet, with room for its total. ROLLUP_WALK_FAILED. */
static uint32_t rollup_walk_ask(struct rollup_walker *w, uint32_t frame)
{
	uint32_t row = w->walk->row(w->walk->ctx, frame);

	if (row != ROLLUP_WALK_FAILED &&
	    (ARRAY_ROOM_ZEROED(&w->totals, &w->totals_room, (size_t)row + 1) < 0 ||
	     ARRAY_ROOM_ZEROED(&w->met, &w->met_room, (size_t)row + 1) < 0))
		return ROLLUP_WALK_FAILED;
	return row;
}

/* Adds a segment's sum to the row of each of its frames that was not met yet. -ENOMEM. */
static int rollup_walk_segment(struct rollup_walker *w, uint32_t segment)
{
	const struct rollup_walk *walk = w->walk;
	const struct rollup_total sum = w->sums[segment].total;
	const uint32_t last = w->segments->last[segment];
	uint32_t node = segments_first(w->segments, segment);

	if (ARRAY_ROOM(&w->path_met, &w->path_met_room, w->n_path_met + (last - node) + 1) < 0)
		return -ENOMEM;
	for (; node <= last; node++) {
		const uint32_t frame = trie_at(w->segments->tree, node).key;
		uint32_t row = walk->known[frame];

		if (row <= walk->before || row >= w->met_room) {
			row = rollup_walk_ask(w, frame);
			if (row == ROLLUP_WALK_FAILED)
				return -ENOMEM;
		}
		if (!row || w->met[row])
			continue;
		w->met[row] = 1;
		w->path_met[w->n_path_met++] = row;
		w->totals[row].weight += sum.weight;
		w->totals[row].samples += sum.samples;
	}
	return 0;
}

/* The innermost segment of the path is done. The one beside it; 0: there is none. */
static uint32_t rollup_walk_leave(struct rollup_walker *w)
{
	const struct rollup_step *step = &w->path[--w->n];

	while (w->n_path_met > step->n_met)
		w->met[w->path_met[--w->n_path_met]] = 0;
	return w->sums[step->segment].next;
}

/* Goes down as far as it can, and over to a sibling where it cannot. Without recursion, because
 * stacks can be as deep as a file says. */
static int rollup_walk_all(struct rollup_walker *w)
{
	uint32_t segment = w->sums[0].child;
	size_t done = 0;
	int r = 0;

	while ((segment || w->n) && r >= 0) {
		if (!segment) {
			segment = rollup_walk_leave(w);
			continue;
		}
		if (!watched_goes_on(w->walk->watched, done++, w->segments->n))
			return -ECANCELED;
		if (ARRAY_ROOM(&w->path, &w->capacity, w->n + 1) < 0)
			return -ENOMEM;
		w->path[w->n++] = (struct rollup_step){ segment, w->n_path_met };
		r = rollup_walk_segment(w, segment);
		segment = w->sums[segment].child;
	}
	return r;
}

/* Adds to the table what was counted. */
static void rollup_walk_add(const struct rollup_walker *w)
{
	for (size_t i = 1; i < w->totals_room && i <= w->walk->table->n; i++) {
		w->walk->table->rows[i - 1].total += w->totals[i].weight;
		w->walk->table->rows[i - 1].total_samples += w->totals[i].samples;
	}
}

/* The tree is summed up, then gone through; what was found comes into the table at the end. */
int rollup_walk(const struct rollup_walk *walk)
{
	struct rollup_walker w = { .walk = walk, .segments = segments_of(walk->table->profile) };
	int r;

	if (!w.segments)
		return -ENOMEM;
	w.sums = calloc((size_t)w.segments->n + 1, sizeof(*w.sums));
	w.wanted = calloc((size_t)w.segments->n + 1, sizeof(*w.wanted));
	r = w.sums && w.wanted ? 0 : -ENOMEM;
	if (r >= 0) {
		rollup_walk_sum(&w);
		r = rollup_walk_all(&w);
	}
	if (r >= 0)
		rollup_walk_add(&w);
	free(w.sums);
	free(w.wanted);
	free(w.totals);
	free(w.met);
	free(w.path_met);
	free(w.path);
	return r;
}

/* From the innermost frame out, up to a node that another stack went through. */
int rollup_walk_frames(const struct rollup_walk *walk)
{
	const struct profile *p = walk->table->profile;
	const struct trie *tree = profile_tree(p);
	uint64_t *seen = calloc((size_t)tree->n / 64 + 1, sizeof(*seen));
	int r = seen ? 0 : -ENOMEM;

	for (size_t i = 0; i < walk->n && r >= 0; i++) {
		uint32_t node = profile_row_at(p, walk->rows[i])->key.node;

		if (!watched_goes_on(walk->watched, i, walk->n))
			r = -ECANCELED;
		while (node != PROFILE_ROOT && !(seen[node / 64] >> node % 64 & 1) && r >= 0) {
			const struct trie_node at = trie_at(tree, node);

			seen[node / 64] |= (uint64_t)1 << node % 64;
			if (walk->known[at.key] <= walk->before &&
			    walk->row(walk->ctx, at.key) == ROLLUP_WALK_FAILED)
				r = -ENOMEM;
			node = at.parent;
		}
	}
	free(seen);
	return r;
}
