// SPDX-License-Identifier: MIT
/*
 * top_capture.c: a recorder whose records go into a window. Knows when to stop reading.
 *
 * The thread that reads the rings is this file's caller; names are looked up in another
 * (top_window.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/record/record_say.h"
#include "asked/record_signals.h"
#include "cli/top/top.h"

#define TOP_PREPARE_MS 2000    /* at most, for unwind tables before sampling begins */
#define TOP_SHELF (128u << 20) /* bytes of names that a refresh leaves to the next one */
/* How long records are waited for at a time. */
#define TOP_STEP_MS 100

/* CLOCK_MONOTONIC. */
static uint64_t top_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Says the failure. */
static int top_fail(const struct top *t, const struct seam_error *err, int error)
{
	cmd_error(t->cmd, "%s", cmd_reason(err, error));
	return EXIT_FAILED;
}

/* For the recorder, which asks while it opens many events. */
static bool top_is_stopped(void)
{
	bool was_sent;

	return record_signals_asked(&was_sent);
}

/* ---- opening ---- */

/* Holds a command back, opens the rings, and makes the window for their records. */
static int top_open_recorder(struct top *t, struct seam_error *err)
{
	struct recorder_opts *o = &t->o.rec;
	const struct recorder_opts *opened;
	int error;

	/* Standard output is the screen. */
	o->command_to_stderr = true;
	o->build_ids_always = true;
	o->no_context = true; /* windows do not keep it */
	o->prepare_ms = TOP_PREPARE_MS;
	o->session.stopped = top_is_stopped;
	o->session.log.line = record_say_log;
	o->session.log.ctx = (void *)t->cmd;
	o->progress = record_say_progress;
	o->progress_ctx = (void *)t->cmd;
	error = recorder_new(&t->recorder, o, err);
	if (error)
		return error;
	record_signals_catch();
	error = recorder_open(t->recorder, err);
	if (error)
		return error;
	record_signals_wake(t->recorder);
	opened = recorder_options(t->recorder);
	t->head = (struct datafile_opts){ .program = "seam " SEAM_VERSION,
		                          .groups = o->events,
		                          .use_clockid = opened->session.use_clockid,
		                          .clockid = opened->session.clockid };
	return window_new(&t->window, &t->head, recorder_events(t->recorder));
}

/* Begins to sample, and lets the command go. -errno. */
static int top_start(struct top *t, struct seam_error *err)
{
	const struct recorder_sink sink = { .write = window_write, .ctx = t->window };
	int error = recorder_begin(t->recorder, &sink, err);

	if (!error)
		error = recorder_start(t->recorder, err);
	return error ? error : recorder_run_command(t->recorder, err);
}

/* An exit code; what failed was said. */
int top_open(struct top *t)
{
	struct seam_error err = { 0 };
	int error = symbol_shelf_new(&t->shelf, TOP_SHELF, false);

	t->naming.symbols.shelf = t->shelf;
	if (!error)
		error = top_open_recorder(t, &err);
	if (error && top_is_stopped()) {
		cmd_error(t->cmd, "stopped before sampling began");
		return EXIT_FAILED;
	}
	if (!error)
		error = top_start(t, &err);
	return error ? top_fail(t, &err, error) : EXIT_OK;
}

/* Also after top_open failed. */
void top_close(struct top *t)
{
	record_signals_wake(NULL);
	recorder_free(t->recorder);
	window_free(t->window);
	symbol_shelf_free(t->shelf);
}

/* ---- reading ---- */

/* 1: the recorder ended, or was asked to; 0: the time is over; -errno. */
int top_read(struct top *t, int ms)
{
	uint64_t end = top_now_ms() + (uint64_t)ms, now;
	bool ended = false;
	int error = 0;

	while (!error && !ended && (now = top_now_ms()) < end) {
		recorder_wait(t->recorder,
		              end - now < TOP_STEP_MS ? (int)(end - now) : TOP_STEP_MS);
		ended = top_is_stopped() || recorder_ended(t->recorder);
		error = recorder_read(t->recorder);
	}
	return error ? error : ended;
}
