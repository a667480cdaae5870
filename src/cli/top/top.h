/* SPDX-License-Identifier: MIT */
/*
 * top.h: what the files of `seam top` share. top.c takes the command line and says when and where
 * it is shown, top_capture.c runs the recorder, top_window.c makes a report of what came since the
 * last one (a refresh), top_store.c one of what a store has of the last while, top_view.c gives it
 * to the view.
 */
#ifndef SEAM_CLI_TOP_H
#define SEAM_CLI_TOP_H

#include "asked/record_options.h"
#include "cli/report/report_options.h"
#include "fleet/quality.h"
#include "input/stored.h"
#include "recorder/recorder.h"
#include "recorder/window.h"
#include "view/feed.h"

struct top {
	const struct cmd *cmd;
	struct record_opts o; /* what is recorded */
	struct naming naming;
	struct report view; /* how it is shown */
	bool children, stdio, limit_given;
	uint64_t delay_ms, iterations; /* 0: without end */

	struct stored stored; /* what is shown in place of this machine */

	struct recorder *recorder;
	struct window *window;      /* where its records go */
	struct datafile_opts head;  /* what window says of itself */
	struct symbol_shelf *shelf; /* names of files, from one refresh to the next; NULL: none */
	uint64_t refreshes;

	struct feed *feed; /* of the view; NULL: text */
	/* Shows a refresh. r: it, with what was loaded. heading: lines above a table,
	 * escaped. -errno. */
	int (*show)(void *top, struct report *r, struct buf *heading);
};

/* EXIT_OK, or it was said. */
int top_open(struct top *t);
void top_close(struct top *t);
/* Reads until now + ms, or until the end; true: nothing more will come. -errno. */
int top_read(struct top *t, int ms);

/* Shows what came since the last refresh. last: nothing more will come. 1: what is recorded ended
 * meanwhile; 0; -errno, after saying why. */
int top_refresh(struct top *t, bool last);

/* Appends a table for each event that has samples. -ENOMEM. */
int top_tables(struct report *r, struct buf *out);

/* Of a store: whether the options go together, and a refresh. */
bool top_store_ready(struct top *t);
int top_store_refresh(struct top *t);

/* ---- top_view.c ---- */

#define TOP_VIEW_SLICE_NS 100000000u

/* PROFILE_KEEP_*: what a refresh has to have. */
unsigned top_keeps(const struct top *t);
/* A show: gives a refresh to the view. */
int top_view_show(void *top, struct report *r, struct buf *heading);

#endif
