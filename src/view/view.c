// SPDX-License-Identifier: MIT
/*
 * view.c: the panes on top of each other, the keys that all of them have, and the whole screen.
 *
 * Invariant: there is always a pane. All panes that show the same samples (a scope) lie on one
 * another; the lowest of them is one of the sections. Every key goes to the pane first, then to
 * what all panes share. Drawing changes nothing but the scroll position.
 */
#include "view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/shown.h"
#include "view/pane.h"

/* Less has no room for a list. */
#define ROWS_LEAST 6
#define COLUMNS_LEAST 20
#define ABOVE 3             /* rows: the bar, the sections, the heading */
#define BELOW 1             /* keys */
#define WRITTEN_COLUMNS 200 /* of lines that are written to a file */

/* The top pane is what is shown; those below it are the way back. */
struct view {
	struct view_opts opts;
	struct pane *top;
	unsigned rows; /* of the list, when it was drawn last */
	enum {
		VIEW_MOVING,
		VIEW_FILTERING, /* characters are added to the pane's filter */
		VIEW_NAMING,    /* characters are added to the name of a file to be written */
	} mode;
	struct marks marks;
	struct buf file;    /* its name */
	struct buf message; /* in the last line, until the next key */
};

/* ---- the panes ---- */

/* Puts a pane on top, which the view takes over. -ENOMEM where there is none. */
static int view_push(struct view *v, struct pane *p)
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
static void view_pop(struct view *v)
{
	struct pane *p = v->top;

	v->top = p->below;
	pane_free(p);
}

/* A message for the last line, until the next key. */
static void view_say(struct view *v, const char *text)
{
	buf_clear(&v->message);
	shown_put_text(&v->message, text);
}

/* The sections: each makes a pane of a scope. NULL: out of memory. */
static struct pane *view_functions(struct view *v, struct pane_scope *s)
{
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
	return pane_text(&v->opts, s, "what became of the stacks", &text);
}

static const struct {
	const char *name;
	struct pane *(*make)(struct view *v, struct pane_scope *s);
	unsigned keep; /* PROFILE_KEEP_*: without these there is nothing to show */
} sections[] = {
	{ "functions", view_functions, 0 },
	{ "tree", view_callers, 0 },
	{ "called by", view_callees, 0 },
	{ "objects", view_objects, 0 },
	{ "commands", view_commands, 0 },
	{ "threads", view_threads, PROFILE_KEEP_PID | PROFILE_KEEP_TID },
	{ "time", view_time, PROFILE_KEEP_SLICE },
	{ "stacks", view_account, 0 },
};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* Shows a section of the samples that are shown now, in place of the panes that show them. */
static int view_section(struct view *v, unsigned section)
{
	unsigned keep = sections[section].keep;
	struct pane_scope *s;
	struct pane *p;
	int r;

	if ((profile_keeps(v->top->scope->profile) & keep) != keep) {
		view_say(v, "that is not known of these samples");
		return 0;
	}
	s = pane_scope_share(v->top->scope);
	p = sections[section].make(v, s);
	r = p ? 0 : -ENOMEM;
	if (r >= 0) {
		p->section = section;
		/* The scope is held here, so popping its panes does not free it. */
		while (v->top && v->top->scope == s)
			view_pop(v);
		r = view_push(v, p);
	}
	pane_scope_free(s);
	return r;
}

/* Shows the first section of other samples, on top of what there is. Takes the scope over. */
static int view_enter(struct view *v, struct pane_scope *s)
{
	struct pane *p = s ? view_functions(v, s) : NULL;

	pane_scope_free(s);
	return view_push(v, p);
}

/* Begins with the functions of the first event. */
int view_new(struct view **ret, const struct view_opts *opts)
{
	struct view *v;
	int r;

	if (!profile_n_events(opts->profile))
		return -EINVAL;
	v = calloc(1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	v->opts = *opts;
	v->rows = 1;
	r = view_enter(v, pane_scope_new(opts->profile, 1, ""));
	if (r < 0) {
		view_free(v);
		return r;
	}
	*ret = v;
	return 0;
}

void view_free(struct view *v)
{
	if (!v)
		return;
	while (v->top)
		view_pop(v);
	marks_free(&v->marks);
	buf_free(&v->file);
	buf_free(&v->message);
	free(v);
}

/* ---- what keys do ---- */

/* The function on the line, or a message that there is none. */
static bool view_function(struct view *v, uint32_t *object, uint32_t *symbol)
{
	struct pane *p = v->top;

	if (p->kind->function && p->at < p->n && p->kind->function(p, p->at, object, symbol))
		return true;
	view_say(v, "there is no function on this line");
	return false;
}

/* Shows callers and callees of the function on the line. */
static int view_calls(struct view *v)
{
	uint32_t object, symbol;

	return view_function(v, &object, &symbol)
	               ? view_push(v, pane_calls(&v->opts, v->top->scope, object, symbol))
	               : 0;
}

/* Shows source and instructions of the function on the line, as the caller of the view has them. */
static int view_annotate(struct view *v)
{
	struct pane *p = v->top;
	const struct profile *profile = p->scope->profile;
	uint32_t object, symbol;
	struct buf text = { 0 };

	if (!v->opts.annotate || !p->kind->function || p->at >= p->n ||
	    !p->kind->function(p, p->at, &object, &symbol) || !object || !symbol) {
		view_say(v, "there is no function with code on this line");
		return 0;
	}
	if (v->opts.annotate(v->opts.ctx,
	                     profile_text(profile, profile_object_at(profile, object)->path),
	                     profile_text(profile, symbol), &text) < 0) {
		buf_free(&text);
		return -ENOMEM;
	}
	return view_push(v, pane_text(&v->opts, p->scope, "source and instructions", &text));
}

/* What samples are chosen by: a column of a whole stack, and its value. */
struct view_choice {
	enum rollup_column column;
	uint32_t value;
};

/* For profile_filter: whether a row has the chosen value. */
static bool view_is_chosen(const struct profile *p, const struct profile_row *row, void *ctx)
{
	const struct view_choice *c = ctx;
	const struct profile_task *task = profile_task_at(p, row->key.task);

	return (c->column == ROLLUP_COMM  ? task->comm
	        : c->column == ROLLUP_TID ? task->tid
	                                  : row->key.slice) == c->value;
}

/* Goes on with the samples of one command, thread or slice of time; label says which. */
static int view_zoom_samples(struct view *v, struct view_choice choice, const char *label)
{
	struct pane_scope *old = v->top->scope, *s;
	/* A filtered profile has its rows in the old order; equal views want one order whatever
	 * came before. */
	struct profile *p, *canonical;
	int r = profile_filter(&p, old->profile, view_is_chosen, &choice);

	if (r < 0)
		return r;
	r = profile_canonical(&canonical, p);
	profile_free(p);
	if (r < 0)
		return r;
	s = pane_scope_new(canonical, old->event, label);
	if (!s) {
		profile_free(canonical);
		return -ENOMEM;
	}
	s->owned = canonical;
	return view_enter(v, s);
}

/* Goes on with the functions of one object. Nothing is filtered here: the frames that are shown are
 * chosen by the scope. */
static int view_zoom_object(struct view *v, uint32_t object)
{
	struct pane_scope *old = v->top->scope;
	struct pane_scope *s =
	        pane_scope_new(old->profile, old->event, pane_object(old->profile, object));
	size_t n = profile_n_frames(old->profile);

	/* The profile stays that of the old scope, which lies below and lives longer. */
	if (s)
		s->shown = calloc(n + 1, sizeof(*s->shown));
	if (!s || !s->shown) {
		pane_scope_free(s);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i <= n; i++)
		s->shown[i] = profile_frame_at(old->profile, i)->object == object;
	return view_enter(v, s);
}

/* By what is on the line: a function's object, or the thing that the row stands for. */
static int view_zoom(struct view *v, bool to_object)
{
	struct pane *p = v->top;
	enum rollup_column column;
	uint32_t value, symbol;
	char label[ROLLUP_TEXT_MAX];

	if (to_object && p->kind->function && p->at < p->n &&
	    p->kind->function(p, p->at, &value, &symbol))
		return view_zoom_object(v, value);
	if (!pane_table_thing(p, p->at, &column, &value, label))
		return 0;
	if (column == ROLLUP_OBJECT)
		return view_zoom_object(v, value);
	return column == ROLLUP_COMM || column == ROLLUP_TID || column == ROLLUP_SLICE
	               ? view_zoom_samples(v, (struct view_choice){ column, value }, label)
	               : 0;
}

/* Shows the next event, or the one before, by itself. */
static int view_event(struct view *v, int step)
{
	const struct pane_scope *old = v->top->scope;
	size_t n = profile_n_events(v->opts.profile);
	uint32_t event = (uint32_t)((old->event - 1 + (step < 0 ? n - 1 : 1)) % n + 1);

	if (n < 2) {
		view_say(v, "the recording has one event");
		return 0;
	}
	/* What was entered from here is of the old event. */
	while (v->top->below)
		view_pop(v);
	if (view_enter(v, pane_scope_new(v->opts.profile, event, "")) < 0)
		return -ENOMEM;
	/* What was lowest shows the other event, and goes. */
	pane_free(v->top->below);
	v->top->below = NULL;
	return 0;
}

/* Marks the function on the line, or takes its mark away. */
static int view_mark(struct view *v)
{
	uint32_t object, symbol;

	return view_function(v, &object, &symbol)
	               ? marks_toggle(&v->marks, v->top->scope->profile, object, symbol)
	               : 0;
}

/* Goes to the next line of a marked function, around the end of the list. */
static int view_next_mark(struct view *v)
{
	struct pane *p = v->top;
	uint32_t object, symbol;

	for (size_t i = 1; p->kind->function && i <= p->n; i++) {
		size_t at = (p->at + i) % p->n;

		if (p->kind->function(p, at, &object, &symbol) &&
		    marks_has(&v->marks, p->scope->profile, object, symbol)) {
			p->at = at;
			return 0;
		}
	}
	view_say(v, "no function here is marked: m marks one");
	return 0;
}

static const char help[] =
        "MOVING\n"
        "  Up, Down, k, j          one line\n"
        "  PgUp, PgDn, b, Space    one screen          Home, End, g, G   first, last line\n"
        "  Left, Esc, Backspace, h back to what was here before\n"
        "  q                       leave\n"
        "\n"
        "WHAT IS SHOWN\n"
        "  1 to 8, Tab             functions, call tree, called by, objects, commands, threads,\n"
        "                          time, what became of the stacks\n"
        "  < >                     the event before, the next event\n"
        "  /                       only lines with this text in them; Esc: all again\n"
        "  m, n                    mark the function, or not; the next one that is marked\n"
        "  w                       write these lines to a new file\n"
        "\n"
        "IN A TABLE\n"
        "  Enter, c                callers and callees of the function; samples of the row alone\n"
        "  s                       order by total, or by self\n"
        "  d                       only functions of this row's object\n"
        "  a                       source and instructions, with their samples\n"
        "\n"
        "IN A CALL TREE\n"
        "  Enter                   open or close          Right, Left, +, -   open, close\n"
        "  E, C                    open, close all        H   open the hottest way down\n"
        "  c, a                    callers and callees, source of the function\n"
        "\n"
        "Total is the share of samples with the function in their stack, self of those in the\n"
        "function alone. [k] is the kernel's, [.] a program's, [i] a call that was inlined.\n"
        "--stdio, or a pipe, prints the report as text.\n";

/* Shows the keys, as text. */
static int view_help(struct view *v)
{
	struct buf text = { 0 };

	buf_put_text(&text, help);
	return view_push(v, pane_text(&v->opts, v->top->scope, "keys", &text));
}

/* Goes back: first from a filter, then from a pane. */
static int view_back(struct view *v)
{
	struct pane *p = v->top;

	if (p->filter.n) {
		buf_clear(&p->filter);
		p->at = p->top = 0;
		return p->kind->filter(p);
	}
	if (p->below)
		view_pop(v);
	else
		view_say(v, "q leaves");
	return 0;
}

/* ---- writing what is shown ---- */

/* A screen that is a line of text: styles are left out, and columns become blanks. */
static void view_put_line(void *ctx, unsigned row, unsigned column, unsigned style,
                          const char *text)
{
	struct buf *line = ctx;
	size_t have = shown_columns(buf_text(line), line->n);

	(void)row;
	(void)style;
	buf_printf(line, "%*s%s", have < column ? (int)(column - have) : 0, "", text);
}

/* The lines of the pane as text, not only those on the screen. */
static void view_text(struct view *v, struct buf *ret)
{
	struct buf line = { 0 };
	const struct view_screen s = { 1, WRITTEN_COLUMNS, &line, view_put_line };
	struct pane *p = v->top;

	p->kind->heading(p, &s, 0);
	for (size_t i = 0;; i++) {
		buf_put(ret, buf_text(&line), line.n);
		buf_put_text(ret, "\n");
		buf_clear(&line);
		if (i == p->n)
			break;
		p->kind->line(p, &s, 0, i, VIEW_PLAIN);
	}
	buf_free(&line);
}

/* Writes the pane to the file that was named, which must be new. */
static int view_write(struct view *v)
{
	struct buf text = { 0 };
	const char *path = buf_text(&v->file);
	int fd, error = 0;

	view_text(v, &text);
	if (text.failed)
		return -ENOMEM;
	/* A file that is there is not written over. */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		error = errno;
	/* write(2) may take a part only, and a signal may interrupt it. */
	for (size_t at = 0; !error && at < text.n;) {
		ssize_t n = write(fd, text.bytes + at, text.n - at);

		if (n < 0 && errno != EINTR)
			error = errno;
		at += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0 && close(fd) && !error)
		error = errno;
	buf_clear(&v->message);
	shown_printf(&v->message, "%s: %s", path, error ? strerror(error) : "written");
	buf_free(&text);
	return 0;
}

/* ---- keys ---- */

/* Takes the last character away, all bytes of it. */
static void view_erase(struct buf *text)
{
	while (text->n && (text->bytes[text->n - 1] & 0xc0) == 0x80)
		/* Bytes 10xxxxxx continue a character of UTF-8. */
		text->n--;
	text->n -= text->n > 0;
}

/* A key while a text is typed: the filter, which works at once, or the name of a file. */
static int view_type(struct view *v, int key)
{
	struct buf *text = v->mode == VIEW_FILTERING ? &v->top->filter : &v->file;
	unsigned char c = (unsigned char)key;

	if (key == VIEW_KEY_ENTER) {
		bool naming = v->mode == VIEW_NAMING;

		v->mode = VIEW_MOVING;
		return naming && text->n ? view_write(v) : 0;
	}
	if (key == VIEW_KEY_ESCAPE) {
		v->mode = VIEW_MOVING;
		buf_clear(text);
	} else if (key == VIEW_KEY_ERASE) {
		view_erase(text);
	} else if (key >= 0x20 && key < 0x100 && text->n < 1000) {
		buf_put(text, &c, 1);
	}
	if (text != &v->top->filter)
		return 0;
	/* The list is another one: it begins at its first line. */
	v->top->at = v->top->top = 0;
	return v->top->kind->filter(v->top);
}

/* Moves the cursor. False: the key is not for that. */
static bool view_move(struct view *v, int key)
{
	struct pane *p = v->top;
	size_t page = v->rows > 1 ? v->rows - 1 : 1, last = p->n ? p->n - 1 : 0;

	switch (key) {
	case VIEW_KEY_UP:
	case 'k':
		p->at -= p->at > 0;
		return true;
	case VIEW_KEY_DOWN:
	case 'j':
		p->at += p->at < last;
		return true;
	case VIEW_KEY_PAGE_UP:
	case 'b':
		p->at = p->at > page ? p->at - page : 0;
		return true;
	case VIEW_KEY_PAGE_DOWN:
	case ' ':
		p->at = last - p->at > page ? p->at + page : last;
		return true;
	case VIEW_KEY_HOME:
	case 'g':
		p->at = 0;
		return true;
	case VIEW_KEY_END:
	case 'G':
		p->at = last;
		return true;
	default:
		return false;
	}
}

/* A key that every pane has. */
static int view_common_key(struct view *v, int key)
{
	unsigned section = v->top->section;

	switch (key) {
	case '/':
		v->mode = VIEW_FILTERING;
		return 0;
	case 'w':
		v->mode = VIEW_NAMING;
		buf_clear(&v->file);
		return 0;
	case VIEW_KEY_ENTER:
		return v->top->kind->function ? view_calls(v) : view_zoom(v, false);
	case 'c':
		return view_calls(v);
	case 'a':
		return view_annotate(v);
	case 'd':
		return view_zoom(v, true);
	case 'm':
		return view_mark(v);
	case 'n':
		return view_next_mark(v);
	case '<':
	case '>':
		return view_event(v, key == '>' ? 1 : -1);
	case VIEW_KEY_TAB:
		return view_section(v, (section + 1) % SECTIONS);
	case VIEW_KEY_BACK_TAB:
		return view_section(v, (section + SECTIONS - 1) % SECTIONS);
	case VIEW_KEY_HELP:
	case '?':
		return view_help(v);
	case VIEW_KEY_LEFT:
	case VIEW_KEY_ESCAPE:
	case VIEW_KEY_ERASE:
	case 'h':
		return view_back(v);
	default:
		return key >= '1' && key < '1' + (int)SECTIONS
		               ? view_section(v, (unsigned)(key - '1'))
		               : 0;
	}
}

/* 1: leave; 0; -errno. */
int view_key(struct view *v, int key)
{
	struct pane *p = v->top;
	int r;

	buf_clear(&v->message);
	if (v->mode != VIEW_MOVING)
		return view_type(v, key);
	if (key == 'q')
		return 1;
	/* Moving is the same in all panes. The pane's own keys come before those that all have, so
	 * a tree may take Left and Right for itself. */
	if (view_move(v, key))
		return 0;
	r = p->kind->key ? p->kind->key(p, key) : 0;
	return r ? (r < 0 ? r : 0) : view_common_key(v, key);
}

/* ---- drawing ---- */

/* A whole row in one style. */
static void view_bar(const struct view_screen *s, unsigned row, const char *text)
{
	struct buf line = { 0 };
	size_t n;

	shown_cut(&line, text, s->columns, 0);
	n = shown_columns(buf_text(&line), line.n);
	buf_printf(&line, "%*s", n < s->columns ? (int)(s->columns - n) : 0, "");
	s->put(s->ctx, row, 0, VIEW_BAR, buf_text(&line));
	buf_free(&line);
}

/* The first line: which recording, event and samples. */
static void view_draw_title(struct view *v, const struct view_screen *s)
{
	const struct pane *p = v->top;
	struct buf text = { 0 };

	shown_printf(&text, " %s  %s  %llu samples", v->opts.title,
	             profile_event_name(p->scope->profile, p->scope->event),
	             (unsigned long long)p->scope->samples);
	if (p->scope->label.n)
		buf_printf(&text, "  of %s", buf_text(&v->top->scope->label));
	if (p->filter.n)
		shown_printf(&text, "  with '%s'", buf_text(&v->top->filter));
	view_bar(s, 0, buf_text(&text));
	buf_free(&text);
}

/* The second line: the sections, those that have no room left out. */
static void view_draw_sections(struct view *v, const struct view_screen *s)
{
	unsigned column = 1, gap = 2, sum = 1;
	char text[32];

	for (unsigned i = 0; i < SECTIONS; i++)
		sum += (unsigned)strlen(sections[i].name) + 2 + gap;
	if (sum > s->columns)
		gap = 1;
	for (unsigned i = 0; i < SECTIONS; i++) {
		bool here = i == v->top->section;
		int n = snprintf(text, sizeof(text), "%u %s", i + 1, sections[i].name);

		if (column + (unsigned)n >= s->columns)
			break;
		s->put(s->ctx, 1, column, here ? VIEW_HEADING : VIEW_DIM, text);
		column += (unsigned)n + gap;
	}
}

/* The last line: a message, the text that is typed, or the keys; and the place in the list. */
static void view_draw_keys(struct view *v, const struct view_screen *s)
{
	struct pane *p = v->top;
	struct buf text = { 0 };
	char place[48];
	int n = snprintf(place, sizeof(place), " %zu/%zu", p->n ? p->at + 1 : 0, p->n);

	if (v->mode == VIEW_FILTERING)
		shown_printf(&text, "/%s_", buf_text(&p->filter));
	else if (v->mode == VIEW_NAMING)
		shown_printf(&text, "write to: %s_", buf_text(&v->file));
	else if (v->message.n)
		buf_put(&text, buf_text(&v->message), v->message.n);
	else
		buf_put_text(&text, p->kind->keys);
	view_bar(s, s->rows - 1, buf_text(&text));
	if (n > 0 && (unsigned)n < s->columns)
		s->put(s->ctx, s->rows - 1, s->columns - (unsigned)n, VIEW_BAR, place);
	buf_free(&text);
}

/* Keeps the cursor on the list and on the screen. */
static void view_scroll(struct view *v)
{
	struct pane *p = v->top;

	if (p->at >= p->n)
		p->at = p->n ? p->n - 1 : 0;
	if (p->top > p->at)
		p->top = p->at;
	if (p->at - p->top >= v->rows)
		p->top = p->at - v->rows + 1;
}

/* Draws from the top: the bar, the sections, the heading, as much of the list as fits, the keys. */
void view_draw(struct view *v, const struct view_screen *s)
{
	struct pane *p = v->top;

	if (s->columns < COLUMNS_LEAST || s->rows < ROWS_LEAST) {
		if (s->columns >= 8 && s->rows)
			s->put(s->ctx, 0, 0, VIEW_PLAIN, "no room");
		return;
	}
	v->rows = s->rows - ABOVE - BELOW;
	view_scroll(v);
	view_draw_title(v, s);
	view_draw_sections(v, s);
	p->kind->heading(p, s, 2);
	for (unsigned i = 0; i < v->rows && p->top + i < p->n; i++)
		p->kind->line(p, s, ABOVE + i, p->top + i,
		              p->top + i == p->at ? VIEW_PLAIN | VIEW_CURSOR : VIEW_PLAIN);
	if (!p->n)
		s->put(s->ctx, ABOVE, 1, VIEW_DIM,
		       p->filter.n ? "nothing with this text" : "nothing");
	view_draw_keys(v, s);
}
