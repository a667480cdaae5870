// SPDX-License-Identifier: MIT
/*
 * tree.c: see tree.h. Stacks that differ only in addresses become one path here.
 *
 * The tree by caller begins with the outermost frames; the tree by callee turns stacks round and
 * begins where samples hit. Nodes are in one array; node 0 is the root, and a parent's index is
 * less than its children's. A path holds a name as often as it recurses.
 */
#include "profile/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/trie.h"
#include "profile/segments.h"

struct tree_builder {
	struct tree *tree;
	size_t capacity;
	struct map labels;     /* object << 32 | symbol -> label */
	uint32_t *frame_label; /* of the profile's frames; 0: not asked for yet */
	struct trie ids;       /* of labels: the ids of the tree's nodes */
	uint32_t *path;        /* frames of one stack, innermost first */
	size_t path_capacity;
};

/* Frames of one function have the same label, whatever their addresses. Labels begin at 1. */
static int tree_label(struct tree_builder *b, uint32_t frame, uint32_t *ret)
{
	const struct profile_frame *f;
	bool is_new;
	uint64_t *slot;

	if (!b->frame_label[frame]) {
		f = profile_frame_at(b->tree->profile, frame);
		slot = map_slot(&b->labels, (uint64_t)f->object << 32 | f->symbol, &is_new);
		if (!slot)
			return -ENOMEM;
		/* The map holds the new label already, so its number is the count. */
		if (is_new)
			*slot = b->labels.n;
		b->frame_label[frame] = (uint32_t)*slot;
	}
	*ret = b->frame_label[frame];
	return 0;
}

/* The child of parent for a frame, made when new. */
static int tree_child(struct tree_builder *b, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	struct tree *t = b->tree;
	const struct profile_frame *f = profile_frame_at(t->profile, frame);
	uint32_t label, id;

	if (tree_label(b, frame, &label) < 0 || ARRAY_ROOM(&t->nodes, &b->capacity, t->n + 1) < 0)
		return -ENOMEM;
	id = trie_put(&b->ids, parent, label);
	if (id == TRIE_FAILED)
		return -ENOMEM;
	/* trie_put numbers nodes in the order in which they are made, as the array does. */
	if (id == t->n) {
		t->nodes[t->n++] =
		        (struct tree_node){ .parent = parent,
			                    .object = f->object,
			                    .symbol = f->symbol,
			                    .kind = f->kind,
			                    .next_sibling = t->nodes[parent].first_child };
		t->nodes[parent].first_child = id;
	}
	t->nodes[id].kind = profile_kind_of(t->nodes[id].kind, f->kind);
	*ret = id;
	return 0;
}

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
	/* Children come behind their parents, so one pass from the end adds all up. */
	for (size_t i = t->n; i-- > 0;) {
		struct tree_node *node = &t->nodes[i], *parent = &t->nodes[node->parent];

		node->total += node->self;
		node->total_samples += node->self_samples;
		if (i) {
			parent->total += node->total;
			parent->total_samples += node->total_samples;
		}
	}
	free(place);
	return r;
}

/* What tree_by_least knows of the profile's nodes, and which of them stand for one of the tree. */
struct tree_branches {
	struct segments segments;
	uint64_t *totals;       /* by segment: of wanted rows, in it and below it */
	unsigned char *wanted;  /* by the same: such a row is there */
	uint32_t *child, *next; /* by the same: the first wanted one below it, and beside it; 0 */
	struct tree_branch {
		uint32_t node, segment; /* of the profile */
		uint32_t next;          /* the place of another one, 0: none */
	} * all;                        /* n of them; [0] is the root's */
	uint32_t *first;                /* by node of the tree: a place */
	size_t n, capacity, first_capacity;
};

/* Sums the rows up. A segment's number is greater than that of the one above it. -ENOMEM. */
static int tree_branch_totals(struct tree_branches *b, const struct profile *p,
                              const struct tree_opts *opts)
{
	size_t n;
	int r = segments_of(&b->segments, p);

	if (r < 0)
		return r;
	n = (size_t)b->segments.n + 1;
	b->totals = calloc(n, sizeof(*b->totals));
	b->wanted = calloc(n, sizeof(*b->wanted));
	b->child = calloc(n, sizeof(*b->child));
	b->next = calloc(n, sizeof(*b->next));
	if (!b->totals || !b->wanted || !b->child || !b->next)
		return -ENOMEM;
	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		const uint32_t segment = segments_at(&b->segments, row->key.node);

		if (!tree_wants(row, opts))
			continue;
		b->totals[segment] += row->weight;
		b->wanted[segment] = 1;
	}
	for (uint32_t i = b->segments.n; i > 0; i--) {
		const uint32_t above = b->segments.above[i];

		if (!b->wanted[i])
			continue;
		b->totals[above] += b->totals[i];
		b->wanted[above] = 1;
		b->next[i] = b->child[above];
		b->child[above] = i;
	}
	return 0;
}

/* One more node of the profile that stands for a node of the tree. -ENOMEM. */
static int tree_branch_add(struct tree_branches *b, uint32_t id, uint32_t node, uint32_t segment)
{
	if (ARRAY_ROOM(&b->all, &b->capacity, b->n + 1) < 0 ||
	    ARRAY_ROOM_ZEROED(&b->first, &b->first_capacity, (size_t)id + 1) < 0)
		return -ENOMEM;
	b->all[b->n] = (struct tree_branch){ node, segment, b->first[id] };
	b->first[id] = (uint32_t)b->n++;
	return 0;
}

/* A node of the profile, which is of this segment, is below one of the tree. -ENOMEM. */
static int tree_branch_to(struct tree_builder *b, struct tree_branches *branches, uint32_t id,
                          uint32_t node, uint32_t segment)
{
	const uint64_t total = branches->totals[segment];
	uint32_t to;

	if (tree_child(b, id, trie_at(branches->segments.tree, node).key, &to) < 0 ||
	    tree_branch_add(branches, to, node, segment) < 0)
		return -ENOMEM;
	b->tree->nodes[to].total += total;
	b->tree->nodes[to].self += total;
	b->tree->nodes[id].self -= total;
	return 0;
}

/* Gives a node of the tree its children, whose totals then are whole, and its self. -ENOMEM. */
static int tree_branch_out(struct tree_builder *b, struct tree_branches *branches, uint32_t id)
{
	const struct segments *s = &branches->segments;
	int r = 0;

	for (uint32_t place = branches->first[id], more = 1; more && r >= 0; place = more) {
		const struct tree_branch at = branches->all[place];
		uint32_t child;

		more = at.next;
		if (at.node != s->last[at.segment]) {
			r = tree_branch_to(b, branches, id, at.node + 1, at.segment);
			continue;
		}
		for (child = branches->child[at.segment]; child && r >= 0;
		     child = branches->next[child])
			r = tree_branch_to(b, branches, id, segments_first(s, child), child);
	}
	return r;
}

/* The branches that are as heavy as opts->least, from the root on: of many and deep stacks they are
 * a small part. A node's children stand behind it, so its total is whole when its turn comes. */
static int tree_by_least(struct tree_builder *b, const struct tree_opts *opts)
{
	struct tree *t = b->tree;
	struct tree_branches branches = { .n = 0 };
	int r = tree_branch_totals(&branches, t->profile, opts);

	if (r >= 0) {
		t->nodes[0].total = t->nodes[0].self = branches.totals[0];
		r = tree_branch_add(&branches, 0, PROFILE_ROOT, 0);
	}
	for (uint32_t i = 0; i < t->n && r >= 0; i++)
		if (!i || t->nodes[i].total >= opts->least)
			r = tree_branch_out(b, &branches, i);
	segments_free(&branches.segments);
	free(branches.totals);
	free(branches.wanted);
	free(branches.child);
	free(branches.next);
	free(branches.all);
	free(branches.first);
	return r;
}

/* The heaviest first; then names, so that the order is the same in every run. */
static int tree_compare(const void *pa, const void *pb, void *ctx)
{
	const struct tree *t = ctx;
	const struct tree_node *a = &t->nodes[*(const uint32_t *)pa];
	const struct tree_node *b = &t->nodes[*(const uint32_t *)pb];
	int order;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	order = strcmp(profile_text(t->profile, a->symbol), profile_text(t->profile, b->symbol));
	if (order)
		return order;
	return strcmp(profile_text(t->profile, profile_object_at(t->profile, a->object)->path),
	              profile_text(t->profile, profile_object_at(t->profile, b->object)->path));
}

/* Sorts the children of every node. -ENOMEM; -ECANCELED. */
static int tree_sort(struct tree *t, struct watched *watched)
{
	uint32_t *ids = calloc(t->n, sizeof(*ids));
	size_t parent = 0;

	if (!ids)
		return -ENOMEM;
	for (; parent < t->n && watched_goes_on(watched, parent, t->n); parent++) {
		size_t n = 0;

		for (uint32_t c = t->nodes[parent].first_child; c; c = t->nodes[c].next_sibling)
			ids[n++] = c;
		if (n < 2)
			continue;
		qsort_r(ids, n, sizeof(*ids), tree_compare, t);
		t->nodes[parent].first_child = ids[0];
		for (size_t i = 0; i < n; i++)
			t->nodes[ids[i]].next_sibling = i + 1 < n ? ids[i + 1] : 0;
	}
	free(ids);
	return parent < t->n ? -ECANCELED : 0;
}

/* The whole tree by caller is made from the profile's own tree, which is faster; with a focus, or
 * by callee, each stack is walked. */
int tree_build(struct tree *ret, const struct profile *p, const struct tree_opts *opts)
{
	struct tree t = { .profile = p, .n = 1 };
	struct tree_builder b = { .tree = &t, .capacity = 256 };
	int r = -ENOMEM;

	t.nodes = calloc(b.capacity, sizeof(*t.nodes));
	b.frame_label = calloc(profile_n_frames(p) + 1, sizeof(*b.frame_label));
	if (t.nodes && b.frame_label && opts->order == TREE_CALLER && !opts->focus)
		r = opts->least ? tree_by_least(&b, opts) : tree_by_nodes(&b, opts);
	else if (t.nodes && b.frame_label)
		r = tree_by_rows(&b, opts);
	if (r >= 0)
		r = tree_sort(&t, opts->watched);
	map_free(&b.labels);
	free(b.frame_label);
	trie_free(&b.ids);
	free(b.path);
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
