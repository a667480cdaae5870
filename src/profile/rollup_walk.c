// SPDX-License-Identifier: MIT
/*
 * rollup_walk.c: see rollup_walk.h.
 *
 * Goes through the tree depth first, and only where wanted stacks are. A node that is left gives
 * what was counted in it and below it to its caller, and to the total of its row: if the row was
 * not met further out on the path, because a function that recurs counts once.
 */
#include "profile/rollup_walk.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/trie.h"

#define SAMPLED 64u /* stacks, whose depths stand for those of all */
#define BELOW UINT32_MAX

/* A node on the path from the root. */
struct rollup_step {
	uint64_t weight, samples; /* in it and below it, as far as that is known */
	uint32_t node;
	uint32_t row; /* of the table, + 1, if it was not met further out; 0 */
};

struct rollup_walker {
	const struct rollup_walk *walk;
	const struct trie *tree;
	/* By node: the last wanted row that ends there, + 1; BELOW: none does, but there are some
	 * below; 0: nor that. By the place in walk->rows: the one before, + 1. */
	uint32_t *ends, *before;
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

/* Marks nodes where wanted rows end, and those above. A parent's id is less than its child's. */
static void rollup_walk_mark(struct rollup_walker *w)
{
	const struct profile *p = w->walk->table->profile;

	for (size_t i = 0; i < w->walk->n; i++) {
		uint32_t node = profile_row_at(p, w->walk->rows[i])->key.node;

		w->before[i] = w->ends[node];
		w->ends[node] = (uint32_t)i + 1;
	}
	for (uint32_t i = w->tree->n; i > 0; i--) {
		uint32_t *parent = &w->ends[trie_at(w->tree, i).parent];

		if (w->ends[i] && !*parent)
			*parent = BELOW;
	}
}

/* A node becomes the innermost one of the path. -ENOMEM. */
static int rollup_walk_enter(struct rollup_walker *w, uint32_t node)
{
	const struct profile *p = w->walk->table->profile;
	struct rollup_step step = { .node = node };
	uint32_t end = w->ends[node] == BELOW ? 0 : w->ends[node];
	uint32_t frame = trie_at(w->tree, node).key, row = w->walk->known[frame];

	for (; end; end = w->before[end - 1]) {
		const struct profile_row *ended = profile_row_at(p, w->walk->rows[end - 1]);

		step.weight += ended->weight;
		step.samples += ended->samples;
	}
	if (row <= w->walk->before)
		row = w->walk->row(w->walk->ctx, frame);
	if (row == ROLLUP_WALK_FAILED || ARRAY_ROOM(&w->path, &w->capacity, w->n + 1) < 0)
		return -ENOMEM;
	if (row && !w->walk->table->rows[row - 1].last) {
		w->walk->table->rows[row - 1].last = 1;
		step.row = row;
	}
	w->path[w->n++] = step;
	return 0;
}

/* The innermost node of the path is done. */
static void rollup_walk_leave(struct rollup_walker *w)
{
	const struct rollup_step *step = &w->path[--w->n];

	if (step->row) {
		struct rollup_row *row = &w->walk->table->rows[step->row - 1];

		row->last = 0;
		row->total += step->weight;
		row->total_samples += step->samples;
	}
	if (w->n) {
		w->path[w->n - 1].weight += step->weight;
		w->path[w->n - 1].samples += step->samples;
	}
}

/* The first of a node and its siblings that is wanted; 0: none. */
static uint32_t rollup_walk_wanted(const struct rollup_walker *w, uint32_t node)
{
	while (node && !w->ends[node])
		node = trie_next(w->tree, node);
	return node;
}

/* Goes down as far as it can, and over to a sibling where it cannot. Without recursion, because
 * stacks can be as deep as a file says. */
static int rollup_walk_all(struct rollup_walker *w)
{
	uint32_t at = rollup_walk_wanted(w, trie_first(w->tree, PROFILE_ROOT));
	int r = 0;

	while (at && r >= 0) {
		uint32_t next = rollup_walk_wanted(w, trie_first(w->tree, at));

		r = rollup_walk_enter(w, at);
		while (!next && w->n && r >= 0) {
			at = w->path[w->n - 1].node;
			rollup_walk_leave(w);
			next = rollup_walk_wanted(w, trie_next(w->tree, at));
		}
		at = next;
	}
	return r;
}

int rollup_walk(const struct rollup_walk *walk)
{
	const struct trie *tree = profile_tree(walk->table->profile);
	struct rollup_walker w = { .walk = walk,
		                   .tree = tree,
		                   .ends = calloc((size_t)tree->n + 1, sizeof(*w.ends)),
		                   .before = calloc(walk->n + 1, sizeof(*w.before)) };
	int r = w.ends && w.before ? 0 : -ENOMEM;

	if (r >= 0 && tree->n) {
		rollup_walk_mark(&w);
		r = rollup_walk_all(&w);
	}
	free(w.ends);
	free(w.before);
	free(w.path);
	return r;
}
