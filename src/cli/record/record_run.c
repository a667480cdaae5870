// SPDX-License-Identifier: MIT
/*
 * record_run.c: the order of the steps of a recording: hold the command back, open the events,
 * write the head, say what already runs, let go, drain until there is a reason to stop, let tasks
 * on their way out answer, finish the file.
 *
 * Invariants: whatever was drained is handed to the kernel's page cache before the next wait, so
 * that a killed recorder loses at most what was in the rings. Every way out closes the file. A
 * command that runs is never killed because writing failed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <seam/reader.h>

#include "abi/encode.h"
#include "capture/bpf/asleep.h"
#include "capture/synth.h"
#include "capture/target.h"
#include "recorder/bpf_stacks.h"
#include "cli/record/record_head.h"
#include "recorder/fallback.h"
#include "cli/record/record_live.h"
#include "recorder/output.h"
#include "cli/record/record_run.h"
#include "cli/record/record_say.h"
#include "cli/record/record_signals.h"
#include "recorder/datafile.h"

#define RECORD_WAIT_MS 250   /* at most, between two drains */
#define RECORD_FINISH_MS 400 /* for copies of stacks that wait to be walked when all is over */

struct recording {
	struct record_opts *o;
	const struct cmd *cmd;
	struct target target;
	struct session *session;
	struct output output;
	struct datafile sink;
	struct record_live live; /* in front of the sink */
	struct bpf_stacks bpf;
	uint64_t start_ns;
	uint64_t bytes;   /* of the file at its end */
	bool sampling;    /* false while -D delays it */
	bool end_command; /* it was only to run as long as the recording */
	bool failed;
};

static uint64_t record_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int record_fail(struct recording *r, const char *what, int error)
{
	cmd_error(r->cmd, "%s: %s", what, strerror(-error));
	r->failed = true;
	return error;
}

/* -- before -- */

static int record_hold_command(struct recording *r)
{
	struct record_opts *o = r->o;
	int error;

	if (!o->rec.command)
		return 0;
	error = target_fork(&r->target, o->rec.command, !strcmp(o->output, "-"));
	if (error)
		return record_fail(r, o->rec.command[0], error);
	if (o->rec.session.target == SESSION_TASKS && !o->rec.session.n_pids) {
		o->rec.session.pids = &r->target.pid;
		o->rec.session.n_pids = 1;
		o->rec.session.enable_on_exec = true;
	}
	return 0;
}

/* An event takes a file descriptor per CPU and task. The command was forked before: it keeps its
 * own limit. */
static void record_raise_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static bool record_is_stopped(void)
{
	bool was_sent;

	return record_signals_asked(&was_sent);
}

static int record_open_session(struct recording *r)
{
	struct session_opts *s = &r->o->rec.session;
	struct seam_error err = { 0 };
	int error;

	/* What starts with an exec needs no pause; of all else /proc is read before sampling. */
	s->start_paused = r->o->delay_ms || !s->enable_on_exec;
	s->read_asleep = asleep_read;
	s->stopped = record_is_stopped;
	s->log.line = record_say_log;
	s->log.ctx = (void *)r->cmd;
	r->o->rec.progress = r->o->quiet ? NULL : record_say_progress;
	r->o->rec.progress_ctx = (void *)r->cmd;
	error = fallback_open(&r->session, &r->bpf, &r->o->rec, &err);
	r->bpf.write = record_live_write;
	r->bpf.write_ctx = &r->live;
	if (error) {
		/* A terminal tells the command, too: then it may be gone before we look. */
		cmd_error(r->cmd, "%s",
		          record_is_stopped() ? "stopped before sampling began" : err.text);
		if (!r->o->rec.command && s->target == SESSION_SYSTEM &&
		    (error == -EACCES || error == -EPERM))
			cmd_error(r->cmd,
			          "that was for the whole system: 'seam record COMMAND' and "
			          "'-p PID' record a program of your own");
		r->failed = true;
		return error;
	}
	record_signals_wake(r->session);
	record_say_mode(r->o, r->cmd, r->session);
	return 0;
}

static int record_open_file(struct recording *r)
{
	struct record_opts *o = r->o;
	const struct seam_events *events;
	struct seam_writer_opts opts = {
		.sz = sizeof(opts),
		.pipe = !strcmp(o->output, "-"),
		.compress_level = o->compress_level,
	};
	struct seam_error err = { 0 };
	int error = record_live_open(&r->live, o, r->session, &r->sink);

	if (error)
		return record_fail(r, "unwinding", error);
	events = record_live_events(&r->live, r->session);
	error = output_rotate(&r->output, o->output);
	if (error)
		return record_fail(r, o->output, error);
	error = seam_writer_open(&r->sink.writer, o->output, events, &opts, &err);
	if (error)
		output_abandon(&r->output);
	if (!error)
		error = record_head_features(r->sink.writer, o, events, &err);
	if (error) {
		cmd_error(r->cmd, "%s", err.text);
		r->failed = true;
		return error;
	}
	datafile_events(&r->sink, events);
	r->sink.keep_files =
	        !o->rec.no_build_ids && session_features(r->session)->off[FEATURE_BUILD_ID];
	return record_head_records(&r->sink, o, r->session);
}

/* The name of the command before its exec; it has no mappings worth knowing yet. */
static int record_say_command(struct recording *r, const struct seam_attr *attr)
{
	struct seam_comm comm = { .pid = (uint32_t)r->target.pid,
		                  .tid = (uint32_t)r->target.pid,
		                  .comm = "seam-exec" };
	struct buf out = { 0 };
	int error = encode_comm(&out, attr, 0, &comm, NULL);

	if (!error)
		error = record_live_write(&r->live, out.bytes, out.n);
	buf_free(&out);
	return error;
}

static int record_synthesize_tasks(struct recording *r, struct synth *synth)
{
	const struct session_opts *s = &r->o->rec.session;
	int error = 0;

	if (s->target == SESSION_SYSTEM)
		return synth_all(synth, bpf_stacks_write, &r->bpf);
	for (size_t i = 0; i < s->n_pids && !error; i++) {
		if (s->target == SESSION_PIDS)
			error = synth_process(synth, s->pids[i], bpf_stacks_write, &r->bpf);
		else
			error = synth_thread(synth, s->pids[i], bpf_stacks_write, &r->bpf);
		if (error == -ESRCH)
			error = 0;
	}
	return error;
}

static int record_synthesize(struct recording *r)
{
	const struct seam_attr *attr = &seam_events_at(session_events(r->session), 0)->attr;
	struct synth_opts opts = {
		.sz = sizeof(opts),
		.attr = attr,
		.build_ids = !r->o->rec.no_build_ids && !r->sink.keep_files,
		.data = r->o->rec.data_maps,
	};
	bool only_command = r->o->rec.session.pids == &r->target.pid;
	struct synth_counts counts = { 0 };
	uint64_t start_ns = record_now_ns();
	struct synth *synth;
	int error = synth_new(&synth, &opts);

	if (error)
		return record_fail(r, "/proc", error);
	error = synth_kernel(synth, record_live_write, &r->live);
	if (!error && !only_command)
		error = record_synthesize_tasks(r, synth);
	if (!error && only_command)
		error = record_say_command(r, attr);
	if (!error)
		error = record_live_prepare(&r->live);
	if (error >= 0)
		error = record_head_finished(&r->sink);
	if (!error)
		error = datafile_flush(&r->sink);
	synth_counts(synth, &counts);
	synth_free(synth);
	record_say_synth(r->o, r->cmd, &counts, record_now_ns() - start_ns);
	return error;
}

/* -- during -- */

/* Lets the command go and sampling begin: in this order, and both only when the other side is
 * ready. */
static int record_start(struct recording *r, int *exit_code)
{
	int error = 0;

	if (!r->o->delay_ms) {
		if (r->o->rec.session.start_paused)
			error = session_resume(r->session);
		r->sampling = true;
	}
	if (error)
		return record_fail(r, "cannot start the events", error);
	r->start_ns = record_now_ns();
	if (!r->o->rec.command)
		return 0;
	error = target_go(&r->target);
	if (error) {
		record_fail(r, r->o->rec.command[0], error);
		*exit_code = error == -ENOENT ? 127 : 126; /* as shells have it */
	}
	return error;
}

static int record_wait_ms(const struct recording *r, uint64_t now_ms)
{
	uint64_t wait = RECORD_WAIT_MS;

	if (!r->sampling && r->o->delay_ms - now_ms < wait)
		wait = r->o->delay_ms - now_ms;
	if (r->o->duration_ms && r->o->duration_ms - now_ms < wait)
		wait = r->o->duration_ms - now_ms;
	return (int)wait;
}

/* A reason to stop that has nothing to do with time. */
static bool record_ended(struct recording *r)
{
	bool was_sent;
	int asked = record_signals_asked(&was_sent);

	if (asked) {
		if (r->o->rec.command && was_sent)
			target_signal(&r->target, asked);
		return true;
	}
	if (r->o->rec.command)
		return target_poll(&r->target);
	return r->bpf.kwalk ? kwalk_targets_gone(r->bpf.kwalk) : session_target_gone(r->session);
}

/* Bytes of the file, or that went into the pipe. */
static uint64_t record_bytes(const struct recording *r)
{
	struct stat st;

	if (strcmp(r->o->output, "-") && !stat(r->o->output, &st) && S_ISREG(st.st_mode))
		return (uint64_t)st.st_size;
	return seam_writer_bytes(r->sink.writer);
}

static bool record_over(struct recording *r, uint64_t now_ms)
{
	if ((r->o->duration_ms && now_ms >= r->o->duration_ms) ||
	    (r->o->max_size && record_bytes(r) >= r->o->max_size)) {
		r->end_command = true;
		return true;
	}
	return false;
}

static int record_loop(struct recording *r)
{
	bool ended = false;
	int64_t n = 0;

	while (!ended && n >= 0) {
		uint64_t now_ms = (record_now_ns() - r->start_ns) / 1000000;

		if (!r->sampling && now_ms >= r->o->delay_ms) {
			r->sampling = true;
			n = session_resume(r->session);
			if (n < 0)
				return record_fail(r, "cannot start the events", (int)n);
		}
		if (record_over(r, now_ms))
			break;
		session_wait(r->session, record_wait_ms(r, now_ms));
		ended = record_ended(r);
		if (ended) /* sampling stops before what waits is read */
			break;
		n = session_read(r->session, bpf_stacks_write, &r->bpf);
		if (n >= 0)
			n = record_live_round(&r->live, n);
	}
	return n < 0 ? (int)n : 0;
}

/* -- after -- */

static int record_stop(struct recording *r)
{
	int64_t n;

	session_stop(r->session);
	n = session_settle(r->session, r->o->rec.grace_ms, bpf_stacks_write, &r->bpf);
	if (n >= 0)
		n = session_finish(r->session, bpf_stacks_write, &r->bpf);
	if (n >= 0)
		n = record_live_finish(&r->live, RECORD_FINISH_MS);
	return n < 0 ? (int)n : 0;
}

/* What did not get into the file, and why. */
static void record_say_broken(struct recording *r)
{
	uint64_t waiting = 0;

	for (size_t i = 0; i < session_rings(r->session); i++)
		waiting += ring_pending(session_ring(r->session, i));
	if (r->sink.err.code == EPIPE)
		cmd_error(r->cmd, "the reader of the pipe is gone: recording ended");
	else
		cmd_error(r->cmd, "%s: recording ended there; what was written before is readable",
		          r->sink.err.text);
	if (waiting)
		cmd_error(r->cmd, "%llu bytes of records that waited in the rings are missing",
		          (unsigned long long)waiting);
	r->failed = true;
}

/* How many samples a file holds that could not be written to its end. */
static uint64_t record_count_samples(const char *path)
{
	struct seam_reader *reader;
	struct seam_record record;
	uint64_t n = 0;

	if (seam_reader_open(&reader, path, NULL, NULL) < 0)
		return 0;
	while (seam_reader_next(reader, &record, NULL) > 0)
		n += record.type == SEAM_RECORD_SAMPLE;
	seam_reader_close(reader);
	return n;
}

static void record_close_file(struct recording *r)
{
	struct seam_error err = { 0 };
	struct stat st;
	int error;

	if (!r->sink.writer)
		return;
	if (strcmp(r->o->output, "-"))
		record_tail_features(r->sink.writer, &r->sink);
	r->bytes = seam_writer_bytes(r->sink.writer);
	error = seam_writer_close(r->sink.writer, &err);
	r->sink.writer = NULL;
	if (!error)
		r->sink.safe_samples = r->sink.samples;
	if (error && !r->sink.err.code) {
		cmd_error(r->cmd, "%s", err.text);
		r->failed = true;
	}
	if (!strcmp(r->o->output, "-") || stat(r->o->output, &st) < 0)
		return;
	r->bytes = (uint64_t)st.st_size;
	if (r->sink.err.code && S_ISREG(st.st_mode))
		r->sink.safe_samples = record_count_samples(r->o->output);
}

/* Waits for the command to end; a second signal ends the waiting (and the recorder). */
static void record_wait_command(struct recording *r)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	bool said = r->o->quiet;

	if (r->end_command)
		target_signal(&r->target, SIGTERM);
	for (unsigned i = 0; !target_poll(&r->target); i++) {
		if (i == 25 && !said)
			cmd_print(stderr, "seam %s: %swaiting for process %d to end\n",
			          r->cmd->name, r->failed ? "" : "the file is complete; ",
			          (int)r->target.pid);
		nanosleep(&pause, NULL);
	}
}

/* Samples that were read from the rings and may not be in the file. */
static uint64_t record_unwritten(const struct recording *r)
{
	struct session_counts c = { .sz = sizeof(c) };
	uint64_t taken = r->sink.samples;

	session_counts(r->session, &c);
	if (r->live.live && c.total.samples > taken)
		taken = c.total.samples; /* what waited to be unwound did not reach the sink */
	return taken - r->sink.safe_samples;
}

/* Deferred stacks that tasks owed when sampling ended. */
static void record_say_pending(const struct recording *r)
{
	struct session_counts c = { .sz = sizeof(c) };

	session_counts(r->session, &c);
	if (r->o->quiet)
		return;
	if (c.owing)
		cmd_print(stderr, "  %llu task%s in the kernel still owe%s a stack%s%s\n",
		          (unsigned long long)c.owing, c.owing == 1 ? "" : "s",
		          c.owing == 1 ? "s" : "", *c.owing_why ? "; they could not be read: " : "",
		          c.owing_why);
	if (r->o->verbose && (c.asleep || c.asleep_late))
		cmd_print(stderr,
		          "seam record: %llu stacks read of tasks that sleep; %llu more answered "
		          "themselves after all\n",
		          (unsigned long long)c.asleep, (unsigned long long)c.asleep_late);
}

static int record_end(struct recording *r, int broken)
{
	struct bpf_stacks_lost lost;

	record_signals_wake(NULL);
	if (!broken)
		broken = record_stop(r);
	else
		session_stop(r->session);
	if (r->sink.err.code)
		record_say_broken(r);
	else if (broken)
		record_fail(r, "reading the rings", broken);
	record_close_file(r);
	lost = bpf_stacks_lost(&r->bpf);
	record_say_end(r->o, r->session, r->sink.safe_samples, record_unwritten(r), &lost,
	               r->bytes);
	record_say_pending(r);
	record_say_bpf(r->o, &r->bpf);
	if (!broken)
		record_live_say(&r->live, r->o);
	if (!r->o->rec.command)
		return r->failed ? EXIT_FAILED : EXIT_OK;
	record_wait_command(r);
	if (r->end_command && !r->failed)
		return EXIT_OK;
	return r->failed && !target_exit_code(&r->target) ? EXIT_FAILED
	                                                  : target_exit_code(&r->target);
}

static int record_prepare(struct recording *r)
{
	int error = record_hold_command(r);

	if (error)
		return error;
	record_signals_catch();
	record_raise_limit();
	error = record_open_session(r);
	if (!error)
		error = record_open_file(r);
	/* Mappings that come while /proc is read are recorded by the kernel. */
	if (!error) {
		error = session_start(r->session);
		if (error)
			return record_fail(r, "cannot start the events", error);
	}
	if (!error)
		error = record_synthesize(r);
	if (error && !r->failed)
		cmd_error(r->cmd, "%s", r->sink.err.code ? r->sink.err.text : strerror(-error));
	return error;
}

int record_run(struct record_opts *o, const struct cmd *cmd)
{
	struct recording r = { .o = o, .cmd = cmd };
	int code = EXIT_FAILED, asked;
	int error = record_prepare(&r);
	bool was_sent;

	asked = record_signals_asked(&was_sent);
	if (asked) {
		code = 128 + asked; /* before anything was begun */
		if (!error && !o->quiet)
			cmd_error(cmd, "stopped before sampling began");
		error = -EINTR;
	}
	if (!error)
		error = record_start(&r, &code);
	if (!error)
		code = record_end(&r, record_loop(&r));
	record_signals_wake(NULL);
	if (r.sink.writer) {
		seam_writer_close(r.sink.writer, NULL);
		output_abandon(&r.output);
	}
	record_live_free(&r.live);
	session_close(r.session);
	bpf_stacks_close(&r.bpf);
	target_close(&r.target);
	output_free(&r.output);
	datafile_free(&r.sink);
	return code;
}
