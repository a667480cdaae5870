// SPDX-License-Identifier: MIT
/*
 * pane_compare_calls.c: a function between those that called it and those that it called, on both
 * sides of a comparison.
 *
 * Each side gives a list of functions with what they count; both lists are sorted by name and
 * brought together. Shares are of each side's whole.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/shown.h"
#include "view/pane_compare.h"

/* A function beyond the chosen one, of one side. */
struct both_found {
	const char *object, *symbol; /* of the side's profile */
	uint64_t weight, samples;
};

struct both_line {
	const char *heading; /* NULL: a function */
	unsigned indent;
	struct compare_row row;
};

struct both_pane {
	struct pane pane;
	const struct view_compare *c;
	struct buf object, symbol;
	struct both_line *all;
	size_t n_all, capacity;
	uint32_t *visible;
};

static void both_free(struct pane *p)
{
	struct both_pane *b = (struct both_pane *)p;

	buf_free(&b->object);
	buf_free(&b->symbol);
	free(b->all);
	free(b->visible);
}

/* Headings stay. */
static int both_filter(struct pane *p)
{
	struct both_pane *b = (struct both_pane *)p;

	p->n = 0;
	for (size_t i = 0; i < b->n_all; i++)
		if (b->all[i].heading || !b->all[i].indent || pane_passes(p, b->all[i].row.symbol))
			b->visible[p->n++] = (uint32_t)i;
	return 0;
}

static uint64_t both_id(const struct pane *p, size_t i)
{
	return ((const struct both_pane *)p)->visible[i];
}

static void both_heading(struct pane *p, const struct view_screen *s, unsigned row)
{
	struct both_pane *b = (struct both_pane *)p;

	pane_compare_heading(s, row, b->c->absolute, COMPARE_BY_END);
}

/* A heading, or a function with both figures. */
static void both_line(struct pane *p, const struct view_screen *s, unsigned row, size_t i,
                      unsigned style)
{
	struct both_pane *b = (struct both_pane *)p;
	const struct both_line *l = &b->all[b->visible[i]];
	unsigned at;

	if (l->heading) {
		at = pane_compare_room(s, b->c->absolute);
		pane_name(s, row, at, s->columns > at ? s->columns - at : 0,
		          style == VIEW_PLAIN ? VIEW_DIM : style, l->heading);
		return;
	}
	at = pane_compare_figures(s, row, style, &l->row, b->c->absolute);
	/* What stands for frames that are missing has no object, and is no function. */
	if (*l->row.object)
		pane_mark_names(p, s, row, at - 1, style, l->row.object, l->row.symbol);
	at += l->indent;
	pane_name_in(s, row, at, s->columns > at ? s->columns - at : 0, style, l->row.symbol,
	             *l->row.object ? l->row.object : NULL);
}

static bool both_names(struct pane *p, size_t i, const char **object, const char **symbol)
{
	struct both_pane *b = (struct both_pane *)p;
	const struct both_line *l = &b->all[b->visible[i]];

	if (l->heading || (l->indent && !*l->row.object))
		return false;
	*object = l->row.object;
	*symbol = l->row.symbol;
	return true;
}

/* The same of the function on the line. */
static int both_enter(struct pane *p, size_t i, struct pane **ret)
{
	const char *object, *symbol;

	if (!both_names(p, i, &object, &symbol))
		return 0;
	*ret = pane_compare_calls(p->opts, p->scope, object, symbol);
	return *ret ? 0 : -ENOMEM;
}

static struct pane *both_again(const struct pane *p, struct pane_scope *s)
{
	struct both_pane *b = (struct both_pane *)p; /* its texts have their ends */

	return pane_compare_calls(p->opts, s, buf_text(&b->object), buf_text(&b->symbol));
}

/* Whether two lines of two panes, which have the same headings, are of the same function. */
static bool both_same(const struct both_line *a, const struct both_line *b)
{
	return !a->heading && !b->heading && a->indent == b->indent &&
	       !strcmp(a->row.symbol, b->row.symbol) && !strcmp(a->row.object, b->row.object);
}

/* The cursor stays on its function, among callers or among callees; or else on the one that all is
 * about. */
static void both_adopt(struct pane *p, const struct pane *from)
{
	struct both_pane *b = (struct both_pane *)p;
	const struct both_pane *old = (const struct both_pane *)from;
	size_t above = from->at - from->top, i, own = 0;
	const struct both_line *was = from->at < from->n ? &old->all[old->visible[from->at]] : NULL;
	bool called = false, was_called = false;

	both_filter(p);
	/* Callers stand above the function, callees below it. */
	for (i = 0; i < from->at && i < from->n; i++)
		was_called |=
		        !old->all[old->visible[i]].heading && !old->all[old->visible[i]].indent;
	for (i = 0; i < p->n; i++) {
		const struct both_line *l = &b->all[b->visible[i]];

		if (!l->heading && !l->indent)
			own = i;
		if (was && called == was_called && both_same(was, l))
			break;
		called |= !l->heading && !l->indent;
	}
	p->at = i < p->n ? i : own;
	p->top = p->at > above ? p->at - above : 0;
}

static const struct pane_kind both_kind = {
	.name = "callers and callees on both sides",
	.keys = "Enter this one's  Left back  a annotate  / filter  w write  ? help",
	.free = both_free,
	.heading = both_heading,
	.line = both_line,
	.filter = both_filter,
	.id = both_id,
	.again = both_again,
	.adopt = both_adopt,
	.enter = both_enter,
	.names = both_names,
};

/* Which frames of a side are the function's. NULL: out of memory. */
static bool *both_focus(struct both_pane *b, const struct profile *p)
{
	size_t n = profile_n_frames(p);
	bool *focus = calloc(n + 1, sizeof(*focus));
	const char *object = buf_text(&b->object);

	for (uint32_t i = 1; focus && i <= n; i++) {
		const struct profile_frame *f = profile_frame_at(p, i);

		focus[i] = !strcmp(pane_symbol(p, f->symbol), buf_text(&b->symbol)) &&
		           (!*object || !strcmp(pane_object(p, f->object), object));
	}
	return focus;
}

static int both_by_name(const void *pa, const void *pb)
{
	const struct both_found *a = pa, *b = pb;
	int r = strcmp(a->symbol, b->symbol);

	return r ? r : strcmp(a->object, b->object);
}

/* Puts the children of the function's nodes into a list, sorted by name, equal names as one.
 * -ENOMEM. */
static int both_collect(const struct tree *t, struct buf *found)
{
	const struct tree_node *nodes = t->nodes;
	struct both_found *list;
	size_t n = 0, to = 0;

	for (uint32_t root = nodes[0].first_child; root; root = nodes[root].next_sibling)
		for (uint32_t at = nodes[root].first_child; at; at = nodes[at].next_sibling) {
			const struct both_found f = {
				.object = nodes[at].kind == PROFILE_MISSING
				                  ? ""
				                  : pane_object(t->profile, nodes[at].object),
				.symbol = pane_symbol(t->profile, nodes[at].symbol),
				.weight = nodes[at].total,
				.samples = nodes[at].total_samples
			};

			if (buf_put(found, &f, sizeof(f)) < 0)
				return -ENOMEM;
			n++;
		}
	list = (struct both_found *)(void *)found->bytes;
	if (n)
		qsort(list, n, sizeof(*list), both_by_name);
	for (size_t i = 0; i < n; i++) {
		if (to && !both_by_name(&list[to - 1], &list[i])) {
			list[to - 1].weight += list[i].weight;
			list[to - 1].samples += list[i].samples;
		} else {
			list[to++] = list[i];
		}
	}
	found->n = to * sizeof(*list);
	return 0;
}

/* Adds the line of a function that one side or both have. -ENOMEM. */
static int both_put(struct both_pane *b, const struct both_found *base,
                    const struct both_found *next, unsigned indent)
{
	const struct both_found none = { 0 }, *named = base ? base : next;
	struct both_line l = { .indent = indent,
		               .row = { .object = named->object, .symbol = named->symbol } };

	base = base ? base : &none;
	next = next ? next : &none;
	compare_fill(&l.row, b->c, b->pane.scope,
	             &(struct compare_counts){ { base->weight, next->weight },
	                                       { base->samples, next->samples } });
	if (ARRAY_ROOM(&b->all, &b->capacity, b->n_all + 1) < 0)
		return -ENOMEM;
	b->all[b->n_all++] = l;
	return 0;
}

static int both_put_heading(struct both_pane *b, const char *text)
{
	if (ARRAY_ROOM(&b->all, &b->capacity, b->n_all + 1) < 0)
		return -ENOMEM;
	b->all[b->n_all++] = (struct both_line){ .heading = text };
	return 0;
}

/* The larger share first. */
static int both_by_share(const void *pa, const void *pb)
{
	const struct both_line *a = pa, *b = pb;
	double x = fmax(a->row.base, a->row.next), y = fmax(b->row.base, b->row.next);

	return x > y ? -1 : x < y ? 1 : strcmp(a->row.symbol, b->row.symbol);
}

/* Brings both sides' lists together below a heading. -ENOMEM. */
static int both_put_lists(struct both_pane *b, const char *heading, const struct buf found[2])
{
	const struct both_found *x = (const void *)found[0].bytes,
	                        *y = (const void *)found[1].bytes;
	size_t n = found[0].n / sizeof(*x), m = found[1].n / sizeof(*y), i = 0, k = 0, from;
	int r = both_put_heading(b, heading);

	from = b->n_all;
	while (r >= 0 && (i < n || k < m)) {
		int order = i == n ? 1 : k == m ? -1 : both_by_name(&x[i], &y[k]);

		r = both_put(b, order <= 0 ? &x[i] : NULL, order >= 0 ? &y[k] : NULL, 3);
		i += order <= 0;
		k += order >= 0;
	}
	if (r >= 0 && b->n_all > from)
		qsort(b->all + from, b->n_all - from, sizeof(*b->all), both_by_share);
	return r;
}

/* What a side has: lists of callers and callees, and the function itself. -ENOMEM. */
static int both_side(struct both_pane *b, size_t side, struct buf *callers, struct buf *callees,
                     struct both_found *function)
{
	const struct pane_scope *s = side ? b->pane.scope : b->pane.scope->base;
	const struct profile *p = s->profile;
	bool *focus = both_focus(b, p);
	struct tree_opts opts = { .order = TREE_CALLEE,
		                  .event = s->event,
		                  .focus = focus,
		                  .next_only = true,
		                  .watched = s->watched };
	struct tree t = { 0 };
	int r = focus ? tree_build(&t, p, &opts) : -ENOMEM;

	if (r >= 0)
		r = both_collect(&t, callers);
	tree_free(&t);
	t = (struct tree){ 0 };
	opts.order = TREE_CALLER;
	if (r >= 0)
		r = tree_build(&t, p, &opts);
	if (r >= 0)
		r = both_collect(&t, callees);
	/* All paths begin at the function. */
	if (r >= 0) {
		function->weight = t.nodes[0].total;
		function->samples = t.nodes[0].total_samples;
	}
	tree_free(&t);
	free(focus);
	return r;
}

/* Makes all lines. *at: the function's. */
static int both_make(struct both_pane *b, size_t *at)
{
	struct buf callers[2] = { 0 }, callees[2] = { 0 };
	struct both_found function[2] = { 0 };
	int r = 0;

	for (size_t side = 0; side < 2 && r >= 0; side++) {
		function[side].object = buf_text(&b->object);
		function[side].symbol = buf_text(&b->symbol);
		r = both_side(b, side, &callers[side], &callees[side], &function[side]);
	}
	if (r >= 0)
		r = both_put_lists(b, "called by", callers);
	if (r >= 0)
		r = both_put_heading(b, "the function, with what it called");
	*at = b->n_all;
	if (r >= 0)
		r = both_put(b, &function[0], &function[1], 0);
	if (r >= 0)
		r = both_put_lists(b, "called", callees);
	for (size_t side = 0; side < 2; side++) {
		buf_free(&callers[side]);
		buf_free(&callees[side]);
	}
	return r;
}

/* The cursor begins on the function. */
struct pane *pane_compare_calls(const struct view_opts *opts, struct pane_scope *s,
                                const char *object, const char *symbol)
{
	struct both_pane *b = pane_new(sizeof(*b), &both_kind, opts, s);
	size_t at = 0;

	if (!b)
		return NULL;
	b->c = s->compare;
	buf_put_text(&b->object, object);
	buf_put_text(&b->symbol, symbol);
	if (!b->object.failed && !b->symbol.failed && both_make(b, &at) >= 0)
		b->visible = calloc(b->n_all, sizeof(*b->visible));
	if (!b->visible) {
		pane_free(&b->pane);
		return NULL;
	}
	both_filter(&b->pane);
	b->pane.at = at;
	return &b->pane;
}
