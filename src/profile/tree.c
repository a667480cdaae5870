// SPDX-License-Identifier: MIT
/*
 * tree.c: see tree.h. Stacks that differ only in addresses become one path here.
 *
 * The tree by caller begins with the outermost frames; the tree by callee turns stacks round and
 * begins where samples hit. Nodes are in one array; node 0 is the root, and a parent's index is
 * less than its children's. A path holds a name as often as it recurses.
 */
#include "profile/tree_make.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* Fills b->path with the frames of a stack, innermost first, and *ret with their number.
 * -ENOMEM. */
static int tree_path(struct tree_builder *b, uint32_t node, size_t *ret)
{
	const struct profile *p = b->tree->profile;
	size_t n = 0;

	for (; node != PROFILE_ROOT; node = profile_node_at(p, node).parent) {
		if (ARRAY_ROOM(&b->path, &b->path_capacity, n + 1) < 0)
			return -ENOMEM;
		b->path[n++] = profile_node_at(p, node).frame;
	}
	*ret = n;
	return 0;
}

/* The frame of the path's place i, from where the tree's root is. */
static uint32_t tree_frame(const struct tree_builder *b, enum tree_order order, size_t n, size_t i)
{
	return b->path[order == TREE_CALLER ? n - 1 - i : i];
}

/* Adds a row along its path. With a focus, the path begins at the first frame that is in focus, and
 * rows without one are left out. -ENOMEM. */
static int tree_add(struct tree_builder *b, const struct profile_row *row,
                    const struct tree_opts *opts)
{
	struct tree *t = b->tree;
	uint32_t at = 0;
	size_t n, i = 0;
	int r = tree_path(b, row->key.node, &n);

	/* Frames outside of the focus are left away, up to the first that is in it. */
	while (r >= 0 && opts->focus && i < n && !opts->focus[tree_frame(b, opts->order, n, i)])
		i++;
	if (r >= 0 && opts->focus && i == n)
		return 0;
	for (; r >= 0; i++) {
		t->nodes[at].total += row->weight;
		t->nodes[at].total_samples += row->samples;
		if (i == n)
			break;
		r = tree_child(b, at, tree_frame(b, opts->order, n, i), &at);
	}
	if (r < 0)
		return r;
	t->nodes[at].self += row->weight;
	t->nodes[at].self_samples += row->samples;
	return 0;
}

static bool tree_wants(const struct profile_row *row, const struct tree_opts *opts)
{
	return !opts->event || row->key.event == opts->event;
}

/* Row by row, each along its whole path. */
static int tree_by_rows(struct tree_builder *b, const struct tree_opts *opts)
{
	const struct profile *p = b->tree->profile;
	const size_t n = profile_n_rows(p);
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++)
		if (!watched_goes_on(opts->watched, i, n))
			r = -ECANCELED;
		else if (tree_wants(profile_row_at(p, i), opts))
			r = tree_add(b, profile_row_at(p, i), opts);
	return r;
}

/* Gives each of the profile's nodes its node in the tree; 0 for those that no wanted row stands
 * below. In both a parent's id is less than its child's. First each node is marked that a wanted
 * row stands below; then, from the root on, marked nodes get their place. */
static int tree_place(struct tree_builder *b, const struct tree_opts *opts, uint32_t *place)
{
	const struct profile *p = b->tree->profile;
	const struct trie *tree = profile_tree(p);
	int r = 0;

	for (size_t i = 0; i < profile_n_rows(p); i++)
		place[profile_row_at(p, i)->key.node] |= tree_wants(profile_row_at(p, i), opts);
	for (uint32_t i = tree->n; i > 0; i--)
		place[trie_at(tree, i).parent] |= place[i];
	place[PROFILE_ROOT] = 0;
	for (uint32_t i = 1; i <= tree->n && r >= 0; i++) {
		struct trie_node node = trie_at(tree, i);

		if (!watched_goes_on(opts->watched, i, tree->n))
			r = -ECANCELED;
		else if (place[i])
			r = tree_child(b, place[node.parent], node.key, &place[i]);
	}
	return r;
}

/* Makes totals of what each node has itself: children come behind their parents, so one pass from
 * the end adds all up. */
static void tree_add_up(struct tree *t)
{
	for (size_t i = t->n; i-- > 0;) {
		struct tree_node *node = &t->nodes[i], *parent = &t->nodes[node->parent];

		node->total += node->self;
		node->total_samples += node->self_samples;
		if (i) {
			parent->total += node->total;
			parent->total_samples += node->total_samples;
		}
	}
}

/* The whole tree from the outermost frames on is the profile's own, with paths of equal names put
 * together: each of its nodes is looked at once. */
static int tree_by_nodes(struct tree_builder *b, const struct tree_opts *opts)
{
	struct tree *t = b->tree;
	const struct profile *p = t->profile;
	uint32_t *place = calloc(profile_n_nodes(p) + 1, sizeof(*place));
	int r = place ? tree_place(b, opts, place) : -ENOMEM;

	for (size_t i = 0; i < profile_n_rows(p) && r >= 0; i++) {
		const struct profile_row *row = profile_row_at(p, i);

		if (tree_wants(row, opts)) {
			t->nodes[place[row->key.node]].self += row->weight;
			t->nodes[place[row->key.node]].self_samples += row->samples;
		}
	}
	if (r >= 0)
		tree_add_up(t);
	free(place);
	return r;
}

/* For each node of the profile, which node says what a stack that ends there adds to. By caller it
 * is the one inwards of the outermost function of the focus (is_next), or that function where there
 * is none; by callee it is the innermost function. 0: the stack has none. */
static void tree_next_keys(const struct profile *p, const struct tree_opts *opts, uint32_t *key,
                           unsigned char *is_next)
{
	const struct trie *tree = profile_tree(p);

	for (uint32_t i = 1; i <= tree->n; i++) {
		const struct trie_node node = trie_at(tree, i);

		key[i] = key[node.parent];
		if (opts->order == TREE_CALLEE ? opts->focus[node.key]
		                               : !key[i] && opts->focus[node.key]) {
			key[i] = i;
		} else if (opts->order == TREE_CALLER && key[i] == node.parent && key[i] &&
		           !is_next[key[i]]) {
			key[i] = i;
			is_next[i] = 1;
		}
	}
}

/* The tree's node for what a node of the profile is the key of. -ENOMEM. */
static int tree_next_place(struct tree_builder *b, const struct tree_opts *opts, uint32_t key,
                           bool is_next, uint32_t *ret)
{
	const struct trie *tree = profile_tree(b->tree->profile);
	const struct trie_node at = trie_at(tree, key);
	const bool callee = opts->order == TREE_CALLEE;
	/* By callee the key is the function, by caller what is behind it. */
	uint32_t function = callee || !is_next ? key : at.parent;
	uint32_t next = callee ? at.parent : is_next ? key : PROFILE_ROOT;
	int r = tree_child(b, 0, trie_at(tree, function).key, ret);

	return r < 0 || next == PROFILE_ROOT ? r
	                                     : tree_child(b, *ret, trie_at(tree, next).key, ret);
}

/* Of stacks with a function of the focus, it and what is next to it: each node of the profile is
 * looked at once, and each row. */
static int tree_next(struct tree_builder *b, const struct tree_opts *opts)
{
	struct tree *t = b->tree;
	const struct profile *p = t->profile;
	size_t n = profile_n_nodes(p) + 1;
	uint32_t *key = calloc(n, sizeof(*key)), *place = calloc(n, sizeof(*place));
	unsigned char *is_next = calloc(n, sizeof(*is_next));
	int r = key && place && is_next ? 0 : -ENOMEM;

	if (r >= 0)
		tree_next_keys(p, opts, key, is_next);
	for (size_t i = 0; i < profile_n_rows(p) && r >= 0; i++) {
		const struct profile_row *row = profile_row_at(p, i);
		uint32_t at = key ? key[row->key.node] : 0;

		if (!watched_goes_on(opts->watched, i, profile_n_rows(p)))
			r = -ECANCELED;
		if (r < 0 || !at || !tree_wants(row, opts))
			continue;
		if (!place[at])
			r = tree_next_place(b, opts, at, is_next[at], &place[at]);
		if (r < 0)
			break;
		t->nodes[place[at]].self += row->weight;
		t->nodes[place[at]].self_samples += row->samples;
	}
	if (r >= 0)
		tree_add_up(t);
	free(key);
	free(place);
	free(is_next);
	return r;
}

/* Sorts the children of every node. -ENOMEM; -ECANCELED. */
static int tree_sort(struct tree_builder *b, struct watched *watched)
{
	int r = 0;

	for (size_t i = 0; i < b->tree->n && r >= 0; i++)
		r = watched_goes_on(watched, i, b->tree->n) ? tree_sort_children(b, (uint32_t)i)
		                                            : -ECANCELED;
	return r;
}

/* The branches that are as heavy as opts->least: of many and deep stacks they are a small part. A
 * node's children stand behind it, so its total is whole when its turn comes. */
static int tree_by_least(struct tree *t, const struct profile *p, const struct tree_opts *opts)
{
	struct tree_growth *g;
	int r = tree_grow_begin(&g, t, p, opts);

	for (uint32_t i = 0; r >= 0 && i < t->n; i++) {
		struct tree_node *node = &t->nodes[i];

		if (!i || node->total >= opts->least) {
			r = tree_grow(g, i);
			continue;
		}
		node->self = node->total;
		node->self_samples = node->total_samples;
	}
	tree_grow_end(g);
	return r;
}

/* The whole tree by caller is made from the profile's own tree, which is faster; with a focus, or
 * by callee, each stack is walked. */
static int tree_whole(struct tree *t, const struct profile *p, const struct tree_opts *opts)
{
	struct tree_builder b;
	int r = tree_begin(&b, t, p);

	if (r >= 0 && opts->focus && opts->next_only)
		r = tree_next(&b, opts);
	else if (r >= 0 && opts->order == TREE_CALLER && !opts->focus)
		r = tree_by_nodes(&b, opts);
	else if (r >= 0)
		r = tree_by_rows(&b, opts);
	if (r >= 0)
		r = tree_sort(&b, opts->watched);
	tree_end(&b);
	return r;
}

int tree_build(struct tree *ret, const struct profile *p, const struct tree_opts *opts)
{
	struct tree t = { 0 };
	int r = opts->least && !opts->focus ? tree_by_least(&t, p, opts) : tree_whole(&t, p, opts);

	if (r < 0) {
		tree_free(&t);
		return r;
	}
	*ret = t;
	return 0;
}

void tree_free(struct tree *t)
{
	free(t->nodes);
	*t = (struct tree){ 0 };
}
