// SPDX-License-Identifier: MIT
/*
 * pane_tree.c: the call tree, of which a branch is opened and closed. Knows which nodes are open,
 * and makes the list of lines from that.
 *
 * Lines are made anew at each key: a walk over open nodes, from the first to the last, without
 * recursion.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/pane.h"

#define FIGURES 18
#define DEPTH_COLUMNS 40 /* deeper nodes are not indented further, so that names stay readable */

struct tree_line {
	uint32_t node, depth;
};

struct tree_pane {
	struct pane pane;
	enum tree_order order;
	struct tree tree;
	bool *open;              /* by node */
	struct tree_line *lines; /* pane.n of them; room for all nodes */
};

static void tree_pane_free(struct pane *p)
{
	struct tree_pane *t = (struct tree_pane *)p;

	tree_free(&t->tree);
	free(t->open);
	free(t->lines);
}

/* The first of a node and its siblings that is large enough; 0: none. */
static uint32_t tree_large(const struct tree_pane *t, uint32_t node)
{
	const struct tree_node *nodes = t->tree.nodes;

	while (node &&
	       (!nodes[node].total || pane_percent(nodes[node].total, t->pane.scope->weight) <
	                                      t->pane.opts->percent_limit))
		node = nodes[node].next_sibling;
	return node;
}

/* Whether a node has several children that are shown. If it has one only, its way goes on straight
 * down. */
static bool tree_branches(const struct tree_pane *t, uint32_t node)
{
	uint32_t child = tree_large(t, t->tree.nodes[node].first_child);

	return child && tree_large(t, t->tree.nodes[child].next_sibling);
}

/* Lists the nodes that are to be seen, depth first. A function that calls one other only does not
 * indent it. */
static int tree_pane_list(struct pane *p)
{
	struct tree_pane *t = (struct tree_pane *)p;
	const struct tree_node *nodes = t->tree.nodes;
	uint32_t at = tree_large(t, nodes[0].first_child), depth = 0;

	p->n = 0;
	while (at) {
		uint32_t next = t->open[at] ? tree_large(t, nodes[at].first_child) : 0;

		if (pane_passes(p, pane_symbol(p->scope->profile, nodes[at].symbol)))
			t->lines[p->n++] = (struct tree_line){ at, depth };
		if (next) {
			depth += tree_branches(t, at);
			at = next;
			continue;
		}
		while (at && !(next = tree_large(t, nodes[at].next_sibling))) {
			/* Up to the first node that has another one beside it. */
			at = nodes[at].parent;
			depth -= at && tree_branches(t, at);
		}
		at = at ? next : 0;
	}
	return 0;
}

/* A filter looks into closed branches, too. */
static int tree_pane_filter(struct pane *p)
{
	struct tree_pane *t = (struct tree_pane *)p;

	if (p->filter.n)
		memset(t->open, 1, t->tree.n);
	return tree_pane_list(p);
}

/* Opens a node and the one child below it, and so on to where the way parts. */
static void tree_pane_open(struct tree_pane *t, uint32_t node)
{
	const struct tree_node *nodes = t->tree.nodes;

	for (; node && !t->open[node]; node = tree_large(t, nodes[node].first_child)) {
		t->open[node] = true;
		if (tree_branches(t, node))
			break;
	}
}

/* Opens the heaviest way down from a node to where its samples are. */
static void tree_pane_hottest(struct tree_pane *t, uint32_t node)
{
	const struct tree_node *nodes = t->tree.nodes;

	for (; node; node = tree_large(t, nodes[node].first_child)) {
		t->open[node] = true;
		/* Half of what a node has is its own: here is what the way led to. */
		if (nodes[node].self * 2 >= nodes[node].total)
			break;
	}
}

static const struct pane_kind tree_caller_kind;

static void tree_pane_heading(struct pane *p, const struct view_screen *s, unsigned row)
{
	s->put(s->ctx, row, 0, VIEW_HEADING,
	       p->kind == &tree_caller_kind ? "   Total     Self" : "   Total");
	pane_name(s, row, FIGURES + 1, s->columns > FIGURES ? s->columns - FIGURES - 1 : 0,
	          VIEW_HEADING, p->kind->name);
}

/* Draws a node: its shares, whether it is open, and its function with the object. */
static void tree_pane_line(struct pane *p, const struct view_screen *s, unsigned row, size_t i,
                           unsigned style)
{
	struct tree_pane *t = (struct tree_pane *)p;
	const struct tree_line *l = &t->lines[i];
	const struct tree_node *n = &t->tree.nodes[l->node];
	const struct profile *profile = p->scope->profile;
	unsigned indent = l->depth * 2 < DEPTH_COLUMNS ? l->depth * 2 : DEPTH_COLUMNS;
	unsigned at = FIGURES + indent;
	struct buf name = { 0 };

	pane_share(s, row, 0, style, n->total, p->scope->weight);
	if (p->kind == &tree_caller_kind)
		pane_share(s, row, 9, style, n->self, p->scope->weight);
	pane_mark(p, s, row, style, n->object, n->symbol);
	if (at + 4 > s->columns)
		return;
	s->put(s->ctx, row, at, style,
	       !tree_large(t, n->first_child) ? "  "
	       : t->open[l->node]             ? "- "
	                                      : "+ ");
	buf_put_text(&name, pane_symbol(profile, n->symbol));
	if (n->kind == PROFILE_INLINED)
		buf_put_text(&name, " (inlined)");
	else if (n->kind != PROFILE_MISSING)
		buf_printf(&name, " (%s)", pane_object(profile, n->object));
	pane_name(s, row, at + 2, s->columns - at - 3, style, buf_text(&name));
	buf_free(&name);
}

/* Moves the cursor to a node's line, if it is to be seen. */
static void tree_pane_go(struct tree_pane *t, uint32_t node)
{
	for (size_t i = 0; i < t->pane.n; i++)
		if (t->lines[i].node == node)
			t->pane.at = i;
}

/* Closes the node, or, if it is closed, the one that called it. */
static uint32_t tree_pane_close(struct tree_pane *t, uint32_t node)
{
	uint32_t up = t->tree.nodes[node].parent;

	if (t->open[node] && tree_large(t, t->tree.nodes[node].first_child)) {
		t->open[node] = false;
		return node;
	}
	/* A chain was opened in one step, so it closes in one. */
	while (up && !tree_branches(t, up) && t->tree.nodes[up].parent)
		up = t->tree.nodes[up].parent;
	if (!up)
		return node;
	t->open[up] = false;
	return up;
}

/* Opens and closes branches. */
static int tree_pane_key(struct pane *p, int key)
{
	struct tree_pane *t = (struct tree_pane *)p;
	uint32_t node = p->at < p->n ? t->lines[p->at].node : 0;
	bool closed = node && !t->open[node];

	if (!node)
		return 0;
	if ((key == VIEW_KEY_ENTER && closed) || key == VIEW_KEY_RIGHT || key == '+' || key == 'l')
		tree_pane_open(t, node);
	else if (key == VIEW_KEY_ENTER || key == VIEW_KEY_LEFT || key == '-')
		node = key == VIEW_KEY_ENTER ? (t->open[node] = false, node)
		                             : tree_pane_close(t, node);
	else if (key == 'H')
		tree_pane_hottest(t, node);
	else if (key == 'E' || key == 'C')
		memset(t->open, key == 'E', t->tree.n);
	else
		return 0;
	tree_pane_list(p);
	tree_pane_go(t, node);
	return 1;
}

/* Missing frames are no functions. */
static bool tree_pane_function(struct pane *p, size_t i, uint32_t *object, uint32_t *symbol)
{
	struct tree_pane *t = (struct tree_pane *)p;
	const struct tree_node *n = &t->tree.nodes[t->lines[i].node];

	*object = n->object;
	*symbol = n->symbol;
	return n->kind != PROFILE_MISSING;
}

/* Whether two nodes of two profiles are of the same function. */
static bool tree_pane_same(const struct tree *a, uint32_t x, const struct tree *b, uint32_t y)
{
	const struct tree_node *m = &a->nodes[x], *n = &b->nodes[y];

	return m->kind == n->kind &&
	       pane_same_symbol(a->profile, m->symbol, b->profile, n->symbol) &&
	       pane_same_object(a->profile, m->object, b->profile, n->object);
}

/* The node of the new tree that is what `node` was in the old one; 0: there is none. known: by old
 * node, for those whose way down was looked at. A node's number is larger than its parent's. */
static uint32_t tree_pane_again(const struct tree *old, const struct tree *new,
                                const uint32_t *known, uint32_t node)
{
	uint32_t up = old->nodes[node].parent, at;

	if (up && !known[up])
		return 0;
	at = new->nodes[up ? known[up] : 0].first_child;
	while (at && !tree_pane_same(old, node, new, at))
		at = new->nodes[at].next_sibling;
	return at;
}

/* Opens in the new tree what is open in the old one. Returns the node that the cursor is on
 * then. */
static uint32_t tree_pane_carry(const struct tree_pane *t, const struct tree *new, bool *open,
                                uint32_t *known)
{
	const struct pane *p = &t->pane;
	uint32_t here = p->at < p->n ? t->lines[p->at].node : 0;

	for (uint32_t i = 1; i < t->tree.n; i++) {
		uint32_t up = t->tree.nodes[i].parent;

		if ((up && !t->open[up]) || (!t->open[i] && i != here))
			continue;
		known[i] = tree_pane_again(&t->tree, new, known, i);
		open[known[i]] |= t->open[i];
	}
	open[0] = false;
	return known[here];
}

/* Builds the new tree, with the branches open that are open in the old one. */
static int tree_pane_renew(struct pane *p, struct pane_scope *s)
{
	struct tree_pane *t = (struct tree_pane *)p;
	const struct tree_opts opts = { .order = t->order, .event = s->event };
	uint32_t *known = calloc(t->tree.n + 1, sizeof(*known)), here;
	size_t above = p->at - p->top;
	struct tree new = { 0 };
	struct tree_line *lines;
	bool *open;

	if (!known || tree_build(&new, s->profile, &opts) < 0) {
		free(known);
		return -ENOMEM;
	}
	open = calloc(new.n, sizeof(*open));
	lines = calloc(new.n, sizeof(*lines));
	if (!open || !lines) {
		free(known);
		free(open);
		free(lines);
		tree_free(&new);
		return -ENOMEM;
	}
	here = tree_pane_carry(t, &new, open, known);
	free(known);
	tree_pane_free(p);
	t->tree = new;
	t->open = open;
	t->lines = lines;
	pane_set_scope(p, s);
	tree_pane_filter(p);
	/* On the first line it stays there, so that what leads is seen. */
	if (here && p->at)
		tree_pane_go(t, here);
	p->top = p->at > above ? p->at - above : 0;
	return 0;
}

#define TREE_KEYS "Enter open/close  E all  C none  H hottest  c callers  / filter  ? help"

static const struct pane_kind tree_caller_kind = {
	.name = "callers, and below each what it called",
	.keys = TREE_KEYS,
	.free = tree_pane_free,
	.heading = tree_pane_heading,
	.line = tree_pane_line,
	.filter = tree_pane_filter,
	.renew = tree_pane_renew,
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
	.renew = tree_pane_renew,
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
	if (tree_pane_renew(&t->pane, s) >= 0)
		return &t->pane;
	pane_free(&t->pane);
	return NULL;
}
