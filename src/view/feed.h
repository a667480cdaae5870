/* SPDX-License-Identifier: MIT */
/*
 * feed.h: what comes into a view while somebody looks: a thread makes profiles, the view takes the
 * newest one.
 *
 * The thread (feed_start) calls feed_put, feed_state and feed_stopped; whoever has the screen calls
 * the other functions. What was put and not taken when the next one comes is let go: who looks is
 * never behind.
 */
#ifndef SEAM_VIEW_FEED_H
#define SEAM_VIEW_FEED_H

#include "view/view.h"

/* What a thread's work returns beside -errno, which leaves the view as well. */
enum {
	FEED_STAYS,  /* nothing more will come; what came stays on the screen */
	FEED_LEAVES, /* the view is to be left */
};

struct feed;

/* -errno. */
int feed_new(struct feed **ret);
/* Begins the work in a thread that no signal interrupts. -errno. */
int feed_start(struct feed *f, int (*work)(void *ctx, struct feed *f), void *ctx);
/* Waits for the work's end. What it returned; FEED_STAYS if it was never begun. */
int feed_join(struct feed *f);
/* The same, after asking it to end. */
int feed_end(struct feed *f);
/* Asks the work to end, and waits for it, but no longer than this. False: it goes on. */
bool feed_end_within(struct feed *f, int ms);
/* To be called after feed_end. */
void feed_free(struct feed *f);

/* ---- in the thread ---- */

/* Takes over what news has. */
void feed_put(struct feed *f, struct view_news *news);
/* A word for the end of the first line: "reading 45 %". */
void feed_state(struct feed *f, const char *text);
/* Whether nobody looks any more. */
bool feed_stopped(struct feed *f);

/* ---- where the screen is ---- */

/* Readable when there is something to be taken. */
int feed_fd(const struct feed *f);
/* Waits until there is a profile, or the work has ended, but not longer than that. */
void feed_wait(struct feed *f, int ms);
/* Whether the work has ended, and what it returned. */
bool feed_ended(struct feed *f, int *result);
/* Takes what is new: news->profile is NULL if there is no profile; *state: as it is now.
 * -ENOMEM. */
int feed_take(struct feed *f, struct view_news *news, struct buf *state);

#endif
