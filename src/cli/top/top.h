/* SPDX-License-Identifier: MIT */
/*
 * top.h: what the files of `seam top` share. top.c takes the command line and draws, top_capture.c
 * records, top_window.c makes a report of what came since the last one.
 *
 * A refresh is a recording in memory, read by the same code as a file: side-band records since the
 * start, and the samples and deferred records of the last while. So stacks are merged by the rules
 * of `seam report`. A sample waits TOP_GRACE_NS for its user part before it is shown; in which
 * interval it is shown is decided by its time, each in exactly one.
 *
 * Memory is bounded: TOP_SIDE_MAX of side-band records, then /proc is read anew; TOP_WINDOW_MAX of
 * samples per interval, the rest is counted and said.
 */
#ifndef SEAM_CLI_TOP_H
#define SEAM_CLI_TOP_H

#include "capture/target.h"
#include "recorder/bpf_stacks.h"
#include "cli/record/record_options.h"
#include "cli/report/report.h"
#include "recorder/live.h"

#define TOP_GRACE_NS 300000000ULL
#define TOP_SIDE_MAX (32u << 20)
#define TOP_WINDOW_MAX (64u << 20)

struct top {
	const struct cmd *cmd;
	struct record_opts o; /* what is recorded */
	struct report view;   /* how it is shown */
	bool children, stdio, ui;
	uint64_t delay_ms, iterations; /* 0: without end */

	/* ---- top_capture.c ---- */
	struct target target;
	struct session *session;
	struct bpf_stacks bpf;            /* in front of all else */
	struct live *live;                /* NULL: records come as they are in the file */
	const struct seam_events *events; /* of what is in side and window */
	struct buf side, window;
	uint64_t newest_ns; /* time of the newest sample in window */
	uint64_t shown_ns;  /* samples before this were shown */
	uint64_t dropped;   /* samples that window had no room for, since the last refresh */
	uint64_t lost;      /* records lost in the kernel's rings, since the start */
	bool grew;          /* samples came since the last refresh */

	/* ---- top_window.c ---- */
	int file; /* memfd that holds the recording of a refresh */
	uint64_t refreshes;
};

/* EXIT_OK, or it was said. */
int top_open(struct top *t);
void top_close(struct top *t);
/* Reads on until now + ms, or the end; true when there is no more to come. -errno. */
int top_read(struct top *t, int ms);
/* What is recorded ended: reads the rest. -errno. */
int top_finish(struct top *t);
/* /proc anew, when side-band records take too much. -errno. */
int top_resynthesize(struct top *t);

/* Adds a report of what came since the last refresh to out; last: nothing more will come. 1: what
 * is recorded ended meanwhile; 0; -errno, and it was said. */
int top_refresh(struct top *t, bool last, size_t lines, struct buf *out);

#endif
