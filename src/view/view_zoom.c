// SPDX-License-Identifier: MIT
/*
 * view_zoom.c: how one comes from a line to other samples: of an object, a command, a thread, a
 * time, marked functions.
 *
 * A scope is made from what it chooses, which is a text or a number, so that it can be made again
 * of other samples. Of two sides both are chosen from.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "base/trie.h"
#include "profile/object_name.h"
#include "view/pane_compare.h"
#include "view/view_made.h"

const char *view_object(const struct view *v, const struct profile *p, uint32_t object)
{
	return v->opts.compare ? pane_object(p, object) : pane_path(p, object);
}

struct pane_scope *view_scope_of(struct view *v, const struct view_compare *c,
                                 const struct profile *p, const char *event)
{
	struct watched *watched = &v->watched;
	struct pane_scope *s = pane_scope_new(p, event, watched);

	if (!s || !c)
		return s;
	s->compare = c;
	s->base = pane_scope_new(c->side[0], event, watched);
	if (s->base)
		return s;
	pane_scope_free(s);
	return NULL;
}

struct pane_scope *view_scope_all(struct view *v, const char *event)
{
	return view_scope_of(v, v->opts.compare, v->opts.profile, event);
}

/* What a scope keeps of the samples below it. */
struct view_choosing {
	struct pane_scope *like;
	const bool *node;  /* of marked functions, by node: it, or one it was called from, is */
	size_t done, rows; /* that were asked about */
	struct watched *watched;
};

/* Whether a row has the value that a scope chooses. */
static bool view_has_value(const struct profile *p, const struct profile_row *row,
                           struct pane_scope *s)
{
	const struct profile_task *task = profile_task_at(p, row->key.task);

	if (s->column == ROLLUP_COMM)
		return !strcmp(pane_plain(p, task->comm), buf_text(&s->value));
	return (s->column == ROLLUP_TID     ? task->tid
	        : s->column == ROLLUP_PID   ? task->pid
	        : s->column == ROLLUP_CPU   ? row->key.cpu
	        : s->column == ROLLUP_STATE ? row->key.state
	                                    : row->key.slice) == s->number;
}

/* For profile_choose. Of what nobody wants any more nothing is kept. */
static bool view_is_chosen(const struct profile *p, const struct profile_row *row, void *ctx)
{
	struct view_choosing *c = ctx;

	if (!watched_goes_on(c->watched, c->done++, c->rows) || watched_stopped(c->watched))
		return false;
	return c->node ? c->node[row->key.node] : view_has_value(p, row, c->like);
}

/* Marks the frames of the object that a scope is of. -ENOMEM. */
static int view_choose_frames(const struct view *v, struct pane_scope *s)
{
	const struct profile *p = s->profile;
	size_t n = profile_n_frames(p);

	s->shown = calloc(n + 1, sizeof(*s->shown));
	if (!s->shown)
		return -ENOMEM;
	for (uint32_t i = 1; i <= n; i++)
		s->shown[i] = !strcmp(view_object(v, p, profile_frame_at(p, i)->object),
		                      buf_text(&s->value));
	return 0;
}

/* Finds the stacks that have a marked function: *ret is by node. A parent's number is less than its
 * children's. -ENOMEM. */
static int view_find_marked(const struct view *v, const struct profile *p, bool **ret)
{
	size_t n = profile_n_nodes(p), frames = profile_n_frames(p);
	bool *frame = calloc(frames + 1, sizeof(*frame)), *node = calloc(n + 1, sizeof(*node));
	const struct trie *tree = profile_tree(p);

	for (uint32_t i = 1; frame && node && i <= frames; i++) {
		const struct profile_frame *f = profile_frame_at(p, i);

		frame[i] = f->kind != PROFILE_MISSING &&
		           marks_has(&v->marks, view_object(v, p, f->object),
		                     pane_plain(p, f->symbol));
	}
	for (uint32_t i = 1; frame && node && i <= n; i++) {
		const struct trie_node at = trie_at(tree, i);

		node[i] = node[at.parent] || frame[at.key];
	}
	*ret = node;
	if (frame && node) {
		free(frame);
		return 0;
	}
	free(frame);
	return -ENOMEM;
}

/* The samples of `from` that a scope like `like` has. Rows are in the order of `from`, which is
 * canonical. -ENOMEM; -ECANCELED. */
static int view_choose_samples(struct view *v, struct pane_scope *like, const struct profile *from,
                               struct profile **ret)
{
	struct view_choosing c = { .like = like,
		                   .rows = profile_n_rows(from),
		                   .watched = &v->watched };
	bool *marked = NULL;
	int r = like->what == PANE_MARKED ? view_find_marked(v, from, &marked) : 0;

	c.node = marked;
	if (r >= 0)
		r = profile_choose(ret, from, view_is_chosen, &c);
	free(marked);
	if (r >= 0 && watched_stopped(&v->watched)) {
		profile_free(*ret);
		return -ECANCELED;
	}
	return r;
}

/* The profile of functions of one object stays that of the scope below, which lives longer. NULL:
 * out of memory. */
static struct pane_scope *view_scope_side(struct view *v, struct pane_scope *like,
                                          struct pane_scope *below)
{
	const char *event = below->event_name;
	struct profile *chosen = NULL;
	struct pane_scope *s;

	if (like->what != PANE_OBJECT && view_choose_samples(v, like, below->profile, &chosen) < 0)
		return NULL;
	s = pane_scope_new(chosen ? chosen : below->profile, event, &v->watched);
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
	    (s->what != PANE_OBJECT || view_choose_frames(v, s) >= 0))
		return s;
	pane_scope_free(s);
	return NULL;
}

struct pane_scope *view_scope_again(struct view *v, struct pane_scope *like,
                                    struct pane_scope *below)
{
	struct pane_scope *s = view_scope_side(v, like, below);

	if (!s || !below->base)
		return s;
	s->compare = below->compare;
	s->base = view_scope_side(v, like, below->base);
	if (s->base)
		return s;
	pane_scope_free(s);
	return NULL;
}

static int view_chosen_make(struct view *v, struct view_made *m)
{
	if (m->like.label.failed || m->like.value.failed)
		return -ENOMEM;
	m->scope = view_scope_again(v, &m->like, v->top->scope);
	m->pane = m->scope ? view_section_pane(v, 0, m->scope) : NULL;
	return m->pane ? 0 : -ENOMEM;
}

/* On top of what there is: Left goes back to it. */
static int view_chosen_put(struct view *v, struct view_made *m)
{
	struct pane *p = m->pane;

	m->pane = NULL;
	p->is_section = true;
	return view_push(v, p);
}

/* Goes on with what `like` chooses of the samples that are shown. Its buffers are taken over. label
 * says what it is. */
static int view_enter_chosen(struct view *v, struct pane_scope *like, const char *label)
{
	struct view_made *m = calloc(1, sizeof(*m));

	if (!m) {
		buf_free(&like->value);
		return -ENOMEM;
	}
	shown_put_text(&like->label, label);
	m->what = "samples";
	m->make = view_chosen_make;
	m->put = view_chosen_put;
	m->like = *like;
	return view_make(v, m);
}

/* What an object that has this function is known by; "": none is known. */
static const char *view_first_object(const struct view *v, const struct profile *p,
                                     const char *symbol)
{
	for (uint32_t i = 1; *symbol && i <= profile_n_frames(p); i++)
		if (!strcmp(pane_plain(p, profile_frame_at(p, i)->symbol), symbol))
			return view_object(v, p, profile_frame_at(p, i)->object);
	return "";
}

/* The functions of one object. */
static int view_zoom_object(struct view *v, const char *object)
{
	struct pane_scope like = { .what = PANE_OBJECT };

	buf_put_text(&like.value, object);
	return view_enter_chosen(v, &like, *object ? object_name(object) : "[unknown]");
}

/* The samples of one command, thread or slice of time. comm: its name. */
static int view_zoom_samples(struct view *v, enum rollup_column column, uint32_t value,
                             const char *comm, const char *label)
{
	struct pane_scope like = { .what = PANE_SAMPLES, .column = column, .number = value };

	if (column == ROLLUP_COMM)
		buf_put_text(&like.value, comm);
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

/* What a row of two sides stands for. */
static int view_zoom_compared(struct view *v)
{
	enum rollup_column column;
	const char *text;

	if (!pane_compare_thing(v->top, v->top->at, &column, &text))
		return 0;
	if (column == ROLLUP_OBJECT)
		return view_zoom_object(v, text);
	if (column == ROLLUP_COMM)
		return view_zoom_samples(v, column, 0, strcmp(text, "[unknown]") ? text : "", text);
	view_say(v, "Enter goes into functions, objects and commands");
	return 0;
}

/* What a row of a table stands for. */
static int view_zoom_row(struct view *v)
{
	const struct profile *profile = v->top->scope->profile;
	enum rollup_column column;
	uint32_t value;
	char label[ROLLUP_TEXT_MAX];

	if (!pane_table_thing(v->top, v->top->at, &column, &value, label))
		return 0;
	if (column == ROLLUP_OBJECT)
		return view_zoom_object(v, pane_path(profile, value));
	if (column != ROLLUP_COMM && column != ROLLUP_TID && column != ROLLUP_SLICE &&
	    column != ROLLUP_PID && column != ROLLUP_CPU && column != ROLLUP_STATE) {
		view_say(v, "Enter goes into functions, objects, commands, tasks, CPUs and times");
		return 0;
	}
	return view_zoom_samples(v, column, value,
	                         column == ROLLUP_COMM ? pane_plain(profile, value) : "", label);
}

bool view_row_is_command(const struct view *v)
{
	struct pane *p = v->top;
	char label[ROLLUP_TEXT_MAX];
	enum rollup_column column;
	const char *text;
	uint32_t value;
	bool is = v->opts.compare ? pane_compare_thing(p, p->at, &column, &text)
	                          : pane_table_thing(p, p->at, &column, &value, label);

	return is && column == ROLLUP_COMM;
}

/* By what is on the line: a function's object, or the thing that the row stands for. */
int view_zoom(struct view *v, bool to_object)
{
	struct pane *p = v->top;
	const char *object, *symbol;

	if (to_object && view_names(v, p->at, &object, &symbol))
		return view_zoom_object(v,
		                        *object ? object
		                                : view_first_object(v, p->scope->profile, symbol));
	return v->opts.compare ? view_zoom_compared(v) : view_zoom_row(v);
}
