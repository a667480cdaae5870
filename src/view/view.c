// SPDX-License-Identifier: MIT
/*
 * view.c: the keys of a view: those that all panes have. Every key goes to the pane first, then to
 * what all panes share.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "view/aside.h"
#include "view/view_made.h"

/* What the sections need. */
#define VIEW_EMPTY_KEEPS (PROFILE_KEEP_PID | PROFILE_KEEP_TID | PROFILE_KEEP_SLICE)

/* Makes a profile of nothing, until the first one comes. */
static int view_begin_empty(struct view *v)
{
	int r = profile_new(&v->now.profile, VIEW_EMPTY_KEEPS);

	v->now.owned = r >= 0;
	v->opts.profile = v->now.profile;
	if (r >= 0 && v->opts.compare) {
		v->none = *v->opts.compare;
		v->none.side[0] = v->none.side[1] = v->opts.profile;
		v->opts.compare = &v->none;
	}
	return r;
}

/* Begins with the functions of the first event. */
int view_new(struct view **ret, const struct view_opts *opts)
{
	struct view *v;
	int r = 0;

	if (opts->profile && !profile_n_events(opts->profile))
		return -EINVAL;
	v = calloc(1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	v->opts = *opts;
	memcpy(v->columns, opts->columns, opts->n_columns * sizeof(*v->columns));
	v->opts.columns = v->columns;
	v->rows = 1;
	if (!v->opts.profile)
		r = view_begin_empty(v);
	if (r >= 0)
		r = view_enter(v, view_scope_all(v, opts->profile ? view_first_event(v) : ""));
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
	view_made_drop(v);
	while (v->top)
		view_pop(v);
	buf_free(&v->ahead);
	marks_free(&v->marks);
	buf_free(&v->typed);
	buf_free(&v->message);
	buf_free(&v->state);
	/* Panes and their scopes are gone: nobody reads these any more. */
	view_news_free(&v->now);
	view_news_free(&v->waiting);
	view_news_free(&v->left);
	free(v);
}

/* Marks the function on the line, or takes its mark away. */
static int view_mark(struct view *v)
{
	const char *object, *symbol;

	if (view_names(v, v->top->at, &object, &symbol))
		return marks_toggle(&v->marks, object, symbol);
	view_say(v, "there is no function on this line");
	return 0;
}

static int view_mark_after(struct view *v);
static int view_mark_before(struct view *v);

/* Goes to the next line of a marked function, or to the one before, around the end of the list,
 * which is made for that where it is not there. */
static int view_next_mark(struct view *v, bool back)
{
	struct pane *p = v->top;
	const size_t n = p->more ? (back ? p->at : p->n - p->at - 1) : p->n;
	const char *object, *symbol;

	for (size_t i = 1; v->marks.n && p->n && i <= n; i++) {
		size_t at = (p->at + (back ? p->n - i : i)) % p->n;

		if (view_names(v, at, &object, &symbol) && marks_has(&v->marks, object, symbol)) {
			p->at = at;
			return 0;
		}
	}
	if (v->marks.n && p->more)
		return view_all_lines(v, back ? view_mark_before : view_mark_after);
	view_say(v, "no function here is marked: m marks one");
	return 0;
}

static int view_mark_after(struct view *v)
{
	return view_next_mark(v, false);
}

static int view_mark_before(struct view *v)
{
	return view_next_mark(v, true);
}

bool view_frozen(const struct view *v)
{
	return v->frozen;
}

bool view_makes(const struct view *v)
{
	return v->made;
}

/* Holds what is shown, or lets the newest come. */
static int view_freeze(struct view *v)
{
	if (!v->opts.live) {
		view_say(v, "nothing new will come");
		return 0;
	}
	v->frozen = !v->frozen;
	return v->frozen ? 0 : view_renew_waiting(v);
}

/* The filter is another one: the list begins at its first line. Without a filter the cursor stays
 * on what was found, as far from the edge of the screen as it was. */
static int view_filter(struct view *v)
{
	struct pane *p = v->top;
	bool keeps = !p->filter.n && p->at < p->n;
	uint64_t id = keeps && p->kind->id ? p->kind->id(p, p->at) : 0;
	size_t above = p->at - p->top;
	int r;

	if (p->filter.n)
		p->at = p->top = 0;
	r = p->kind->filter(p);
	if (r < 0 || !keeps)
		return r;
	for (size_t i = 0; p->kind->id && i < p->n; i++)
		if (p->kind->id(p, i) == id) {
			p->at = i;
			break;
		}
	p->top = p->at > above ? p->at - above : 0;
	return view_seek(v);
}

/* Goes back: first from a filter, then from a pane. */
static int view_back(struct view *v)
{
	struct pane *p = v->top;

	if (p->filter.n) {
		buf_clear(&p->filter);
		return view_filter(v);
	}
	if (p->below)
		view_pop(v);
	else
		view_say(v, "q leaves");
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
	struct buf *text = v->mode == VIEW_FILTERING ? &v->top->filter : &v->typed;
	unsigned char c = (unsigned char)key;

	if (key == VIEW_KEY_ENTER) {
		bool naming = v->mode == VIEW_NAMING, sorting = v->mode == VIEW_SORTING;

		v->mode = VIEW_MOVING;
		return naming && text->n ? view_write(v) : sorting ? view_sort_keys(v) : 0;
	}
	if (key == VIEW_KEY_ESCAPE) {
		v->mode = VIEW_MOVING;
		buf_clear(text);
	} else if (key == VIEW_KEY_ERASE) {
		view_erase(text);
	} else if (key >= 0x20 && key < 0x100 && text->n < 1000) {
		buf_put(text, &c, 1);
	}
	return text == &v->top->filter ? view_filter(v) : 0;
}

/* Makes the lines that are near the cursor, where they are made as far as they are looked at. */
static int view_reach(struct view *v)
{
	struct pane *p = v->top;

	return p->more ? p->kind->reach(p, p->at + v->rows + FOLD_AHEAD) : 0;
}

/* Moves the cursor over lines that are there. False: the key is not for that. */
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
	case 'P':
		v->mode = VIEW_NAMING;
		buf_clear(&v->typed);
		return 0;
	case VIEW_KEY_ENTER:
		return v->top->kind->things ? view_zoom(v, false) : view_calls(v);
	case 'c':
		return view_calls(v);
	case 'a':
		return view_annotate(v);
	case 'd':
		return view_zoom(v, true);
	case 't':
		return view_zoom(v, false);
	case 'm':
		return view_mark(v);
	case 'S':
		v->mode = VIEW_SORTING;
		buf_clear(&v->typed);
		return 0;
	case 'M':
		return view_zoom_marked(v);
	case 'p':
		return view_freeze(v);
	case 'n':
	case 'N':
		return view_next_mark(v, key == 'N');
	case VIEW_KEY_END:
	case 'G':
		return view_last_line(v);
	case '<':
	case '>':
		return view_event(v, key == '>' ? 1 : -1);
	case VIEW_KEY_TAB:
		return view_section(v, (section + 1) % view_n_sections(v));
	case VIEW_KEY_BACK_TAB:
		return view_section(v, (section + view_n_sections(v) - 1) % view_n_sections(v));
	case VIEW_KEY_HELP:
	case '?':
		return view_help(v);
	case VIEW_KEY_LEFT:
	case VIEW_KEY_ESCAPE:
	case VIEW_KEY_ERASE:
	case 'h':
		return view_back(v);
	default:
		if (key >= '1' && key < '1' + (int)view_n_sections(v))
			return view_section(v, (unsigned)(key - '1'));
		view_say(v, "this key is listed, and does nothing");
		return 0;
	}
}

/* A key of the pane on top, or one that all panes have. Moving is the same in all of them; a pane's
 * own keys come before those that all have, so a tree may take Left and Right for itself. */
static int view_pane_key(struct view *v, int key)
{
	struct pane *p = v->top;
	int r = view_reach(v);

	if (r < 0 || view_move(v, key))
		return r;
	r = view_owns_key(v, key) ? p->kind->key(p, key) : 0;
	if (r)
		return r < 0 ? r : view_seek(v);
	return view_common_key(v, key);
}

/* 1: leave; 0; -errno. */
int view_key(struct view *v, int key)
{
	if (key == VIEW_KEY_NONE)
		return 0;
	buf_clear(&v->message);
	if (v->made)
		return view_key_meanwhile(v, key);
	if (v->mode != VIEW_MOVING)
		return view_type(v, key);
	if (!view_has_key(v, key)) {
		view_say(v, "this key does nothing here: ? lists those that do");
		return 0;
	}
	if (key == 'q')
		return 1;
	/* What moves by itself is held by Space, as by p. */
	if (key == ' ' && v->opts.live)
		return view_freeze(v);
	return view_pane_key(v, key);
}

/* ---- what takes long ---- */

/* What is made of the panes comes first: they stay what they are until then. */
int view_poll_fd(const struct view *v)
{
	return v->made ? view_made_fd(v) : v->aside ? aside_fd(v->aside) : -1;
}

/* Does what the keys that came meanwhile ask for; those that are for something that is made again
 * wait again. */
static int view_keys_ahead(struct view *v)
{
	struct buf ahead = v->ahead;
	const int *keys = (const int *)(const void *)ahead.bytes;
	size_t n = ahead.n / sizeof(*keys);
	int r = 0;

	v->ahead = (struct buf){ 0 };
	for (size_t i = 0; i < n && !r; i++)
		r = view_key(v, keys[i]);
	buf_free(&ahead);
	return r;
}

int view_finish(struct view *v)
{
	int r;

	if (!v->made)
		return view_annotated(v);
	r = view_made_take(v);
	if (!r && !v->made)
		r = view_keys_ahead(v);
	/* What waited for this. */
	return !r && !v->made && !v->frozen ? view_renew_waiting(v) : r;
}
