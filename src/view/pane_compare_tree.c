// SPDX-License-Identifier: MIT
// pane_compare_tree.c: the call tree of both sides of a comparison. Which branches are open is
// known to fold.c, what a node has on each side to pair_tree.c.
#include <errno.h>
#include <stdlib.h>

#include "view/pair_tree.h"
#include "view/pane_compare.h"

struct pair_pane {
	struct pane pane;
	const struct view_compare *c;
	struct pair_tree tree;
	struct fold fold; /* its lines are the pane's */
	enum compare_by by;
};

static void pair_pane_free(struct pane *p)
{
	struct pair_pane *t = (struct pair_pane *)p;

	pair_tree_free(&t->tree);
	fold_free(&t->fold);
}

static int pair_pane_filter(struct pane *p)
{
	struct pair_pane *t = (struct pair_pane *)p;

	for (uint32_t i = 1; p->filter.n && i < t->fold.n_names; i++)
		t->fold.passes[i] = pane_passes(p, pair_symbol(&t->tree, i));
	fold_filter(&t->fold, p->filter.n);
	p->n = t->fold.n_lines;
	return 0;
}

static void pair_pane_heading(struct pane *p, const struct view_screen *s, unsigned row)
{
	struct pair_pane *t = (struct pair_pane *)p;
	unsigned at = pane_compare_heading(s, row, t->c->absolute, t->by);

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
	uint32_t here = p->at < p->n ? t->fold.lines[p->at].node : 0;
	int r = pair_tree_sort(&t->tree, t->c, p->scope, t->by, p->opts->percent_limit, &t->fold);

	if (r < 0)
		return r;
	fold_list(&t->fold);
	p->n = t->fold.n_lines;
	if (here)
		fold_go(&t->fold, here, &p->at);
	return 0;
}

/* Opens and closes branches; s: sorts by the next figure. */
static int pair_pane_key(struct pane *p, int key)
{
	struct pair_pane *t = (struct pair_pane *)p;
	bool own;

	if (key == 's') {
		int r;

		t->by = (enum compare_by)((t->by + 1) % COMPARE_BY_RATIO);
		r = pair_pane_sort(t);
		return r < 0 ? r : 1;
	}
	own = fold_key(&t->fold, &p->at, key);
	p->n = t->fold.n_lines;
	return own;
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
	.own = pair_pane_own,
	.key = pair_pane_key,
	.enter = pair_pane_enter,
	.names = pair_pane_names,
};

/* All branches are closed at first; what changed most stands first. */
struct pane *pane_compare_tree(const struct view_opts *opts, struct pane_scope *s,
                               enum tree_order order)
{
	struct pair_pane *t =
	        pane_new(sizeof(*t), order == TREE_CALLER ? &pair_caller_kind : &pair_callee_kind,
	                 opts, s);

	if (!t)
		return NULL;
	t->c = opts->compare;
	if (pair_tree_build(&t->tree, s, order) >= 0 &&
	    fold_new(&t->fold, t->tree.n, t->tree.names.n) >= 0 && pair_pane_sort(t) >= 0)
		return &t->pane;
	pane_free(&t->pane);
	return NULL;
}
