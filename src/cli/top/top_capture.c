// SPDX-License-Identifier: MIT
// top_capture.c: the rings into two bufs: side-band records, which are kept, and samples with their
// answers, which top_window.c takes out again. Knows the order in which a session is opened; which
// way user stacks are taken is chosen by record's ladder.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "abi/record_at.h"
#include "capture/bpf/asleep.h"
#include "capture/synth.h"
#include "recorder/fallback.h"
#include "cli/record/record_live.h"
#include "cli/record/record_say.h"
#include "cli/record/record_signals.h"
#include "cli/top/top.h"

#define TOP_PREPARE_MS 2000 /* at most, for unwind tables before sampling begins */
#define TOP_STEP_MS 100
#define TOP_FINISH_MS 400 /* for copies of stacks that wait to be walked when all is over */

static uint64_t top_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int top_fail(const struct top *t, const char *what, int error)
{
	cmd_error(t->cmd, "%s: %s", what, strerror(-error));
	return EXIT_FAILED;
}

/* ---- records ---- */

static int top_sample(struct top *t, const struct seam_record *record)
{
	struct seam_decoded d;

	if (t->window.n + record->size > TOP_WINDOW_MAX) {
		t->dropped += record->type == SEAM_RECORD_SAMPLE;
		return 0;
	}
	if (record->type == SEAM_RECORD_SAMPLE &&
	    seam_record_decode(t->events, record, &d, NULL) >= 0 && d.id.has & SEAM_SAMPLE_TIME) {
		t->grew = true;
		if (d.id.time_ns > t->newest_ns)
			t->newest_ns = d.id.time_ns;
	}
	return buf_put(&t->window, record->bytes, record->size);
}

static int top_record(struct top *t, const struct seam_record *record)
{
	struct seam_decoded d;

	switch (record->type) {
	case SEAM_RECORD_SAMPLE:
	case SEAM_RECORD_CALLCHAIN_DEFERRED:
		return top_sample(t, record);
	case SEAM_RECORD_LOST:
	case SEAM_RECORD_LOST_SAMPLES:
		/* What BPF programs lost, too; tasks that were not followed are no records. */
		if (!(record->misc & SEAM_MISC_LOST_TASKS) &&
		    seam_record_decode(t->events, record, &d, NULL) >= 0)
			t->lost += d.lost.lost;
		return 0;
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
	case SEAM_RECORD_COMM:
	case SEAM_RECORD_FORK:
	case SEAM_RECORD_EXIT:
	case SEAM_RECORD_KSYMBOL:
	case SEAM_RECORD_BPF_EVENT:
	case SEAM_RECORD_TEXT_POKE:
		return buf_put(&t->side, record->bytes, record->size);
	default:
		return 0;
	}
}

/* A capture_write, of records as they are in a file. */
static int top_put(void *ctx, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;
	struct seam_record record;
	int r = 0;

	for (; r >= 0 && record_at(at, n, &record); at += record.size, n -= record.size)
		r = top_record(ctx, &record);
	return r < 0 ? r : n ? -EBADMSG : 0;
}

/* A capture_write, of records as the rings and /proc give them, without those about strangers. */
static int top_write(void *ctx, const void *bytes, size_t n)
{
	struct top *t = ctx;

	return t->live ? live_write(t->live, bytes, n) : top_put(t, bytes, n);
}

/* ---- opening ---- */

static int top_hold_command(struct top *t)
{
	struct session_opts *s = &t->o.rec.session;
	int error;

	if (!t->o.rec.command)
		return EXIT_OK;
	error = target_fork(&t->target, t->o.rec.command, true);
	if (error)
		return top_fail(t, t->o.rec.command[0], error);
	if (s->target == SESSION_TASKS && !s->n_pids) {
		s->pids = &t->target.pid;
		s->n_pids = 1;
		s->enable_on_exec = true;
	}
	return EXIT_OK;
}

static void top_raise_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static bool top_is_stopped(void)
{
	bool was_sent;

	return record_signals_asked(&was_sent);
}

static int top_open_session(struct top *t)
{
	struct session_opts *s = &t->o.rec.session;
	struct seam_error err = { 0 };

	s->start_paused = !s->enable_on_exec;
	s->read_asleep = asleep_read;
	s->stopped = top_is_stopped;
	s->log.line = record_say_log;
	s->log.ctx = (void *)t->cmd;
	t->o.rec.progress = record_say_progress;
	t->o.rec.progress_ctx = (void *)t->cmd;
	if (fallback_open(&t->session, &t->bpf, &t->o.rec, &err)) {
		cmd_error(t->cmd, "%s",
		          top_is_stopped() ? "stopped before sampling began" : err.text);
		return EXIT_FAILED;
	}
	t->bpf.write = top_write;
	t->bpf.write_ctx = t;
	record_signals_wake(t->session);
	return EXIT_OK;
}

static int top_open_live(struct top *t)
{
	int error = record_live_new(&t->live, &t->o, t->session);

	if (error)
		return top_fail(t, "unwinding", error);
	t->events = t->live ? live_events(t->live) : session_events(t->session);
	return EXIT_OK;
}

/* What already runs, of the target. */
static int top_synthesize(struct top *t, const struct seam_events *events, capture_write write,
                          void *ctx)
{
	const struct session_opts *s = &t->o.rec.session;
	bool only_command = s->pids == &t->target.pid && !t->target.started;
	struct synth_opts opts = { .sz = sizeof(opts),
		                   .attr = &seam_events_at(events, 0)->attr,
		                   .build_ids = true };
	struct synth *synth;
	int error = synth_new(&synth, &opts);

	if (error)
		return error;
	error = synth_kernel(synth, write, ctx);
	if (!error && s->target == SESSION_SYSTEM)
		error = synth_all(synth, write, ctx);
	for (size_t i = 0; s->target != SESSION_SYSTEM && !only_command && i < s->n_pids && !error;
	     i++) {
		error = s->target == SESSION_PIDS ? synth_process(synth, s->pids[i], write, ctx)
		                                  : synth_thread(synth, s->pids[i], write, ctx);
		if (error == -ESRCH)
			error = 0;
	}
	synth_free(synth);
	return error;
}

int top_resynthesize(struct top *t)
{
	buf_clear(&t->side);
	return top_synthesize(t, t->events, top_put, t);
}

static int top_start(struct top *t)
{
	int error = session_start(t->session);

	if (!error)
		error = top_synthesize(t, session_events(t->session), top_write, t);
	if (!error && t->live) {
		error = live_prepare(t->live, TOP_PREPARE_MS);
		error = error < 0 ? error : live_collect(t->live, top_put, t);
	}
	if (!error && t->o.rec.session.start_paused)
		error = session_resume(t->session);
	if (error)
		return top_fail(t, "cannot start the events", error);
	if (!t->o.rec.command)
		return EXIT_OK;
	error = target_go(&t->target);
	return error ? top_fail(t, t->o.rec.command[0], error) : EXIT_OK;
}

int top_open(struct top *t)
{
	int rc = top_hold_command(t);

	if (rc != EXIT_OK)
		return rc;
	record_signals_catch();
	top_raise_limit();
	rc = top_open_session(t);
	if (rc == EXIT_OK)
		rc = top_open_live(t);
	return rc == EXIT_OK ? top_start(t) : rc;
}

void top_close(struct top *t)
{
	record_signals_wake(NULL);
	live_free(t->live);
	session_close(t->session);
	bpf_stacks_close(&t->bpf);
	target_close(&t->target);
	buf_free(&t->side);
	buf_free(&t->window);
}

/* ---- reading ---- */

static int top_round(struct top *t)
{
	int64_t n = session_read(t->session, bpf_stacks_write, &t->bpf);

	if (n >= 0 && t->live) {
		n = live_round(t->live);
		if (n >= 0)
			n = live_collect(t->live, top_put, t);
	}
	return n < 0 ? (int)n : 0;
}

static bool top_ended(struct top *t)
{
	if (top_is_stopped())
		return true;
	if (t->o.rec.command)
		return target_poll(&t->target);
	return t->bpf.kwalk ? kwalk_targets_gone(t->bpf.kwalk) : session_target_gone(t->session);
}

int top_read(struct top *t, int ms)
{
	uint64_t end = top_now_ms() + (uint64_t)ms, now;
	bool ended = false;
	int error = 0;

	while (!error && !ended && (now = top_now_ms()) < end) {
		session_wait(t->session, end - now < TOP_STEP_MS ? (int)(end - now) : TOP_STEP_MS);
		ended = top_ended(t);
		error = top_round(t);
	}
	return error ? error : ended;
}

int top_finish(struct top *t)
{
	int64_t n;

	session_stop(t->session);
	n = session_settle(t->session, t->o.rec.grace_ms, bpf_stacks_write, &t->bpf);
	if (n >= 0)
		n = session_finish(t->session, bpf_stacks_write, &t->bpf);
	if (n >= 0 && t->live) {
		n = live_finish(t->live, TOP_FINISH_MS);
		if (n >= 0)
			n = live_collect(t->live, top_put, t);
	}
	return n < 0 ? (int)n : 0;
}
