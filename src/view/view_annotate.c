// SPDX-License-Identifier: MIT
/*
 * view_annotate.c: a function's source and instructions, which are made in a thread (aside.c) while
 * a pane says so. One function at a time: who leaves the pane gives it up.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/shown.h"
#include "view/aside.h"
#include "view/view_state.h"

static struct pane *view_annotate_pane(struct view *v, struct pane_scope *s, struct buf *text)
{
	return pane_text(&v->opts, s, "source and instructions", false, text);
}

/* Begins, and shows what stands there until it is made. */
static int view_annotate_start(struct view *v, const struct view_function *f)
{
	struct buf text = { 0 };
	int r = aside_start(&v->aside, &v->opts, f);

	if (r < 0) {
		view_say(v, "there is no room for that now");
		return r == -ENOMEM ? r : 0;
	}
	shown_printf(&text, "%s: its code is looked for; Esc gives it up\n", f->symbol);
	r = view_push(v, view_annotate_pane(v, v->top->scope, &text));
	v->aside_pane = r < 0 ? NULL : v->top;
	return r;
}

/* Says what stands against it, or begins. */
int view_annotate(struct view *v)
{
	struct view_function f = { 0 };

	if (!v->opts.annotate) {
		view_say(v, "there is no code of these samples, only names");
		return 0;
	}
	if (!view_names(v, v->top->at, &f.object, &f.symbol) || !*f.symbol) {
		view_say(v, "there is no function with code on this line");
		return 0;
	}
	if (profile_n_events(v->opts.profile) > 1)
		f.event = v->top->scope->event_name;
	if (v->aside_pane) {
		view_say(v, "another function is looked for");
		return 0;
	}
	return view_annotate_start(v, &f);
}

/* The text takes the place of what stood there for it. */
int view_annotated(struct view *v)
{
	struct pane *old = v->aside_pane, *p;
	struct buf text = { 0 };
	int r = old ? aside_take(v->aside, &text) : 0;

	if (!old || r < 0) {
		buf_free(&text);
		return r;
	}
	view_forget_aside(v, old);
	p = view_annotate_pane(v, old->scope, &text);
	if (!p)
		return -ENOMEM;
	view_swap(v, old, p);
	return 0;
}
