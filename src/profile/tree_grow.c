// SPDX-License-Identifier: MIT
/*
 * tree_grow.c: a tree of which only the children of those nodes are made that are looked at: of
 * many and deep stacks a small part.
 *
 * A node of the tree stands for branches: nodes of the profile whose stacks go through it. By
 * caller a branch goes on inwards, to the children of its node, and weighs what all stacks through
 * it do (by segment: segments.h). By callee it goes on outwards, to the one parent of its node, and
 * weighs what the stacks do that began where it began.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "profile/segments.h"
#include "profile/tree_make.h"

/* What rows have. */
struct tree_sum {
	uint64_t weight, samples;
};

struct tree_branch {
	struct tree_sum sum;    /* by callee */
	uint32_t node, segment; /* of the profile; by callee there are no segments */
	uint32_t next;          /* the place of another one of the same node of the tree, 0: none */
};

struct tree_growth {
	struct tree_builder b;
	enum tree_order order;
	uint32_t event;
	struct watched *watched;
	struct tree_branch *all; /* n of them, from place 1 on */
	size_t n, capacity;
	/* By node of the tree. */
	uint32_t *first; /* the place of a branch; 0: none */
	bool *grown;
	size_t first_capacity, grown_capacity;
	/* By caller. */
	const struct segments *segments;
	struct tree_sum *totals, *own; /* by segment: of wanted rows, in it and below it; in it */
	unsigned char *wanted;         /* by the same: such a row is there */
	uint32_t *child, *next; /* by the same: the first wanted one below it, and beside it; 0 */
	uint32_t *found; /* by the same, of what is sought: the last node of it in it; 0: none */
	bool *below;     /* by the same: there is one below it */
	/* By callee, by node of the profile. */
	uint32_t *place; /* where its last branch is */
	bool *outwards;  /* it is what is sought, or something outwards of it is */
};

static bool tree_grow_wants(const struct tree_growth *g, const struct profile_row *row)
{
	return !g->event || row->key.event == g->event;
}

static void tree_grow_add(struct tree_sum *to, const struct tree_sum *sum)
{
	to->weight += sum->weight;
	to->samples += sum->samples;
}

/* Adds to what a node has with what is below it, and, own, to what it has itself. */
static void tree_grow_node(struct tree_node *to, const struct tree_sum *total,
                           const struct tree_sum *own)
{
	to->total += total->weight;
	to->total_samples += total->samples;
	if (own) {
		to->self += own->weight;
		to->self_samples += own->samples;
	}
}

/* One more branch of a node of the tree. -ENOMEM. */
static int tree_grow_branch(struct tree_growth *g, uint32_t id, const struct tree_branch *branch)
{
	if (ARRAY_ROOM(&g->all, &g->capacity, g->n + 1) < 0 ||
	    ARRAY_ROOM_ZEROED(&g->first, &g->first_capacity, (size_t)id + 1) < 0)
		return -ENOMEM;
	g->all[g->n] = *branch;
	g->all[g->n].next = g->first[id];
	g->first[id] = (uint32_t)g->n++;
	return 0;
}

/* ---- by caller ---- */

/* Sums the rows up. A segment's number is greater than that of the one above it. */
static void tree_grow_sum(struct tree_growth *g)
{
	const struct profile *p = g->b.tree->profile;

	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		const uint32_t segment = segments_at(g->segments, row->key.node);

		if (!tree_grow_wants(g, row))
			continue;
		tree_grow_add(&g->own[segment], &(struct tree_sum){ row->weight, row->samples });
		tree_grow_add(&g->totals[segment], &(struct tree_sum){ row->weight, row->samples });
		g->wanted[segment] = 1;
	}
	for (uint32_t i = g->segments->n; i > 0; i--) {
		const uint32_t above = g->segments->above[i];

		if (!g->wanted[i])
			continue;
		tree_grow_add(&g->totals[above], &g->totals[i]);
		g->wanted[above] = 1;
		g->next[i] = g->child[above];
		g->child[above] = i;
	}
}

/* -ENOMEM. */
static int tree_grow_callers(struct tree_growth *g)
{
	const struct tree_branch root = { .node = PROFILE_ROOT };
	size_t n;

	g->segments = segments_of(g->b.tree->profile);
	if (!g->segments)
		return -ENOMEM;
	n = (size_t)g->segments->n + 1;
	g->totals = calloc(n, sizeof(*g->totals));
	g->own = calloc(n, sizeof(*g->own));
	g->wanted = calloc(n, sizeof(*g->wanted));
	g->child = calloc(n, sizeof(*g->child));
	g->next = calloc(n, sizeof(*g->next));
	if (!g->totals || !g->own || !g->wanted || !g->child || !g->next)
		return -ENOMEM;
	tree_grow_sum(g);
	tree_grow_node(&g->b.tree->nodes[0], &g->totals[0], &g->own[0]);
	return tree_grow_branch(g, 0, &root);
}

/* A node of the profile, which is of this segment, is inwards of a node of the tree. -ENOMEM. */
static int tree_grow_to(struct tree_growth *g, uint32_t id, uint32_t node, uint32_t segment)
{
	const struct tree_branch branch = { .node = node, .segment = segment };
	uint32_t to;

	if (tree_child(&g->b, id, trie_at(g->segments->tree, node).key, &to) < 0 ||
	    tree_grow_branch(g, to, &branch) < 0)
		return -ENOMEM;
	/* Rows are at the last node of a segment only. */
	tree_grow_node(&g->b.tree->nodes[to], &g->totals[segment],
	               node == g->segments->last[segment] ? &g->own[segment] : NULL);
	return 0;
}

/* -ENOMEM. */
static int tree_grow_inwards(struct tree_growth *g, uint32_t id)
{
	const struct segments *s = g->segments;
	int r = 0;

	for (uint32_t place = g->first[id]; place && r >= 0; place = g->all[place].next) {
		const struct tree_branch at = g->all[place];

		if (at.node != s->last[at.segment]) {
			r = tree_grow_to(g, id, at.node + 1, at.segment);
			continue;
		}
		for (uint32_t child = g->child[at.segment]; child && r >= 0; child = g->next[child])
			r = tree_grow_to(g, id, segments_first(s, child), child);
	}
	return r;
}

/* ---- by callee ---- */

/* A node of the profile, with what some stacks through it have, is outwards of a node of the
 * tree. from: branches from this place on are of those that are made now. -ENOMEM. */
static int tree_grow_out(struct tree_growth *g, uint32_t id, uint32_t node,
                         const struct tree_sum *sum, size_t from)
{
	const struct trie_node at = trie_at(profile_tree(g->b.tree->profile), node);
	const struct tree_branch branch = { .node = node, .sum = *sum };
	uint32_t to;

	if (tree_child(&g->b, id, at.key, &to) < 0)
		return -ENOMEM;
	tree_grow_node(&g->b.tree->nodes[to], sum, at.parent == PROFILE_ROOT ? sum : NULL);
	if (g->place[node] >= from) {
		tree_grow_add(&g->all[g->place[node]].sum, sum);
		return 0;
	}
	g->place[node] = (uint32_t)g->n;
	return tree_grow_branch(g, to, &branch);
}

/* The root's children: where stacks end. -ENOMEM; -ECANCELED. */
static int tree_grow_leaves(struct tree_growth *g)
{
	const struct profile *p = g->b.tree->profile;
	int r = 0;

	for (size_t i = 0; i < profile_n_rows(p) && r >= 0; i++) {
		const struct profile_row *row = profile_row_at(p, i);

		if (!watched_goes_on(g->watched, i, profile_n_rows(p)))
			r = -ECANCELED;
		else if (tree_grow_wants(g, row) && row->key.node != PROFILE_ROOT)
			r = tree_grow_out(g, 0, row->key.node,
			                  &(struct tree_sum){ row->weight, row->samples }, 1);
	}
	return r;
}

static int tree_grow_outwards(struct tree_growth *g, uint32_t id)
{
	const struct trie *tree = profile_tree(g->b.tree->profile);
	size_t from = g->n;
	int r = 0;

	if (!id)
		return tree_grow_leaves(g);
	for (uint32_t place = g->first[id]; place && r >= 0; place = g->all[place].next) {
		const struct tree_branch at = g->all[place];
		const uint32_t parent = trie_at(tree, at.node).parent;

		if (parent != PROFILE_ROOT)
			r = tree_grow_out(g, id, parent, &at.sum, from);
	}
	return r;
}

/* What all stacks have, and those without any frame. -ENOMEM. */
static int tree_grow_callees(struct tree_growth *g)
{
	const struct profile *p = g->b.tree->profile;
	struct tree_node *root = &g->b.tree->nodes[0];

	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		const struct tree_sum sum = { row->weight, row->samples };

		if (tree_grow_wants(g, row))
			tree_grow_node(root, &sum, row->key.node == PROFILE_ROOT ? &sum : NULL);
	}
	g->place = calloc(profile_n_nodes(p) + 1, sizeof(*g->place));
	return g->place ? 0 : -ENOMEM;
}

/* ---- what is sought ---- */

/* The last node of a segment that is of a frame; 0: none. */
static uint32_t tree_grow_last(const struct segments *s, uint32_t segment, const bool *frames)
{
	for (uint32_t node = s->last[segment]; node >= segments_first(s, segment); node--)
		if (frames[trie_at(s->tree, node).key])
			return node;
	return 0;
}

/* By caller: a segment's number is greater than that of the one above it. */
static int tree_grow_seek_inwards(struct tree_growth *g, const bool *frames)
{
	const struct segments *s = g->segments;

	if (!g->found)
		g->found = calloc((size_t)s->n + 1, sizeof(*g->found));
	if (!g->below)
		g->below = malloc((size_t)s->n + 1);
	if (!g->found || !g->below)
		return -ENOMEM;
	memset(g->below, 0, (size_t)s->n + 1);
	for (uint32_t i = s->n; i > 0; i--) {
		g->found[i] = g->wanted[i] ? tree_grow_last(s, i, frames) : 0;
		if (g->found[i] || g->below[i])
			g->below[s->above[i]] = true;
	}
	return 0;
}

/* By callee: a node's number is greater than its parent's. */
static int tree_grow_seek_outwards(struct tree_growth *g, const bool *frames)
{
	const struct trie *tree = profile_tree(g->b.tree->profile);

	if (!g->outwards)
		g->outwards = calloc((size_t)tree->n + 1, sizeof(*g->outwards));
	if (!g->outwards)
		return -ENOMEM;
	for (uint32_t i = 1, end; i <= tree->n;) {
		const uint32_t *entry = trie_run(tree, i, &end);

		for (; i < end; i++, entry++) {
			const struct trie_node at = trie_of(tree, i, *entry);

			g->outwards[i] = frames[at.key] || g->outwards[at.parent];
		}
	}
	return 0;
}

int tree_grow_seek(struct tree_growth *g, const bool *symbols)
{
	const struct profile *p = g->b.tree->profile;
	size_t n = profile_n_frames(p);
	bool *frames = calloc(n + 1, sizeof(*frames));
	int r;

	if (!frames)
		return -ENOMEM;
	for (uint32_t i = 1; i <= n; i++)
		frames[i] = symbols[profile_frame_at(p, i)->symbol];
	r = g->order == TREE_CALLER ? tree_grow_seek_inwards(g, frames)
	                            : tree_grow_seek_outwards(g, frames);
	free(frames);
	return r;
}

/* Whether something that is sought is on the stacks of a branch, further on than its node. */
static bool tree_grow_branch_leads(const struct tree_growth *g, const struct tree_branch *at)
{
	const struct profile *p = g->b.tree->profile;

	if (g->order == TREE_CALLER)
		return g->below[at->segment] || g->found[at->segment] > at->node;
	return g->outwards[trie_at(profile_tree(p), at->node).parent];
}

bool tree_grow_leads(const struct tree_growth *g, uint32_t node)
{
	/* By callee the root has no branches: stacks begin below it. */
	if (!node)
		return true;
	for (uint32_t place = g->first[node]; place; place = g->all[place].next)
		if (tree_grow_branch_leads(g, &g->all[place]))
			return true;
	return false;
}

/* ---- both ---- */

int tree_grow_begin(struct tree_growth **ret, struct tree *t, const struct profile *p,
                    const struct tree_opts *opts)
{
	struct tree_growth *g = calloc(1, sizeof(*g));
	int r;

	*ret = g;
	if (!g)
		return -ENOMEM;
	g->order = opts->order;
	g->event = opts->event;
	g->watched = opts->watched;
	g->n = 1;
	r = tree_begin(&g->b, t, p);
	if (r >= 0)
		r = g->order == TREE_CALLER ? tree_grow_callers(g) : tree_grow_callees(g);
	return r;
}

int tree_grow(struct tree_growth *g, uint32_t node)
{
	int r;

	if (ARRAY_ROOM_ZEROED(&g->grown, &g->grown_capacity, (size_t)node + 1) < 0 ||
	    ARRAY_ROOM_ZEROED(&g->first, &g->first_capacity, (size_t)node + 1) < 0)
		return -ENOMEM;
	if (g->grown[node])
		return 0;
	g->grown[node] = true;
	r = g->order == TREE_CALLER ? tree_grow_inwards(g, node) : tree_grow_outwards(g, node);
	return r < 0 ? r : tree_sort_children(&g->b, node);
}

/* The tree itself stays. */
void tree_grow_end(struct tree_growth *g)
{
	if (!g)
		return;
	tree_end(&g->b);
	free(g->all);
	free(g->first);
	free(g->grown);
	free(g->totals);
	free(g->own);
	free(g->wanted);
	free(g->child);
	free(g->next);
	free(g->found);
	free(g->below);
	free(g->place);
	free(g->outwards);
	free(g);
}
