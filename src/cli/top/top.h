/* SPDX-License-Identifier: MIT */
/*
 * top.h: what the files of `seam top` share. top.c takes the command line and draws, top_capture.c
 * runs the recorder, top_window.c makes a report of what came since the last one (a refresh),
 * top_store.c one of what a store has of the last while.
 */
#ifndef SEAM_CLI_TOP_H
#define SEAM_CLI_TOP_H

#include "asked/record_options.h"
#include "cli/report/report_options.h"
#include "fleet/quality.h"
#include "input/stored.h"
#include "recorder/recorder.h"
#include "recorder/window.h"

struct top {
	const struct cmd *cmd;
	struct record_opts o; /* what is recorded */
	struct naming naming;
	struct report view; /* how it is shown */
	bool children, stdio, ui;
	uint64_t delay_ms, iterations; /* 0: without end */

	struct stored stored; /* what is shown in place of this machine */

	struct recorder *recorder;
	struct window *window;     /* where its records go */
	struct datafile_opts head; /* what window says of itself */
	uint64_t refreshes;
};

/* EXIT_OK, or it was said. */
int top_open(struct top *t);
void top_close(struct top *t);
/* Reads until now + ms, or until the end; true: nothing more will come. -errno. */
int top_read(struct top *t, int ms);

/* Appends a report of what came since the last refresh to out. last: nothing more will come. 1:
 * what is recorded ended meanwhile; 0; -errno, after saying why. */
int top_refresh(struct top *t, bool last, size_t lines, struct buf *out);

/* Appends a table for each event that has samples. -ENOMEM. */
int top_tables(struct report *r, struct buf *out);

/* Of a store: whether the options go together, and a refresh. */
bool top_store_ready(struct top *t);
int top_store_refresh(struct top *t, size_t lines, struct buf *out);

#endif
