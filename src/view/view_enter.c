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

/* Frees the top pane. There must be one below it. */
void view_pop(struct view *v)
{
	struct pane *p = v->top;

	v->top = p->below;
	pane_free(p);
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
		return pane_compare(&v->opts, s);
	return pane_table(&v->opts, s, v->opts.columns, v->opts.n_columns, v->opts.by_self);
}

static struct pane *view_callers(struct view *v, struct pane_scope *s)
{
	return pane_tree(&v->opts, s, TREE_CALLER);
}

static struct pane *view_callees(struct view *v, struct pane_scope *s)
{
	return pane_tree(&v->opts, s, TREE_CALLEE);
}

static struct pane *view_objects(struct view *v, struct pane_scope *s)
{
	static const enum rollup_column columns[] = { ROLLUP_OBJECT };

	return pane_table(&v->opts, s, columns, 1, true);
}

static struct pane *view_commands(struct view *v, struct pane_scope *s)
{
	static const enum rollup_column columns[] = { ROLLUP_COMM };

	return pane_table(&v->opts, s, columns, 1, true);
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
	{ "compared", view_functions, 0 },
	{ "how sure", view_account, 0 },
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

/* The function on the line, or a message that there is none. */
bool view_function(struct view *v, uint32_t *object, uint32_t *symbol)
{
	struct pane *p = v->top;

	if (p->kind->function && p->at < p->n && p->kind->function(p, p->at, object, symbol))
		return true;
	view_say(v, "there is no function on this line");
	return false;
}

/* Shows callers and callees of the function on the line. */
int view_calls(struct view *v)
{
	struct pane *p = v->top, *entered = NULL;
	uint32_t object, symbol;

	if (p->kind->enter && p->at < p->n && p->kind->enter(p, p->at, &entered) < 0)
		return -ENOMEM;
	if (entered)
		return view_push(v, entered);
	return view_function(v, &object, &symbol)
	               ? view_push(v, pane_calls(&v->opts, v->top->scope, object, symbol))
	               : 0;
}

/* Shows source and instructions of the function on the line, as the caller of the view has them. */
int view_annotate(struct view *v)
{
	struct pane *p = v->top;
	const struct profile *profile = p->scope->profile;
	uint32_t object, symbol;
	struct buf text = { 0 };

	if (!v->opts.annotate || !p->kind->function || p->at >= p->n ||
	    !p->kind->function(p, p->at, &object, &symbol) || !symbol) {
		view_say(v, "there is no function with code on this line");
		return 0;
	}
	if (v->opts.annotate(v->opts.ctx,
	                     object ? profile_text(profile,
	                                           profile_object_at(profile, object)->path)
	                            : "",
	                     profile_text(profile, symbol), &text) < 0) {
		buf_free(&text);
		return -ENOMEM;
	}
	return view_push(v, pane_text(&v->opts, p->scope, "source and instructions", false, &text));
}

/* Whether a row has the value that a scope chooses. */
static bool view_is_chosen(const struct profile *p, const struct profile_row *row, void *ctx)
{
	struct pane_scope *s = ctx;
	const struct profile_task *task = profile_task_at(p, row->key.task);

	if (s->column == ROLLUP_COMM)
		return !strcmp(task->comm ? profile_text(p, task->comm) : "", buf_text(&s->value));
	return (s->column == ROLLUP_TID     ? task->tid
	        : s->column == ROLLUP_PID   ? task->pid
	        : s->column == ROLLUP_CPU   ? row->key.cpu
	        : s->column == ROLLUP_STATE ? row->key.state
	                                    : row->key.slice) == s->number;
}

/* Marks the frames of the object that a scope is of. -ENOMEM. */
static int view_choose_frames(struct pane_scope *s)
{
	const struct profile *p = s->profile;
	size_t n = profile_n_frames(p);

	s->shown = calloc(n + 1, sizeof(*s->shown));
	if (!s->shown)
		return -ENOMEM;
	for (uint32_t i = 1; i <= n; i++) {
		uint32_t object = profile_frame_at(p, i)->object;
		const char *path =
		        object ? profile_text(p, profile_object_at(p, object)->path) : "";

		s->shown[i] = !strcmp(path, buf_text(&s->value));
	}
	return 0;
}

/* What a scope of marked functions keeps. */
struct view_marked {
	bool *node; /* by node of the profile: it, or one it was called from, is marked */
};

static bool view_is_marked(const struct profile *p, const struct profile_row *row, void *ctx)
{
	const struct view_marked *m = ctx;

	(void)p;
	return m->node[row->key.node];
}

/* Finds the stacks that have a marked function. A parent's number is less than its children's. */
static int view_find_marked(const struct view *v, const struct profile *p, struct view_marked *m)
{
	size_t n = profile_n_nodes(p), frames = profile_n_frames(p);
	bool *frame = calloc(frames + 1, sizeof(*frame));

	m->node = calloc(n + 1, sizeof(*m->node));
	for (uint32_t i = 1; frame && m->node && i <= frames; i++) {
		const struct profile_frame *f = profile_frame_at(p, i);

		frame[i] = marks_has(&v->marks, p, f->object, f->symbol);
	}
	for (uint32_t i = 1; frame && m->node && i <= n; i++) {
		const struct profile_node node = profile_node_at(p, i);

		m->node[i] = m->node[node.parent] || frame[node.frame];
	}
	free(frame);
	return frame && m->node ? 0 : -ENOMEM;
}

/* The samples of `from` that a scope like `like` has. -ENOMEM. */
static int view_choose_samples(const struct view *v, struct pane_scope *like,
                               const struct profile *from, struct profile **ret)
{
	struct view_marked marked = { 0 };
	struct profile *p;
	int r = like->what == PANE_MARKED ? view_find_marked(v, from, &marked) : 0;

	if (r >= 0)
		r = like->what == PANE_MARKED ? profile_filter(&p, from, view_is_marked, &marked)
		                              : profile_filter(&p, from, view_is_chosen, like);
	free(marked.node);
	if (r < 0)
		return r;
	/* A filtered profile has its rows in the old order; equal views want one order whatever
	 * came before. */
	r = profile_canonical(ret, p);
	profile_free(p);
	return r;
}

/* Made from what it chooses, which is a text or a number. The profile of functions of one object
 * stays that of the scope below, which lives longer. */
struct pane_scope *view_scope_again(struct view *v, struct pane_scope *like,
                                    struct pane_scope *below)
{
	const char *event = buf_text(&below->event_name);
	struct profile *chosen = NULL;
	struct pane_scope *s;

	if (like->what != PANE_OBJECT && view_choose_samples(v, like, below->profile, &chosen) < 0)
		return NULL;
	s = pane_scope_new(chosen ? chosen : below->profile, event, "");
	if (!s) {
		profile_free(chosen);
		return NULL;
	}
	s->owned = chosen;
	s->what = like->what;
	s->column = like->column;
	s->number = like->number;
	buf_put(&s->value, like->value.bytes, like->value.n);
	buf_put(&s->label, like->label.bytes, like->label.n);
	if (!s->value.failed && !s->label.failed &&
	    (s->what != PANE_OBJECT || view_choose_frames(s) >= 0))
		return s;
	pane_scope_free(s);
	return NULL;
}

/* Goes on with what `like` chooses, which is freed, of the samples that are shown. label says
 * what it is. */
static int view_enter_chosen(struct view *v, struct pane_scope *like, const char *label)
{
	struct pane_scope *s = NULL;

	shown_put_text(&like->label, label);
	if (!like->label.failed && !like->value.failed)
		s = view_scope_again(v, like, v->top->scope);
	buf_free(&like->label);
	buf_free(&like->value);
	return view_enter(v, s);
}

/* An object that has this function; 0: none is known. */
static uint32_t view_first_object(const struct profile *p, uint32_t symbol)
{
	for (uint32_t i = 1; symbol && i <= profile_n_frames(p); i++)
		if (profile_frame_at(p, i)->symbol == symbol)
			return profile_frame_at(p, i)->object;
	return 0;
}

/* The functions of one object. */
static int view_zoom_object(struct view *v, uint32_t object)
{
	const struct profile *p = v->top->scope->profile;
	struct pane_scope like = { .what = PANE_OBJECT };

	buf_put_text(&like.value,
	             object ? profile_text(p, profile_object_at(p, object)->path) : "");
	return view_enter_chosen(v, &like, pane_object(p, object));
}

/* The samples of one command, thread or slice of time. */
static int view_zoom_samples(struct view *v, enum rollup_column column, uint32_t value,
                             const char *label)
{
	struct pane_scope like = { .what = PANE_SAMPLES, .column = column, .number = value };

	if (column == ROLLUP_COMM)
		buf_put_text(&like.value, value ? profile_text(v->top->scope->profile, value) : "");
	return view_enter_chosen(v, &like, label);
}

int view_zoom_marked(struct view *v)
{
	struct pane_scope like = { .what = PANE_MARKED };

	if (!v->marks.n) {
		view_say(v, "nothing is marked: m marks a function");
		return 0;
	}
	return view_enter_chosen(v, &like, "marked functions");
}

/* By what is on the line: a function's object, or the thing that the row stands for. */
int view_zoom(struct view *v, bool to_object)
{
	struct pane *p = v->top;
	enum rollup_column column;
	uint32_t value, symbol;
	char label[ROLLUP_TEXT_MAX];

	if (to_object && p->kind->function && p->at < p->n &&
	    p->kind->function(p, p->at, &value, &symbol))
		return view_zoom_object(v, value ? value
		                                 : view_first_object(p->scope->profile, symbol));
	if (!pane_table_thing(p, p->at, &column, &value, label))
		return 0;
	if (column == ROLLUP_OBJECT)
		return view_zoom_object(v, value);
	if (column != ROLLUP_COMM && column != ROLLUP_TID && column != ROLLUP_SLICE &&
	    column != ROLLUP_PID && column != ROLLUP_CPU && column != ROLLUP_STATE) {
		view_say(v, "Enter goes into functions, objects, commands, tasks, CPUs and times");
		return 0;
	}
	return view_zoom_samples(v, column, value, label);
}

/* Shows the next event, or the one before, by itself. */
int view_event(struct view *v, int step)
{
	const struct profile *p = v->opts.profile;
	size_t n = profile_n_events(p);
	uint32_t event = pane_event(p, buf_text(&v->top->scope->event_name));

	if (n < 2 || v->opts.compare) {
		view_say(v, n < 2 ? "the recording has one event" : "rows say their event");
		return 0;
	}
	event = event == PANE_NO_EVENT ? 1
	                               : (uint32_t)((event - 1 + (step < 0 ? n - 1 : 1)) % n + 1);
	/* What was entered from here is of the old event. */
	while (v->top->below)
		view_pop(v);
	if (view_enter(v, pane_scope_new(p, profile_event_name(p, event), "")) < 0)
		return -ENOMEM;
	/* What was lowest shows the other event, and goes. */
	pane_free(v->top->below);
	v->top->below = NULL;
	return 0;
}
