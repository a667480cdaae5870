// SPDX-License-Identifier: MIT
/*
 * pane_calls.c: a function between those that called it and those that it called.
 *
 * Two trees are built for it, both beginning at the function: by callee they lead to its callers,
 * by caller to what it called. The lines are made once; the filter only chooses among them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/pane.h"

struct calls_line {
	enum {
		CALLS_HEADING,
		CALLS_CALLER,
		CALLS_FUNCTION,
		CALLS_CALLEE
	} what;
	const char *text; /* of a heading */
	uint32_t object, symbol, kind;
	uint64_t total, self;
};

struct calls {
	struct pane pane;
	struct buf path, name; /* the function: its object, "": none is known */
	bool any_object;
	struct calls_line *all;
	size_t n_all, capacity;
	size_t function;   /* the function's place in all */
	uint32_t *visible; /* pane.n of them: places in all */
};

static void calls_free(struct pane *p)
{
	struct calls *c = (struct calls *)p;

	buf_free(&c->path);
	buf_free(&c->name);
	free(c->all);
	free(c->visible);
}

/* Lists the lines that pass the filter; headings and the function stay. */
static int calls_filter(struct pane *p)
{
	struct calls *c = (struct calls *)p;

	p->n = 0;
	for (size_t i = 0; i < c->n_all; i++) {
		const struct calls_line *l = &c->all[i];

		if (l->what == CALLS_HEADING || l->what == CALLS_FUNCTION ||
		    pane_passes(p, pane_symbol(p->scope->profile, l->symbol)))
			c->visible[p->n++] = (uint32_t)i;
	}
	return 0;
}

static uint64_t calls_id(const struct pane *p, size_t i)
{
	return ((const struct calls *)p)->visible[i];
}

static void calls_heading(struct pane *p, const struct view_screen *s, unsigned row)
{
	(void)p;
	s->put(s->ctx, row, 0, VIEW_HEADING,
	       pane_shares(s) == PANE_TWO ? "   Share     Self" : "   Share");
}

/* Draws a heading, or a function with its share; only the function itself has a self. */
static void calls_line(struct pane *p, const struct view_screen *s, unsigned row, size_t i,
                       unsigned style)
{
	struct calls *c = (struct calls *)p;
	const struct calls_line *l = &c->all[c->visible[i]];
	/* Callers and callees stand a little to the right. */
	unsigned shares = pane_shares(s), at = shares + (l->what == CALLS_FUNCTION ? 0 : 3);
	const char *name = pane_symbol(p->scope->profile, l->symbol);

	if (l->what == CALLS_HEADING) {
		pane_name(s, row, shares, s->columns - shares,
		          style == VIEW_PLAIN ? VIEW_DIM : style, l->text);
		return;
	}
	pane_share(s, row, 0, style, l->total, p->scope->weight);
	if (l->what == CALLS_FUNCTION && shares == PANE_TWO)
		pane_share(s, row, 9, style, l->self, p->scope->weight);
	pane_mark(p, s, row, style, l->object, l->symbol);
	/* The function has a name also where these samples do not have it. */
	if (l->what == CALLS_FUNCTION && c->name.n)
		name = buf_text(&c->name);
	pane_name_in(s, row, at, s->columns > at ? s->columns - at : 0, style, name,
	             pane_in(l->kind, pane_object(p->scope->profile, l->object)));
}

/* Whether the line has a function, and which: for Enter and for annotating. */
static bool calls_function(struct pane *p, size_t i, uint32_t *object, uint32_t *symbol)
{
	struct calls *c = (struct calls *)p;
	const struct calls_line *l = &c->all[c->visible[i]];

	*object = l->object;
	*symbol = l->symbol;
	return l->what != CALLS_HEADING && l->kind != PROFILE_MISSING;
}

/* -ENOMEM. */
static int calls_put(struct calls *c, const struct calls_line *line)
{
	if (ARRAY_ROOM(&c->all, &c->capacity, c->n_all + 1) < 0)
		return -ENOMEM;
	c->all[c->n_all++] = *line;
	return 0;
}

static int calls_put_heading(struct calls *c, const char *text)
{
	const struct calls_line line = { .what = CALLS_HEADING, .text = text };

	return calls_put(c, &line);
}

/* Adds a line for each function directly beyond this one. The tree's paths begin at the function:
 * it is the root's child, and its children are what is asked for. Ends of paths have a line of
 * their own where the function was called by none. */
static int calls_put_beyond(struct calls *c, const struct tree *t, int what)
{
	const struct tree_node *nodes = t->nodes;
	int r = 0;

	for (uint32_t root = nodes[0].first_child; root && r >= 0; root = nodes[root].next_sibling)
		for (uint32_t at = nodes[root].first_child; at && r >= 0;
		     at = nodes[at].next_sibling) {
			const struct calls_line line = { .what = what,
				                         .object = nodes[at].object,
				                         .symbol = nodes[at].symbol,
				                         .kind = nodes[at].kind,
				                         .total = nodes[at].total,
				                         .self = nodes[at].self };

			r = calls_put(c, &line);
		}
	return r;
}

/* The weight of samples whose innermost frame is in focus. */
static uint64_t calls_self(const struct pane_scope *s, const bool *focus)
{
	const struct profile *p = s->profile;
	uint64_t self = 0;

	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);

		if (row->key.event == s->event && row->key.node != PROFILE_ROOT &&
		    focus[profile_node_at(p, row->key.node).frame])
			self += row->weight;
	}
	return self;
}

/* Adds the function's own line: its total is that of the paths that begin at it. */
static int calls_put_function(struct calls *c, const struct pane_scope *s,
                              const struct tree *callees, const bool *focus)
{
	struct calls_line line = { .what = CALLS_FUNCTION,
		                   .kind = PROFILE_USER,
		                   .self = calls_self(s, focus) };

	for (uint32_t at = callees->nodes[0].first_child; at;
	     at = callees->nodes[at].next_sibling) {
		line.total += callees->nodes[at].total;
		line.kind = callees->nodes[at].kind;
		line.object = callees->nodes[at].object;
		line.symbol = callees->nodes[at].symbol;
	}
	return calls_put(c, &line);
}

/* Which frames are the function's. NULL: out of memory. */
static bool *calls_focus(struct calls *c, const struct profile *p)
{
	size_t n = profile_n_frames(p);
	bool *focus = calloc(n + 1, sizeof(*focus));

	for (uint32_t i = 1; focus && i <= n; i++) {
		const struct profile_frame *f = profile_frame_at(p, i);

		focus[i] =
		        !strcmp(f->symbol ? profile_text(p, f->symbol) : "", buf_text(&c->name)) &&
		        (c->any_object ||
		         !strcmp(f->object ? profile_text(p, profile_object_at(p, f->object)->path)
		                           : "",
		                 buf_text(&c->path)));
	}
	return focus;
}

/* Makes all lines of a scope, in c->all, which is empty. Both trees begin at the function's frames:
 * callers at the innermost of them in a stack, callees at the outermost, so that a recursive
 * function counts once. -ENOMEM; -ECANCELED. */
static int calls_make(struct calls *c)
{
	const struct pane_scope *s = c->pane.scope;
	bool *focus = calls_focus(c, s->profile);
	struct tree_opts opts = { .order = TREE_CALLEE,
		                  .event = s->event,
		                  .focus = focus,
		                  .next_only = true,
		                  .watched = s->watched };
	struct tree callers = { 0 }, callees = { 0 };
	int r = focus ? 0 : -ENOMEM;

	if (r >= 0)
		r = tree_build(&callers, s->profile, &opts);
	opts.order = TREE_CALLER;
	if (r >= 0)
		r = tree_build(&callees, s->profile, &opts);
	if (r >= 0)
		r = calls_put_heading(c, "called by");
	if (r >= 0)
		r = calls_put_beyond(c, &callers, CALLS_CALLER);
	if (r >= 0)
		r = calls_put_heading(c, "the function");
	c->function = c->n_all;
	if (r >= 0)
		r = calls_put_function(c, s, &callees, focus);
	if (r >= 0)
		r = calls_put_heading(c, "called");
	if (r >= 0)
		r = calls_put_beyond(c, &callees, CALLS_CALLEE);
	tree_free(&callers);
	tree_free(&callees);
	free(focus);
	return r;
}

/* Puts the cursor on the line of the new ones that is what the old one was, or on the
 * function's. */
static void calls_go(struct calls *c, const struct calls_line *was, const struct profile *before)
{
	struct pane *p = &c->pane;
	const struct profile *now = p->scope->profile;
	size_t line = c->function;

	for (size_t i = 0; was && i < c->n_all; i++) {
		const struct calls_line *l = &c->all[i];

		if (l->what == was->what && l->what != CALLS_HEADING &&
		    pane_same_symbol(before, was->symbol, now, l->symbol) &&
		    pane_same_object(before, was->object, now, l->object))
			line = i;
	}
	for (size_t i = 0; i < p->n; i++)
		if (c->visible[i] == line)
			p->at = i;
}

static void calls_adopt(struct pane *p, const struct pane *from)
{
	struct calls *c = (struct calls *)p;
	const struct calls *old = (const struct calls *)from;
	size_t above = from->at - from->top;

	calls_filter(p);
	calls_go(c, from->at < from->n ? &old->all[old->visible[from->at]] : NULL,
	         from->scope->profile);
	p->top = from->n && p->at > above ? p->at - above : 0;
}

static struct pane *calls_again(const struct pane *p, struct pane_scope *s);

static const struct pane_kind calls_kind = {
	.name = "callers and callees",
	.keys = "Enter this one's  Left back  a annotate  / filter  ? help",
	.free = calls_free,
	.heading = calls_heading,
	.line = calls_line,
	.filter = calls_filter,
	.id = calls_id,
	.again = calls_again,
	.adopt = calls_adopt,
	.function = calls_function,
};

/* The lines of a function, of which c has the names. Takes c over. NULL: out of memory, or not
 * wanted any more. */
static struct pane *calls_finish(struct calls *c)
{
	if (!c->path.failed && !c->name.failed && calls_make(c) >= 0)
		c->visible = calloc(c->n_all, sizeof(*c->visible));
	if (!c->visible) {
		pane_free(&c->pane);
		return NULL;
	}
	calls_filter(&c->pane);
	calls_go(c, NULL, NULL);
	return &c->pane;
}

static struct pane *calls_again(const struct pane *p, struct pane_scope *s)
{
	const struct calls *old = (const struct calls *)p;
	struct calls *c = pane_new(sizeof(*c), &calls_kind, p->opts, s);

	if (!c)
		return NULL;
	buf_put(&c->path, old->path.bytes, old->path.n);
	buf_put(&c->name, old->name.bytes, old->name.n);
	c->any_object = old->any_object;
	return calls_finish(c);
}

/* The cursor begins on the function. */
struct pane *pane_calls(const struct view_opts *opts, struct pane_scope *s, uint32_t object,
                        uint32_t symbol)
{
	struct calls *c = pane_new(sizeof(*c), &calls_kind, opts, s);
	const struct profile *p = s->profile;

	if (!c)
		return NULL;
	buf_put_text(&c->path, object ? profile_text(p, profile_object_at(p, object)->path) : "");
	buf_put_text(&c->name, symbol ? profile_text(p, symbol) : "");
	c->any_object = !object && symbol;
	return calls_finish(c);
}
