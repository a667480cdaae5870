// SPDX-License-Identifier: MIT
// pane_tree.c: the call tree. Which branches are open is known to fold.c. Of many stacks it is
// large: the children of a node are made when they are looked at.
#include <errno.h>
#include <stdlib.h>

#include "view/fold.h"
#include "view/pane.h"

struct tree_pane {
	struct pane pane;
	enum tree_order order;
	struct tree tree;
	struct tree_growth *growth; /* of the tree, as far as it was looked at */
	struct fold fold;           /* its lines are the pane's */
};

static void tree_pane_free(struct pane *p)
{
	struct tree_pane *t = (struct tree_pane *)p;

	tree_grow_end(t->growth);
	tree_free(&t->tree);
	fold_free(&t->fold);
}

/* A node that is large enough, else 0. Siblings are sorted: behind one that is not there is
 * none. */
static uint32_t tree_large(const struct tree *t, const struct pane *p, const struct pane_scope *s,
                           uint32_t node)
{
	uint64_t total = t->nodes[node].total;

	return total && pane_percent(total, s->weight) >= p->opts->percent_limit ? node : 0;
}

/* What fold.c knows of the nodes from one on, but for their children. */
static void tree_pane_nodes(struct tree_pane *t, size_t from)
{
	const struct pane *p = &t->pane;

	for (size_t i = from; i < t->tree.n; i++) {
		const struct tree_node *n = &t->tree.nodes[i];

		t->fold.nodes[i] = (struct fold_node){
			.parent = n->parent,
			.next_sibling = tree_large(&t->tree, p, p->scope, n->next_sibling),
			.name = n->symbol,
			/* Half of what a node has is its own: here is what the way led to. */
			.end = n->self * 2 >= n->total,
			.more = n->total > n->self,
		};
	}
}

/* And the children of one, which are there. */
static void tree_pane_link(struct tree_pane *t, uint32_t node)
{
	struct fold_node *n = &t->fold.nodes[node];

	n->first_child =
	        tree_large(&t->tree, &t->pane, t->pane.scope, t->tree.nodes[node].first_child);
	n->more = n->first_child;
	n->grown = true;
}

/* For fold.c: makes a node's children, and how those that are shown hang together. -ENOMEM;
 * -ECANCELED. */
static int tree_pane_grow(void *ctx, uint32_t node)
{
	struct tree_pane *t = ctx;
	size_t old = t->fold.n;
	int r = tree_grow(t->growth, node);

	if (r >= 0)
		r = fold_more(&t->fold, t->tree.n);
	if (r < 0)
		return r;
	tree_pane_nodes(t, old);
	tree_pane_link(t, node);
	return 0;
}

/* For fold.c: whether something that passes may be below a node. */
static bool tree_pane_leads(const void *ctx, uint32_t node)
{
	return tree_grow_leads(((const struct tree_pane *)ctx)->growth, node);
}

/* Names are looked through once, however many nodes have them, and stacks once. */
static int tree_pane_filter(struct pane *p)
{
	struct tree_pane *t = (struct tree_pane *)p;
	int r = 0;

	for (uint32_t i = 0; p->filter.n && i < t->fold.n_names; i++)
		t->fold.passes[i] = pane_passes(p, pane_symbol(p->scope->profile, i));
	if (p->filter.n)
		r = tree_grow_seek(t->growth, t->fold.passes);
	if (r < 0)
		return r;
	fold_filter(&t->fold, p->filter.n, &p->at);
	return pane_fold(p, &t->fold);
}

static int tree_pane_reach(struct pane *p, size_t n)
{
	return pane_fold_reach(p, &((struct tree_pane *)p)->fold, n);
}

static const struct pane_kind tree_caller_kind;

static void tree_pane_heading(struct pane *p, const struct view_screen *s, unsigned row)
{
	unsigned at = pane_shares(s);

	s->put(s->ctx, row, 0, VIEW_HEADING,
	       p->kind == &tree_caller_kind && at == PANE_TWO ? "   Total     Self" : "   Total");
	pane_name(s, row, at + 1, s->columns - at - 1, VIEW_HEADING, p->kind->name);
}

/* Draws a node: its shares, whether it is open, and its function with the object. */
static void tree_pane_line(struct pane *p, const struct view_screen *s, unsigned row, size_t i,
                           unsigned style)
{
	struct tree_pane *t = (struct tree_pane *)p;
	const struct fold_line *l = &t->fold.lines[i];
	const struct tree_node *n = &t->tree.nodes[l->node];
	const struct profile *profile = p->scope->profile;
	unsigned shares = pane_shares(s), at = shares + pane_indent(s, shares, l->depth);

	pane_share(s, row, 0, style, n->total, p->scope->weight);
	if (p->kind == &tree_caller_kind && shares == PANE_TWO)
		pane_share(s, row, 9, style, n->self, p->scope->weight);
	pane_mark(p, s, row, style, n->object, n->symbol);
	if (at + 4 > s->columns)
		return;
	s->put(s->ctx, row, at, style, pane_fold_sign(&t->fold, l->node));
	pane_name_in(s, row, at + 2, s->columns - at - 3, style, pane_symbol(profile, n->symbol),
	             pane_in(n->kind, pane_object(profile, n->object)));
}

/* Opens and closes branches. */
static int tree_pane_key(struct pane *p, int key)
{
	return pane_fold_key(p, &((struct tree_pane *)p)->fold, key);
}

/* Missing frames are no functions. */
static bool tree_pane_function(struct pane *p, size_t i, uint32_t *object, uint32_t *symbol)
{
	struct tree_pane *t = (struct tree_pane *)p;
	const struct tree_node *n = &t->tree.nodes[t->fold.lines[i].node];

	*object = n->object;
	*symbol = n->symbol;
	return n->kind != PROFILE_MISSING;
}

/* For fold.c: whether two nodes of two profiles are of the same function. */
static bool tree_pane_same(const void *other, uint32_t its, const void *ctx, uint32_t node)
{
	const struct tree *a = &((const struct tree_pane *)other)->tree;
	const struct tree *b = &((const struct tree_pane *)ctx)->tree;
	const struct tree_node *m = &a->nodes[its], *n = &b->nodes[node];

	return m->kind == n->kind &&
	       pane_same_symbol(a->profile, m->symbol, b->profile, n->symbol) &&
	       pane_same_object(a->profile, m->object, b->profile, n->object);
}

/* The branches are open that are open in the old tree. Without memory for that all are closed. */
static void tree_pane_adopt(struct pane *p, const struct pane *from)
{
	struct tree_pane *t = (struct tree_pane *)p;
	const struct tree_pane *old = (const struct tree_pane *)from;
	uint32_t here = fold_carry(&t->fold, &old->fold, fold_at(&old->fold, from->at));

	p->at = 0;
	tree_pane_filter(p);
	pane_fold_adopt(p, &t->fold, from, here);
}

/* Begins the tree. -ENOMEM; -ECANCELED. */
static int tree_pane_build(struct tree_pane *t)
{
	struct pane *p = &t->pane;
	const struct tree_opts opts = { .order = t->order,
		                        .event = p->scope->event,
		                        .watched = p->scope->watched };
	int r = tree_grow_begin(&t->growth, &t->tree, p->scope->profile, &opts);

	if (r >= 0)
		r = fold_new(&t->fold, 1, profile_n_strings(p->scope->profile) + 1);
	t->fold.grow = tree_pane_grow;
	t->fold.leads = tree_pane_leads;
	t->fold.ahead = p->opts->percent_limit > 0;
	t->fold.same = tree_pane_same;
	t->fold.ctx = t;
	if (r >= 0)
		r = fold_grow(&t->fold, 0);
	return r < 0 ? r : tree_pane_filter(p);
}

static struct pane *tree_pane_again(const struct pane *p, struct pane_scope *s)
{
	return pane_tree(p->opts, s, ((const struct tree_pane *)p)->order);
}

static const struct pane_key tree_pane_own[] = {
	PANE_FOLD_KEYS("that most samples went"),
	{ { 0 }, NULL },
};

#define TREE_KEYS "Enter open/close  E all  C none  H hottest  c callers  / filter  ? help"

static const struct pane_kind tree_caller_kind = {
	.name = "callers, and below each what it called",
	.keys = TREE_KEYS,
	.free = tree_pane_free,
	.heading = tree_pane_heading,
	.line = tree_pane_line,
	.filter = tree_pane_filter,
	.again = tree_pane_again,
	.reach = tree_pane_reach,
	.adopt = tree_pane_adopt,
	.own = tree_pane_own,
	.key = tree_pane_key,
	.function = tree_pane_function,
};

static const struct pane_kind tree_callee_kind = {
	.name = "callees, and below each who called it",
	.keys = TREE_KEYS,
	.free = tree_pane_free,
	.heading = tree_pane_heading,
	.line = tree_pane_line,
	.filter = tree_pane_filter,
	.again = tree_pane_again,
	.reach = tree_pane_reach,
	.adopt = tree_pane_adopt,
	.own = tree_pane_own,
	.key = tree_pane_key,
	.function = tree_pane_function,
};

/* All branches are closed at first. */
struct pane *pane_tree(const struct view_opts *opts, struct pane_scope *s, enum tree_order order)
{
	struct tree_pane *t =
	        pane_new(sizeof(*t), order == TREE_CALLER ? &tree_caller_kind : &tree_callee_kind,
	                 opts, s);

	if (!t)
		return NULL;
	t->order = order;
	if (tree_pane_build(t) >= 0)
		return &t->pane;
	pane_free(&t->pane);
	return NULL;
}
