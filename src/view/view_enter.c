// SPDX-License-Identifier: MIT
/*
 * view_enter.c: the panes on top of each other, and how one comes from a line to other samples or
 * to a function.
 *
 * Invariant: there is always a pane. All panes that show the same samples (a scope) lie on one
 * another; the lowest of them is one of the sections.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "view/aside.h"
#include "view/pane_compare.h"
#include "view/view_state.h"

/* ---- the panes ---- */

/* Puts a pane on top, which the view takes over. -ENOMEM where there is none. */
int view_push(struct view *v, struct pane *p)
{
	if (!p)
		return -ENOMEM;
	/* The same samples: the section stays marked. */
	if (v->top && v->top->scope == p->scope)
		p->section = v->top->section;
	p->marks = &v->marks;
	p->below = v->top;
	v->top = p;
	return 0;
}

void view_forget_aside(struct view *v, const struct pane *p)
{
	if (p != v->aside_pane)
		return;
	aside_free(v->aside);
	v->aside = NULL;
	v->aside_pane = NULL;
}

/* Frees the top pane. There must be one below it. */
void view_pop(struct view *v)
{
	struct pane *p = v->top;

	v->top = p->below;
	view_forget_aside(v, p);
	pane_free(p);
}

/* Puts a pane where another one is, which is freed. */
void view_swap(struct view *v, struct pane *old, struct pane *p)
{
	struct pane **at = &v->top;

	while (*at != old)
		at = &(*at)->below;
	p->section = old->section;
	p->marks = old->marks;
	p->below = old->below;
	*at = p;
	pane_free(old);
}

/* A message for the last line, until the next key. */
void view_say(struct view *v, const char *text)
{
	buf_clear(&v->message);
	shown_put_text(&v->message, text);
}

/* The sections: each makes a pane of a scope. NULL: out of memory. */
static struct pane *view_functions(struct view *v, struct pane_scope *s)
{
	if (v->opts.compare)
		return pane_compare(&v->opts, s, v->opts.columns, v->opts.n_columns);
	return pane_table(&v->opts, s, v->opts.columns, v->opts.n_columns, v->opts.by_self);
}

static struct pane *view_callers(struct view *v, struct pane_scope *s)
{
	return v->opts.compare ? pane_compare_tree(&v->opts, s, TREE_CALLER)
	                       : pane_tree(&v->opts, s, TREE_CALLER);
}

static struct pane *view_callees(struct view *v, struct pane_scope *s)
{
	return v->opts.compare ? pane_compare_tree(&v->opts, s, TREE_CALLEE)
	                       : pane_tree(&v->opts, s, TREE_CALLEE);
}

static struct pane *view_objects(struct view *v, struct pane_scope *s)
{
	static const enum rollup_column columns[] = { ROLLUP_OBJECT };

	return v->opts.compare ? pane_compare(&v->opts, s, columns, 1)
	                       : pane_table(&v->opts, s, columns, 1, true);
}

static struct pane *view_commands(struct view *v, struct pane_scope *s)
{
	static const enum rollup_column columns[] = { ROLLUP_COMM };

	return v->opts.compare ? pane_compare(&v->opts, s, columns, 1)
	                       : pane_table(&v->opts, s, columns, 1, true);
}

static struct pane *view_threads(struct view *v, struct pane_scope *s)
{
	static const enum rollup_column columns[] = { ROLLUP_TID, ROLLUP_PID, ROLLUP_COMM };

	return pane_table(&v->opts, s, columns, 3, true);
}

static struct pane *view_time(struct view *v, struct pane_scope *s)
{
	static const enum rollup_column columns[] = { ROLLUP_SLICE };

	return pane_table(&v->opts, s, columns, 1, false);
}

static struct pane *view_account(struct view *v, struct pane_scope *s)
{
	struct buf text = { 0 };

	buf_put_text(&text, v->opts.account ? v->opts.account : "");
	return pane_text(&v->opts, s,
	                 v->opts.compare ? "what is compared, and how sure that is"
	                                 : "what became of the stacks",
	                 true, &text);
}

struct view_section {
	const char *name;
	struct pane *(*make)(struct view *v, struct pane_scope *s);
	unsigned keep; /* PROFILE_KEEP_*: without these there is nothing to show */
};

static const struct view_section sections[] = {
	{ "functions", view_functions, 0 },
	{ "tree", view_callers, 0 },
	{ "called by", view_callees, 0 },
	{ "objects", view_objects, 0 },
	{ "commands", view_commands, 0 },
	{ "threads", view_threads, PROFILE_KEEP_PID | PROFILE_KEEP_TID },
	{ "time", view_time, PROFILE_KEEP_SLICE },
	{ "stacks", view_account, 0 },
};

/* Of two sides. */
static const struct view_section compared[] = {
	{ "compared", view_functions, 0 }, { "tree", view_callers, 0 },
	{ "called by", view_callees, 0 },  { "objects", view_objects, 0 },
	{ "commands", view_commands, 0 },  { "how sure", view_account, 0 },
};

static const struct view_section *view_sections(const struct view *v)
{
	return v->opts.compare ? compared : sections;
}

unsigned view_n_sections(const struct view *v)
{
	return v->opts.compare ? sizeof(compared) / sizeof(compared[0])
	                       : sizeof(sections) / sizeof(sections[0]);
}

const char *view_section_name(const struct view *v, unsigned section)
{
	return view_sections(v)[section].name;
}

struct pane *view_section_pane(struct view *v, unsigned section, struct pane_scope *s)
{
	return view_sections(v)[section].make(v, s);
}

/* Shows a section of the samples that are shown now, in place of the panes that show them. */
int view_section(struct view *v, unsigned section)
{
	unsigned keep = view_sections(v)[section].keep;
	struct pane_scope *s;
	struct pane *p;
	int r;

	if ((profile_keeps(v->top->scope->profile) & keep) != keep) {
		view_say(v, "that is not known of these samples");
		return 0;
	}
	s = pane_scope_share(v->top->scope);
	p = view_section_pane(v, section, s);
	r = p ? 0 : -ENOMEM;
	if (r >= 0) {
		p->section = section;
		p->is_section = true;
		/* The scope is held here, so popping its panes does not free it. */
		while (v->top && v->top->scope == s)
			view_pop(v);
		r = view_push(v, p);
	}
	pane_scope_free(s);
	return r;
}

/* Shows the first section of other samples, on top of what there is. Takes the scope over. */
int view_enter(struct view *v, struct pane_scope *s)
{
	struct pane *p = s ? view_functions(v, s) : NULL;

	if (p)
		p->is_section = true;
	pane_scope_free(s);
	return view_push(v, p);
}

/* ---- what keys do ---- */

bool view_names(const struct view *v, size_t i, const char **object, const char **symbol)
{
	struct pane *p = v->top;
	uint32_t o, s;

	if (i >= p->n)
		return false;
	if (p->kind->names)
		return p->kind->names(p, i, object, symbol);
	if (!p->kind->function || !p->kind->function(p, i, &o, &s))
		return false;
	*object = pane_path(p->scope->profile, o);
	*symbol = pane_plain(p->scope->profile, s);
	return true;
}

/* Shows callers and callees of the function on the line. */
int view_calls(struct view *v)
{
	struct pane *p = v->top, *entered = NULL;
	uint32_t object, symbol;

	if (p->at < p->n && p->kind->enter && p->kind->enter(p, p->at, &entered) < 0)
		return -ENOMEM;
	if (entered)
		return view_push(v, entered);
	if (p->at < p->n && p->kind->function && p->kind->function(p, p->at, &object, &symbol))
		return view_push(v, pane_calls(&v->opts, v->top->scope, object, symbol));
	view_say(v, "there is no function on this line");
	return 0;
}
