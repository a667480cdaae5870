/* SPDX-License-Identifier: MIT */
/*
 * view_made.h: what takes long in a view: panes that are made of many samples, files that are
 * written. A thread makes them, while the view shows what it showed before (view_made.c). Lines of
 * a long list are made in steps instead, as they belong to what is shown.
 *
 * Invariant: while a thread makes something, nobody changes the view but for where its cursor is:
 * keys wait, or stop it. So the thread may read all of it, and what it makes is nobody else's.
 */
#ifndef SEAM_VIEW_VIEW_MADE_H
#define SEAM_VIEW_VIEW_MADE_H

#include "view/view_state.h"

struct view_made {
	const char *what; /* in the first line while it is made */
	/* Makes it, in a thread where there are many samples. -ENOMEM; -errno. */
	int (*make)(struct view *v, struct view_made *m);
	/* In its place: makes a part of it, in the view's own thread and between two keys, so it
	 * may change the view. 1: it is made; 0: it goes on; -ENOMEM. */
	int (*step)(struct view *v, struct view_made *m);
	/* Shows it. -ENOMEM. */
	int (*put)(struct view *v, struct view_made *m);
	int (*then)(struct view *v); /* of view_steps.c; NULL: nothing */
	/* Where it is given up: NULL: nothing is to be said. */
	void (*stopped)(struct view *v, struct view_made *m);

	/* What is asked for, and what is made. */
	unsigned section;
	unsigned sections;      /* a key of another one of so many stops it */
	size_t line;            /* of the top pane */
	struct pane_scope like; /* value and label are freed with this */
	struct pane_scope *scope;
	struct pane *pane;
	bool here;   /* no thread is used */
	int ready;   /* of steps: a descriptor that can be read while they go on */
	bool renews; /* a key stops it, and it begins anew */
	struct view_news news;
	struct pane **again; /* for each pane of the view, from the top down */
	size_t n;
	struct buf text; /* what is to be said, or written */
};

/* Begins, and where there are few samples, ends as well. Takes m over, also where it fails; m: of
 * calloc; NULL: -ENOMEM. */
int view_make(struct view *v, struct view_made *m);
/* A key while something is made. 1: the view is to be left; 0. */
int view_key_meanwhile(struct view *v, int key);
/* Waits for what is made in a thread, and shows it; goes on with what is made in steps. -ENOMEM. */
int view_made_take(struct view *v);
/* Can be read when view_made_take is to be called. */
int view_made_fd(const struct view *v);
/* Gives it up, and waits for its thread. */
void view_made_drop(struct view *v);

#endif
