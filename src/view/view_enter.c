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
#include "view/view_made.h"

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

/* Whether a pane of the way back shows these samples. */
static bool view_shows(const struct view *v, const struct pane_scope *s)
{
	const struct pane *p = v->top;

	while (p && p->scope != s)
		p = p->below;
	return p;
}

void view_forget_kept(struct view *v, bool all)
{
	for (struct pane **at = &v->kept; *at;) {
		struct pane *p = *at;

		if (!all && view_shows(v, p->scope)) {
			at = &p->below;
			continue;
		}
		*at = p->below;
		pane_free(p);
	}
}

/* Frees the top pane. There must be one below it. */
void view_pop(struct view *v)
{
	struct pane *p = v->top;

	v->top = p->below;
	view_forget_aside(v, p);
	pane_free(p);
	view_forget_kept(v, false);
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

/* Takes a section that was left out of those that are kept. NULL: there is none. */
static struct pane *view_take_kept(struct view *v, const struct pane_scope *s, unsigned section)
{
	for (struct pane **at = &v->kept; *at; at = &(*at)->below) {
		struct pane *p = *at;

		if (p->scope != s || p->section != section)
			continue;
		*at = p->below;
		return p;
	}
	return NULL;
}

/* Keeps the section that shows the samples of the top pane, unless the same comes again; panes on
 * it go. */
static void view_leave_section(struct view *v, unsigned section)
{
	const struct pane_scope *s = v->top->scope;
	struct pane *p;

	while (v->top->below && v->top->below->scope == s)
		view_pop(v);
	p = v->top;
	v->top = p->below;
	if (!p->is_section || p->section == section) {
		pane_free(p);
		return;
	}
	p->below = v->kept;
	v->kept = p;
}

static int view_section_make(struct view *v, struct view_made *m)
{
	m->pane = view_section_pane(v, m->section, m->scope);
	return m->pane ? 0 : -ENOMEM;
}

/* In place of the panes that show the same samples. */
static int view_section_put(struct view *v, struct view_made *m)
{
	struct pane *p = m->pane;

	m->pane = NULL;
	p->section = m->section;
	p->is_section = true;
	view_leave_section(v, m->section);
	return view_push(v, p);
}

/* Makes a section of the samples that are shown now, and shows it. */
static int view_section_start(struct view *v, unsigned section)
{
	struct view_made *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->what = view_section_name(v, section);
	m->make = view_section_make;
	m->put = view_section_put;
	m->section = section;
	m->sections = view_n_sections(v);
	m->scope = pane_scope_share(v->top->scope);
	return view_make(v, m);
}

int view_section_anew(struct view *v, unsigned section)
{
	for (struct pane **at = &v->kept; *at;) {
		struct pane *p = *at;

		if (p->section != section) {
			at = &p->below;
			continue;
		}
		*at = p->below;
		pane_free(p);
	}
	return view_section_start(v, section);
}

/* Shows a section of the samples that are shown now, in place of the panes that show them. Its
 * cursor, filter and branches are as they were left. */
int view_section(struct view *v, unsigned section)
{
	unsigned keep = view_sections(v)[section].keep;
	struct pane_scope *s = v->top->scope;
	struct pane *p;

	if ((profile_keeps(s->profile) & keep) != keep) {
		view_say(v, "that is not known of these samples");
		return 0;
	}
	/* From callers, help and the like back to the section that they lie on. */
	if (section == v->top->section) {
		while (v->top->below && v->top->below->scope == s)
			view_pop(v);
		if (v->top->is_section)
			return 0;
	}
	p = view_take_kept(v, s, section);
	if (p) {
		view_leave_section(v, section);
		return view_push(v, p);
	}
	return view_section_start(v, section);
}

/* Shows the first section of a scope, on top of what there is. Takes the scope over. */
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

/* Whether there is a function on line i whose callers can be shown. */
static bool view_calls_can(const struct view *v, size_t i)
{
	struct pane *p = v->top;
	const char *object, *symbol;
	uint32_t o, s;

	if (i >= p->n)
		return false;
	return p->kind->enter ? view_names(v, i, &object, &symbol)
	                      : p->kind->function && p->kind->function(p, i, &o, &s);
}

static int view_calls_make(struct view *v, struct view_made *m)
{
	struct pane *p = v->top;
	uint32_t object, symbol;

	if (p->kind->enter)
		return p->kind->enter(p, m->line, &m->pane);
	if (p->kind->function(p, m->line, &object, &symbol))
		m->pane = pane_calls(&v->opts, p->scope, object, symbol);
	return m->pane ? 0 : -ENOMEM;
}

static int view_calls_put(struct view *v, struct view_made *m)
{
	struct pane *p = m->pane;

	m->pane = NULL;
	if (p)
		return view_push(v, p);
	view_say(v, "there is no function on this line");
	return 0;
}

/* Shows callers and callees of the function on the line. */
int view_calls(struct view *v)
{
	struct view_made *m;

	if (!view_calls_can(v, v->top->at)) {
		view_say(v, "there is no function on this line");
		return 0;
	}
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->what = "callers and callees";
	m->make = view_calls_make;
	m->put = view_calls_put;
	m->line = v->top->at;
	return view_make(v, m);
}
