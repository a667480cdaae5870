// SPDX-License-Identifier: MIT
/*
 * pair_tree.c: see pair_tree.h. Each side's tree is built by itself (tree.h) and its nodes are put
 * into one trie by the names on their way.
 */
#include "view/pair_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void pair_tree_free(struct pair_tree *t)
{
	free(t->nodes);
	trie_free(&t->ways);
	intern_free(&t->names);
	*t = (struct pair_tree){ 0 };
}

/* A name is "object\0symbol\0", behind a character that tells frames that are missing. */
const char *pair_object(const struct pair_tree *t, uint32_t name)
{
	return intern_get(&t->names, name) + 1;
}

const char *pair_symbol(const struct pair_tree *t, uint32_t name)
{
	const char *object = pair_object(t, name);

	return object + strlen(object) + 1;
}

/* The number of a node's name. INTERN_FAILED. */
static uint32_t pair_name(struct pair_tree *t, const struct tree *from, uint32_t node,
                          struct buf *key)
{
	const struct tree_node *n = &from->nodes[node];
	bool missing = n->kind == PROFILE_MISSING;
	const char *object = missing ? "" : pane_object(from->profile, n->object);
	const char *symbol = pane_symbol(from->profile, n->symbol);

	buf_clear(key);
	buf_put_text(key, missing ? "!" : ".");
	buf_put(key, object, strlen(object) + 1);
	buf_put(key, symbol, strlen(symbol) + 1);
	return key->failed ? INTERN_FAILED : intern_bytes(&t->names, key->bytes, key->n);
}

/* Adds what a node of one side has to the node that stands for both. */
static void pair_add(struct pair_node *to, const struct tree_node *n, size_t side)
{
	to->total.weight[side] += n->total;
	to->total.samples[side] += n->total_samples;
	to->self[side] += n->self;
	to->kind = profile_kind_of(to->kind, n->kind);
}

/* The node below parent with a name. TRIE_FAILED. */
static uint32_t pair_node(struct pair_tree *t, uint32_t parent, uint32_t name)
{
	uint32_t id = name == INTERN_FAILED ? TRIE_FAILED : trie_put(&t->ways, parent, name);

	if (id == TRIE_FAILED || id < t->n)
		return id;
	if (ARRAY_ROOM(&t->nodes, &t->capacity, t->n + 1) < 0)
		return TRIE_FAILED;
	t->nodes[t->n++] =
	        (struct pair_node){ .parent = parent, .name = name, .kind = PROFILE_UNKNOWN };
	return id;
}

/* Adds one side's tree. A parent's number is less than its children's. -ENOMEM. */
static int pair_add_side(struct pair_tree *t, const struct pane_scope *s, enum tree_order order,
                         size_t side)
{
	const struct tree_opts opts = { .order = order, .event = s->event, .watched = s->watched };
	struct tree from = { 0 };
	struct buf key = { 0 };
	uint32_t *to = NULL;
	int r = tree_build(&from, s->profile, &opts);

	if (r >= 0 && !(to = calloc(from.n, sizeof(*to))))
		r = -ENOMEM;
	if (r >= 0)
		pair_add(&t->nodes[0], &from.nodes[0], side);
	for (uint32_t i = 1; r >= 0 && i < from.n; i++) {
		to[i] = pair_node(t, to[from.nodes[i].parent], pair_name(t, &from, i, &key));
		if (to[i] == TRIE_FAILED)
			r = -ENOMEM;
		else
			pair_add(&t->nodes[to[i]], &from.nodes[i], side);
	}
	free(to);
	buf_free(&key);
	tree_free(&from);
	return r;
}

int pair_tree_build(struct pair_tree *ret, const struct pane_scope *s, enum tree_order order)
{
	int r = ARRAY_ROOM(&ret->nodes, &ret->capacity, 1);

	if (r < 0)
		return r;
	ret->nodes[ret->n++] = (struct pair_node){ 0 };
	r = pair_add_side(ret, s->base, order, 0);
	return r < 0 ? r : pair_add_side(ret, s, order, 1);
}

/* A node while its siblings are sorted. */
struct pair_sorted {
	uint32_t node;
	double key;
};

static int pair_order(const void *pa, const void *pb)
{
	const struct pair_sorted *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* By node: where its children begin in a list of all nodes by parent; [n]: the end. NULL: out of
 * memory. */
static uint32_t *pair_children(const struct pair_tree *t)
{
	uint32_t *first = calloc(t->n + 2, sizeof(*first));

	for (size_t i = 1; first && i < t->n; i++)
		first[t->nodes[i].parent + 1]++;
	for (size_t i = 1; first && i <= t->n; i++)
		first[i] += first[i - 1];
	return first;
}

/* Links n siblings, sorted, below their parent. */
static void pair_link(struct fold *f, uint32_t parent, const struct pair_sorted *at, size_t n)
{
	f->nodes[parent].first_child = n ? at[0].node : 0;
	for (size_t i = 0; i < n; i++)
		f->nodes[at[i].node].next_sibling = i + 1 < n ? at[i + 1].node : 0;
}

/* Where the way down ends: half of what the node changed by is its own. */
static bool pair_is_end(const struct pair_node *n, const struct pane_scope *s)
{
	double self =
	        pane_percent(n->self[1], s->weight) - pane_percent(n->self[0], s->base->weight);
	double total = pane_percent(n->total.weight[1], s->weight) -
	               pane_percent(n->total.weight[0], s->base->weight);

	return (self < 0 ? -self : self) * 2 >= (total < 0 ? -total : total);
}

/* Children are gathered by parent, sorted, and linked. */
int pair_tree_sort(const struct pair_tree *t, const struct view_compare *c,
                   const struct pane_scope *s, enum compare_by by, double percent_limit,
                   struct fold *ret)
{
	uint32_t *first = pair_children(t);
	struct pair_sorted *sorted = calloc(t->n + 1, sizeof(*sorted));
	/* By node: how many of its children are in the list. */
	uint32_t *n = calloc(t->n + 1, sizeof(*n));
	int r;

	for (uint32_t i = 1; first && sorted && n && i < t->n; i++) {
		const struct pair_node *node = &t->nodes[i];
		struct compare_row row = { 0 };

		ret->nodes[i].parent = node->parent;
		ret->nodes[i].name = node->name;
		ret->nodes[i].end = pair_is_end(node, s);
		/* How sure it is, is told of the rows that are drawn: that costs more. */
		compare_figures(&row, c, s, &node->total);
		if (row.share > 0 && row.share * 100 >= percent_limit)
			sorted[first[node->parent] + n[node->parent]++] =
			        (struct pair_sorted){ i, compare_key(&row, by) };
	}
	for (uint32_t i = 0; first && sorted && n && i < t->n; i++) {
		qsort(sorted + first[i], n[i], sizeof(*sorted), pair_order);
		pair_link(ret, i, sorted + first[i], n[i]);
	}
	r = first && sorted && n ? 0 : -ENOMEM;
	free(n);
	free(sorted);
	free(first);
	return r;
}
