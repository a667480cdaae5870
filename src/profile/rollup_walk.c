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
	uint32_t next;            /* of its children, those not looked at yet */
	uint32_t row;             /* of the table, + 1, if it was not met further out; 0 */
};

/* Of a row of the table: far less than the row itself, so that those of all frames are at hand. */
struct rollup_total {
	uint64_t weight, samples;
};

struct rollup_walker {
	const struct rollup_walk *walk;
	const struct trie *tree;
	const uint32_t *known; /* the walk's */
	/* By node: the last wanted row that ends there, + 1; BELOW: none does, but there are some
	 * below; 0: nor that. By the place in walk->rows: the one before, + 1. */
	uint32_t *ends, *before;
	struct rollup_total *totals; /* by row + 1 */
	uint8_t *met;                /* likewise: it is on the path */
	size_t n_totals, n_met;
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

/* Adds what ends in a node. */
static void rollup_walk_end(const struct rollup_walker *w, uint32_t end, struct rollup_step *step)
{
	const struct profile *p = w->walk->table->profile;

	for (; end; end = w->before[end - 1]) {
		const struct profile_row *ended = profile_row_at(p, w->walk->rows[end - 1]);

		step->weight += ended->weight;
		step->samples += ended->samples;
	}
}

/* The row of a frame that was not asked for yet, with room for its total. ROLLUP_WALK_FAILED. */
static uint32_t rollup_walk_ask(struct rollup_walker *w, uint32_t frame)
{
	uint32_t row = w->walk->row(w->walk->ctx, frame);

	if (row != ROLLUP_WALK_FAILED &&
	    (ARRAY_ROOM_ZEROED(&w->totals, &w->n_totals, (size_t)row + 1) < 0 ||
	     ARRAY_ROOM_ZEROED(&w->met, &w->n_met, (size_t)row + 1) < 0))
		return ROLLUP_WALK_FAILED;
	return row;
}

/* A node becomes the innermost one of the path, which has room. False: out of memory. */
static inline bool rollup_walk_enter(struct rollup_walker *w, uint32_t node, uint32_t end)
{
	const uint32_t frame = trie_at(w->tree, node).key;
	struct rollup_step *step = &w->path[w->n++];
	uint32_t row = w->known[frame];

	*step = (struct rollup_step){ .next = trie_others(w->tree, node) };
	if (end != BELOW)
		rollup_walk_end(w, end, step);
	if (row <= w->walk->before || row >= w->n_met) {
		row = rollup_walk_ask(w, frame);
		if (row == ROLLUP_WALK_FAILED)
			return false;
	}
	if (row && !w->met[row]) {
		w->met[row] = 1;
		step->row = row;
	}
	return true;
}

/* The innermost node of the path is done. */
static inline void rollup_walk_leave(struct rollup_walker *w)
{
	const struct rollup_step *step = &w->path[--w->n];

	if (step->row) {
		struct rollup_total *total = &w->totals[step->row];

		w->met[step->row] = 0;
		total->weight += step->weight;
		total->samples += step->samples;
	}
	w->path[w->n - 1].weight += step->weight;
	w->path[w->n - 1].samples += step->samples;
}

/* Goes down as far as it can, and over to a sibling where it cannot. Without recursion, because
 * stacks can be as deep as a file says. The path begins with a step for the root. */
static int rollup_walk_all(struct rollup_walker *w)
{
	const struct trie *tree = w->tree;
	const uint32_t *ends = w->ends;
	uint32_t at = trie_goes_on(tree, PROFILE_ROOT) ? 1 : 0;

	if (ARRAY_ROOM_ZEROED(&w->path, &w->capacity, 1) < 0)
		return -ENOMEM;
	w->path[0].next = trie_others(tree, PROFILE_ROOT);
	w->n = 1;
	for (;;) {
		if (at && ends[at]) {
			if (ARRAY_ROOM(&w->path, &w->capacity, w->n + 1) < 0 ||
			    !rollup_walk_enter(w, at, ends[at]))
				return -ENOMEM;
			at = trie_goes_on(tree, at) ? at + 1 : 0;
			continue;
		}
		/* None, or not wanted. */
		at = w->path[w->n - 1].next;
		if (at)
			w->path[w->n - 1].next = trie_other(tree, at);
		else if (w->n == 1)
			return 0;
		else
			rollup_walk_leave(w);
	}
}

/* Adds to the table what was counted. */
static void rollup_walk_add(const struct rollup_walker *w)
{
	for (size_t i = 1; i < w->n_totals && i <= w->walk->table->n; i++) {
		w->walk->table->rows[i - 1].total += w->totals[i].weight;
		w->walk->table->rows[i - 1].total_samples += w->totals[i].samples;
	}
}

/* The tree is marked, then gone through; sums come into the table at the end. */
int rollup_walk(const struct rollup_walk *walk)
{
	const struct trie *tree = profile_tree(walk->table->profile);
	struct rollup_walker w = { .walk = walk,
		                   .tree = tree,
		                   .known = walk->known,
		                   .ends = calloc((size_t)tree->n + 1, sizeof(*w.ends)),
		                   .before = calloc(walk->n + 1, sizeof(*w.before)) };
	int r = w.ends && w.before ? 0 : -ENOMEM;

	if (r >= 0 && tree->n) {
		rollup_walk_mark(&w);
		r = rollup_walk_all(&w);
		rollup_walk_add(&w);
	}
	free(w.totals);
	free(w.met);
	free(w.ends);
	free(w.before);
	free(w.path);
	return r;
}
