// SPDX-License-Identifier: MIT
/*
 * pair_tree.c: see pair_tree.h. Each side's tree grows by itself (tree.h), and its nodes are put
 * into one trie by the names on their way: several of one side may be one node here.
 */
#include "view/pair_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void pair_tree_free(struct pair_tree *t)
{
	for (size_t side = 0; side < 2; side++) {
		tree_grow_end(t->side[side].growth);
		tree_free(&t->side[side].tree);
	}
	free(t->nodes);
	free(t->parts);
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

/* Adds a node of one side to the node that stands for both. -ENOMEM. */
static int pair_add(struct pair_tree *t, uint32_t id, size_t side, uint32_t node)
{
	const struct tree_node *n = &t->side[side].tree.nodes[node];
	struct pair_node *to = &t->nodes[id];

	if (ARRAY_ROOM(&t->parts, &t->parts_capacity, t->n_parts + 1) < 0)
		return -ENOMEM;
	to->total.weight[side] += n->total;
	to->total.samples[side] += n->total_samples;
	to->self[side] += n->self;
	to->kind = profile_kind_of(to->kind, n->kind);
	t->parts[t->n_parts] = (struct pair_part){ node, to->first[side] };
	to->first[side] = (uint32_t)t->n_parts++;
	return 0;
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

/* Adds the children of one side's node. -ENOMEM; -ECANCELED. */
static int pair_grow_part(struct pair_tree *t, uint32_t id, size_t side, uint32_t node)
{
	struct pair_side *from = &t->side[side];
	struct buf key = { 0 };
	int r = tree_grow(from->growth, node);
	uint32_t child = r < 0 ? 0 : from->tree.nodes[node].first_child;

	for (; child && r >= 0; child = from->tree.nodes[child].next_sibling) {
		uint32_t to = pair_node(t, id, pair_name(t, &from->tree, child, &key));

		r = to == TRIE_FAILED ? -ENOMEM : pair_add(t, to, side, child);
	}
	buf_free(&key);
	return r;
}

int pair_tree_grow(struct pair_tree *t, uint32_t node)
{
	size_t children = t->n;
	int r = 0;

	if (t->nodes[node].grown)
		return 0;
	for (size_t side = 0; side < 2; side++)
		for (uint32_t at = t->nodes[node].first[side]; at && r >= 0; at = t->parts[at].next)
			r = pair_grow_part(t, node, side, t->parts[at].node);
	t->nodes[node].children = (uint32_t)children;
	t->nodes[node].n_children = (uint32_t)(t->n - children);
	t->nodes[node].grown = r >= 0;
	return r;
}

bool pair_tree_leads(const struct pair_tree *t, uint32_t node)
{
	for (size_t side = 0; side < 2; side++)
		for (uint32_t at = t->nodes[node].first[side]; at; at = t->parts[at].next)
			if (tree_grow_leads(t->side[side].growth, t->parts[at].node))
				return true;
	return false;
}

/* -ENOMEM; -ECANCELED. */
int pair_tree_begin(struct pair_tree *ret, const struct pane_scope *s, enum tree_order order)
{
	const struct pane_scope *const scope[2] = { s->base, s };
	int r = ARRAY_ROOM(&ret->nodes, &ret->capacity, 1);

	if (r < 0)
		return r;
	ret->nodes[ret->n++] = (struct pair_node){ .kind = PROFILE_UNKNOWN };
	ret->n_parts = 1;
	for (size_t side = 0; side < 2 && r >= 0; side++) {
		const struct tree_opts opts = { .order = order,
			                        .event = scope[side]->event,
			                        .watched = scope[side]->watched };

		r = tree_grow_begin(&ret->side[side].growth, &ret->side[side].tree,
		                    scope[side]->profile, &opts);
		if (r >= 0)
			r = pair_add(ret, 0, side, 0);
	}
	return r;
}

/* A node while its siblings are sorted. */
struct pair_sorted {
	uint32_t node;
	double key;
};

static int pair_compare(const void *pa, const void *pb)
{
	const struct pair_sorted *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
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

void pair_tree_fold(const struct pair_tree *t, const struct pane_scope *s, uint32_t node,
                    struct fold_node *ret)
{
	const struct pair_node *n = &t->nodes[node];

	*ret = (struct fold_node){
		.parent = n->parent,
		.name = n->name,
		.end = pair_is_end(n, s),
		.more = n->total.weight[0] > n->self[0] || n->total.weight[1] > n->self[1],
	};
}

/* Children that are large enough are gathered, sorted, and linked. -ENOMEM. */
int pair_tree_sort(const struct pair_tree *t, uint32_t node, const struct pair_order *order,
                   struct fold *ret)
{
	const struct pair_node *parent = &t->nodes[node];
	struct pair_sorted *sorted = calloc(parent->n_children + 1u, sizeof(*sorted));
	size_t n = 0;

	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = parent->children; i < parent->children + parent->n_children; i++) {
		struct compare_row row = { 0 };

		/* How sure it is, is told of the rows that are drawn: that costs more. */
		compare_figures(&row, order->compare, order->scope, &t->nodes[i].total);
		if (row.share > 0 && row.share * 100 >= order->percent_limit)
			sorted[n++] = (struct pair_sorted){ i, compare_key(&row, order->by) };
	}
	qsort(sorted, n, sizeof(*sorted), pair_compare);
	pair_link(ret, node, sorted, n);
	free(sorted);
	return 0;
}
