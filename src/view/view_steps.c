// SPDX-License-Identifier: MIT
/*
 * view_steps.c: keys that need more lines of a list than are made: to its end, to where its cursor
 * belongs, to the next mark, or all of them. Lines are made in steps, between which keys are
 * answered.
 */
#include <stdlib.h>
#include <time.h>

#include "view/view_made.h"

#define STEP_LINES 1000
#define STEP_NS 50000000 /* less than a person sees */

static uint64_t steps_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Makes lines for a while; for tests, which have all made aside, not longer than needed. 1: there
 * are enough; 0; -ENOMEM. */
static int steps_on(struct view *v, struct view_made *m)
{
	struct pane *p = v->top;
	uint64_t end = v->opts.aside_rows ? 0 : steps_now() + STEP_NS;
	bool done;
	int r;

	do {
		r = p->kind->reach(p, p->n + STEP_LINES);
		done = !p->more || (!m->then && !p->seeks);
	} while (r >= 0 && !done && steps_now() < end);
	return r < 0 ? r : done;
}

static int steps_put(struct view *v, struct view_made *m)
{
	v->top->seeks = false;
	return m->then ? m->then(v) : 0;
}

/* The list stays as long as it is. */
static void steps_stopped(struct view *v, struct view_made *m)
{
	(void)m;
	v->top->seeks = false;
}

/* Makes lines, and does what is to be done then; NULL: the cursor is where it belongs. -ENOMEM. */
static int steps_start(struct view *v, int (*then)(struct view *v),
                       void (*stopped)(struct view *v, struct view_made *m))
{
	struct view_made *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->step = steps_on;
	m->put = steps_put;
	m->stopped = stopped;
	m->then = then;
	m->sections = view_n_sections(v);
	return view_make(v, m);
}

int view_seek(struct view *v)
{
	return v->top->seeks ? steps_start(v, NULL, steps_stopped) : 0;
}

int view_all_lines(struct view *v, int (*then)(struct view *v))
{
	return steps_start(v, then, steps_stopped);
}

static int steps_to_end(struct view *v)
{
	v->top->at = v->top->n ? v->top->n - 1 : 0;
	return 0;
}

/* As far as it came. */
static void steps_end_stopped(struct view *v, struct view_made *m)
{
	steps_stopped(v, m);
	steps_to_end(v);
}

int view_last_line(struct view *v)
{
	return v->top->more ? steps_start(v, steps_to_end, steps_end_stopped) : steps_to_end(v);
}
