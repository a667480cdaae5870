// SPDX-License-Identifier: MIT
// pane_compare_tree.c: the call tree of both sides of a comparison. Which branches are open is
// known to fold.c, what a node has on each side to pair_tree.c. As in pane_tree.c, the children of
// a node are made when they are looked at.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/pair_tree.h"
#include "view/pane_compare.h"

struct pair_pane {
	struct pane pane;
	const struct view_compare *c;
	struct pair_tree tree;
	struct fold fold; /* its lines are the pane's */
	enum tree_order order;
	enum compare_by by;
	size_t looked; /* names from here on are not looked through by the filter yet */
};

static void pair_pane_free(struct pane *p)
{
	struct pair_pane *t = (struct pair_pane *)p;

	pair_tree_free(&t->tree);
	fold_free(&t->fold);
}

/* Hangs the children of a node below it, sorted. -ENOMEM. */
static int pair_pane_link(struct pair_pane *t, uint32_t node)
{
	const struct pane *p = &t->pane;
	const struct pair_order order = { t->c, p->scope, t->by, p->opts->percent_limit };
	int r = pair_tree_sort(&t->tree, node, &order, &t->fold);

	t->fold.nodes[node].more = t->fold.nodes[node].first_child;
	t->fold.nodes[node].grown = r >= 0;
	return r;
}

/* Looks through the names that came. -ENOMEM. */
static int pair_pane_pass(struct pair_pane *t)
{
	int r = fold_names(&t->fold, t->tree.names.n);

	if (r < 0 || !t->pane.filter.n)
		return r;
	for (; t->looked < t->fold.n_names; t->looked++)
		t->fold.passes[t->looked] =
		        pane_passes(&t->pane, pair_symbol(&t->tree, (uint32_t)t->looked));
	return 0;
}

/* For fold.c: makes the children of a node, and links those that are shown. -ENOMEM; -ECANCELED. */
static int pair_pane_grow(void *ctx, uint32_t node)
{
	struct pair_pane *t = ctx;
	size_t old = t->fold.n;
	int r = pair_tree_grow(&t->tree, node);

	if (r >= 0)
		r = fold_more(&t->fold, t->tree.n);
	if (r >= 0)
		r = pair_pane_pass(t);
	for (size_t i = old; r >= 0 && i < t->tree.n; i++)
		pair_tree_fold(&t->tree, t->pane.scope, (uint32_t)i, &t->fold.nodes[i]);
	return r < 0 ? r : pair_pane_link(t, node);
}

/* For fold.c: whether something that passes may be below a node. */
static bool pair_pane_leads(const void *ctx, uint32_t node)
{
	return pair_tree_leads(&((const struct pair_pane *)ctx)->tree, node);
}

/* Looks through the stacks of one side. -ENOMEM. */
static int pair_pane_seek(struct pair_pane *t, size_t side)
{
	const struct profile *p = t->tree.side[side].tree.profile;
	uint32_t n = (uint32_t)profile_n_strings(p) + 1;
	bool *passes = calloc(n, sizeof(*passes));
	int r = passes ? 0 : -ENOMEM;

	for (uint32_t i = 0; passes && i < n; i++)
		passes[i] = pane_passes(&t->pane, pane_symbol(p, i));
	if (r >= 0)
		r = tree_grow_seek(t->tree.side[side].growth, passes);
	free(passes);
	return r;
}

static int pair_pane_filter(struct pane *p)
{
	struct pair_pane *t = (struct pair_pane *)p;
	int r;

	t->looked = 1;
	r = pair_pane_pass(t);
	for (size_t side = 0; side < 2 && p->filter.n && r >= 0; side++)
		r = pair_pane_seek(t, side);
	if (r < 0)
		return r;
	fold_filter(&t->fold, p->filter.n, &p->at);
	return pane_fold(p, &t->fold);
}

static int pair_pane_reach(struct pane *p, size_t n)
{
	return pane_fold_reach(p, &((struct pair_pane *)p)->fold, n);
}

static void pair_pane_heading(struct pane *p, const struct view_screen *s, unsigned row)
{
	struct pair_pane *t = (struct pair_pane *)p;
	unsigned at =
	        pane_compare_heading(s, row, t->c->absolute, t->c->half ? COMPARE_BY_BASE : t->by);

	pane_name(s, row, at, s->columns > at ? s->columns - at : 0, VIEW_HEADING, p->kind->name);
}

/* Whether the line is of a function, and which: missing frames are none. */
static bool pair_pane_names(struct pane *p, size_t i, const char **object, const char **symbol)
{
	struct pair_pane *t = (struct pair_pane *)p;
	const struct pair_node *n = &t->tree.nodes[t->fold.lines[i].node];

	*object = pair_object(&t->tree, n->name);
	*symbol = pair_symbol(&t->tree, n->name);
	return n->kind != PROFILE_MISSING;
}

/* Draws a node: what both sides have, whether it is open, and its function with the object. */
static void pair_pane_line(struct pane *p, const struct view_screen *s, unsigned row, size_t i,
                           unsigned style)
{
	struct pair_pane *t = (struct pair_pane *)p;
	const struct fold_line *l = &t->fold.lines[i];
	const struct pair_node *n = &t->tree.nodes[l->node];
	const char *object, *symbol;
	struct compare_row r = { 0 };
	unsigned at;

	compare_fill(&r, t->c, p->scope, &n->total);
	at = pane_compare_figures(s, row, style, &r, t->c->absolute);
	if (pair_pane_names(p, i, &object, &symbol))
		pane_mark_names(p, s, row, at - 1, style, object, symbol);
	at += pane_indent(s, at, l->depth);
	if (at + 4 <= s->columns) {
		s->put(s->ctx, row, at, style, pane_fold_sign(&t->fold, l->node));
		pane_name_in(s, row, at + 2, s->columns - at - 3, style, symbol,
		             pane_in(n->kind, object));
	}
}

/* Sorts siblings anew; the branches that are open stay, and the cursor stays on its node. */
static int pair_pane_sort(struct pair_pane *t)
{
	struct pane *p = &t->pane;
	uint32_t here = fold_at(&t->fold, p->at);
	int r = 0;

	for (uint32_t i = 0; i < t->fold.n && r >= 0; i++)
		if (t->fold.nodes[i].grown)
			r = pair_pane_link(t, i);
	if (r < 0)
		return r;
	fold_list(&t->fold, p->at);
	if (here)
		fold_go(&t->fold, here, &p->at);
	return pane_fold(p, &t->fold);
}

/* Opens and closes branches; s: sorts by the next figure. */
static int pair_pane_key(struct pane *p, int key)
{
	struct pair_pane *t = (struct pair_pane *)p;
	int r;

	if (key != 's')
		return pane_fold_key(p, &t->fold, key);
	t->by = (enum compare_by)((t->by + 1) % COMPARE_BY_RATIO);
	r = pair_pane_sort(t);
	return r < 0 ? r : 1;
}

/* Callers and callees of the function on both sides. */
static int pair_pane_enter(struct pane *p, size_t i, struct pane **ret)
{
	const char *object, *symbol;

	if (!pair_pane_names(p, i, &object, &symbol))
		return 0;
	*ret = pane_compare_calls(p->opts, p->scope, object, symbol);
	return *ret ? 0 : -ENOMEM;
}

/* ---- another pane of the same ---- */

/* For fold.c: whether two nodes of two trees are of the same function. */
static bool pair_pane_same(const void *other, uint32_t its, const void *ctx, uint32_t node)
{
	const struct pair_tree *a = &((const struct pair_pane *)other)->tree;
	const struct pair_tree *b = &((const struct pair_pane *)ctx)->tree;
	uint32_t m = a->nodes[its].name, n = b->nodes[node].name;

	return !strcmp(pair_symbol(a, m), pair_symbol(b, n)) &&
	       !strcmp(pair_object(a, m), pair_object(b, n));
}

/* The branches are open that are open in the old tree. Without memory for that all are closed. */
static void pair_pane_adopt(struct pane *p, const struct pane *from)
{
	struct pair_pane *t = (struct pair_pane *)p;
	const struct pair_pane *old = (const struct pair_pane *)from;
	uint32_t here = fold_carry(&t->fold, &old->fold, fold_at(&old->fold, from->at));

	p->at = 0;
	pair_pane_filter(p);
	pane_fold_adopt(p, &t->fold, from, here);
}

/* Begins the tree. -ENOMEM; -ECANCELED. */
static int pair_pane_build(struct pair_pane *t)
{
	int r = pair_tree_begin(&t->tree, t->pane.scope, t->order);

	if (r >= 0)
		r = fold_new(&t->fold, 1, 1);
	t->fold.grow = pair_pane_grow;
	t->fold.leads = pair_pane_leads;
	t->fold.ahead = t->pane.opts->percent_limit > 0;
	t->fold.same = pair_pane_same;
	t->fold.ctx = t;
	if (r >= 0)
		r = fold_grow(&t->fold, 0);
	return r < 0 ? r : pair_pane_filter(&t->pane);
}

static struct pane *pair_pane_new(const struct view_opts *opts, struct pane_scope *s,
                                  enum tree_order order, enum compare_by by);

static struct pane *pair_pane_again(const struct pane *p, struct pane_scope *s)
{
	const struct pair_pane *t = (const struct pair_pane *)p;

	return pair_pane_new(p->opts, s, t->order, t->by);
}

static const struct pane_key pair_pane_own[] = {
	PANE_FOLD_KEYS("that is first, which changed most"),
	{ { 's' }, "order by the change, the new figure, the old one" },
	{ { 0 }, NULL },
};

#define PAIR_KEYS \
	"Enter open/close  s sort  E all  C none  H most changed  c callers  / filter  ? help"

static const struct pane_kind pair_caller_kind = {
	.name = "callers, and below each what it called",
	.keys = PAIR_KEYS,
	.free = pair_pane_free,
	.heading = pair_pane_heading,
	.line = pair_pane_line,
	.filter = pair_pane_filter,
	.again = pair_pane_again,
	.reach = pair_pane_reach,
	.adopt = pair_pane_adopt,
	.own = pair_pane_own,
	.key = pair_pane_key,
	.enter = pair_pane_enter,
	.names = pair_pane_names,
};

static const struct pane_kind pair_callee_kind = {
	.name = "callees, and below each who called it",
	.keys = PAIR_KEYS,
	.free = pair_pane_free,
	.heading = pair_pane_heading,
	.line = pair_pane_line,
	.filter = pair_pane_filter,
	.again = pair_pane_again,
	.reach = pair_pane_reach,
	.adopt = pair_pane_adopt,
	.own = pair_pane_own,
	.key = pair_pane_key,
	.enter = pair_pane_enter,
	.names = pair_pane_names,
};

/* All branches are closed at first; what comes first in the order stands first. */
static struct pane *pair_pane_new(const struct view_opts *opts, struct pane_scope *s,
                                  enum tree_order order, enum compare_by by)
{
	struct pair_pane *t =
	        pane_new(sizeof(*t), order == TREE_CALLER ? &pair_caller_kind : &pair_callee_kind,
	                 opts, s);

	if (!t)
		return NULL;
	t->c = s->compare;
	t->order = order;
	t->by = by;
	if (pair_pane_build(t) >= 0)
		return &t->pane;
	pane_free(&t->pane);
	return NULL;
}

struct pane *pane_compare_tree(const struct view_opts *opts, struct pane_scope *s,
                               enum tree_order order)
{
	return pair_pane_new(opts, s, order, COMPARE_BY_CHANGE);
}
