// SPDX-License-Identifier: MIT
/*
 * view_annotate.c: a function's source and instructions, which are made in a thread (aside.c) while
 * a pane says so. One function at a time: who leaves the pane gives it up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "view/aside.h"
#include "view/view_state.h"

/* Code has columns; one line is a message, which is broken where the screen ends. */
static struct pane *view_annotate_pane(struct view *v, struct pane_scope *s, struct buf *text)
{
	const char *end = memchr(text->bytes ? text->bytes : (const uint8_t *)"", '\n', text->n);
	bool prose = !end || end + 1 == (const char *)text->bytes + text->n;

	return pane_text(&v->opts, s, "source and instructions", prose, text);
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

/* What a scope chooses of the samples below it. False: all of them. */
static bool view_annotate_choice(struct pane_scope *s, struct view_choice *ret)
{
	const struct profile_slices *slices = profile_slices(s->profile);

	if (s->what == PANE_ALL || s->what == PANE_OBJECT)
		return false;
	*ret = (struct view_choice){
		.column = s->column,
		.number = s->number,
		.text = s->column == ROLLUP_COMM ? buf_text(&s->value) : buf_text(&s->label),
		.whole = s->what == PANE_SAMPLES,
	};
	switch (s->column) {
	case ROLLUP_SLICE:
		ret->start_ns = (slices->first + s->number) * slices->quantum_ns;
		ret->stop_ns = ret->start_ns + slices->quantum_ns - 1;
		ret->whole = ret->whole && s->number != PROFILE_NOT_KEPT && slices->quantum_ns;
		break;
	case ROLLUP_COMM:
	case ROLLUP_PID:
	case ROLLUP_TID:
	case ROLLUP_CPU:
		break;
	default:
		ret->whole = false;
	}
	return true;
}

/* The zooms that lead to what is shown. How many; of more the outermost are left out. */
static size_t view_annotate_choices(const struct view *v, struct view_choice *ret, size_t most)
{
	const struct pane_scope *last = NULL;
	size_t n = 0;

	for (const struct pane *p = v->top; p && n < most; p = p->below) {
		if (p->scope != last)
			n += view_annotate_choice(p->scope, &ret[n]);
		last = p->scope;
	}
	return n;
}

#define CHOICES_MAX 16

/* Says what stands against it, or begins. */
int view_annotate(struct view *v)
{
	struct view_choice choices[CHOICES_MAX];
	struct view_function f = { .choices = choices };

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
	if (v->opts.compare && v->opts.compare->half) {
		view_say(v, "code of both sides is there when both are read");
		return 0;
	}
	if (v->aside_pane) {
		view_say(v, "another function is looked for");
		return 0;
	}
	f.n_choices = view_annotate_choices(v, choices, CHOICES_MAX);
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
