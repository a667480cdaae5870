// SPDX-License-Identifier: MIT
/*
 * record_run.c: one recording of `seam record`: from its recorder into a file, until there is a
 * reason to stop; and what is said of it. How the steps follow one another is recorder.h's.
 *
 * Invariants: whatever was drained is handed to the kernel's page cache before the next wait, so
 * that a killed recorder loses at most what was in the rings. Every way out closes the file. A
 * command that runs is never killed because writing failed.
 */
#include "cli/record/record_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/target.h"
#include "cli/record/record_say.h"
#include "asked/record_signals.h"
#include "recorder/datafile.h"
#include "recorder/recorder.h"

#define RECORD_WAIT_MS 250 /* at most, between two drains */

/* One run. The recorder hands its records to record_write. */
struct record_run {
	struct record_opts *o;
	const struct cmd *cmd;
	struct recorder *recorder;
	struct datafile file; /* where its records go */
	struct runtime_ends runtimes;
	uint64_t start_ns;
	bool sampling;    /* false while -D delays it */
	bool end_command; /* it was only to run as long as the recording */
	bool failed;
};

/* CLOCK_MONOTONIC. */
static uint64_t record_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Says why a step failed. If the file failed, its own reason is the one that is said. */
static int record_fail(struct record_run *r, const struct seam_error *err, int error)
{
	cmd_error(r->cmd, "%s", cmd_reason(r->file.err.code ? &r->file.err : err, error));
	r->failed = true;
	return error;
}

/* -- before -- */

/* For the recorder, which asks while it opens many events. */
static bool record_is_stopped(void)
{
	bool was_sent;

	return record_signals_asked(&was_sent);
}

/* Makes the recorder, with the functions to which it reports, and holds the command back. */
static int record_new(struct record_run *r)
{
	struct recorder_opts *o = &r->o->rec;
	struct seam_error err = { 0 };
	int error;

	/* Where the recording itself goes to standard output, the command's must not be mixed into
	 * it. */
	o->command_to_stderr = !strcmp(r->o->output, "-");
	o->delayed = r->o->delay_ms;
	o->session.stopped = record_is_stopped;
	o->session.log.line = record_say_log;
	o->session.log.ctx = (void *)r->cmd;
	o->progress = r->o->quiet ? NULL : record_say_progress;
	o->progress_ctx = (void *)r->cmd;
	error = recorder_new(&r->recorder, o, &err);
	return error ? record_fail(r, &err, error) : 0;
}

/* Opens the recorder and says how stacks are taken. -errno; what failed was said, with a hint if
 * the whole system may not be recorded. */
static int record_open(struct record_run *r)
{
	const struct session_opts *s = &r->o->rec.session;
	struct seam_error err = { 0 };
	int error = recorder_open(r->recorder, &err);

	if (!error) {
		record_signals_wake(r->recorder);
		record_say_mode(r->o, r->cmd, recorder_session(r->recorder));
		return 0;
	}
	/* A terminal signals the command as well, so it may have ended before we look. */
	if (record_is_stopped())
		cmd_error(r->cmd, "stopped before sampling began");
	else
		record_fail(r, &err, error);
	if (!r->o->rec.command && s->target == SESSION_SYSTEM &&
	    (error == -EACCES || error == -EPERM))
		cmd_error(r->cmd, "that was for the whole system: 'seam record COMMAND' and "
		                  "'-p PID' record a program of your own");
	r->failed = true;
	return error;
}

/* Opens the output and gives its header what it says of this run: the words of the command line,
 * the event groups, the clock. -errno; it was said. */
static int record_open_file(struct record_run *r)
{
	const struct recorder_opts *o = recorder_options(r->recorder);
	const char **words = calloc((size_t)r->o->argc + 1, sizeof(*words));
	struct datafile_opts opts = {
		.path = r->o->output,
		.compress_level = r->o->compress_level,
		.keep_files =
		        !o->no_build_ids &&
		        session_features(recorder_session(r->recorder))->off[FEATURE_BUILD_ID],
		.program = "seam " SEAM_VERSION,
		.words = words,
		.groups = o->events,
		.use_clockid = o->session.use_clockid,
		.clockid = o->session.clockid,
	};
	struct seam_error err = { 0 };
	int error;

	if (words) {
		/* argv begins with the command's name, behind "seam". */
		words[opts.n_words++] = "seam";
		for (int i = 0; i < r->o->argc; i++)
			words[opts.n_words++] = r->o->argv[i];
	}
	error = datafile_open(&r->file, &opts, recorder_events(r->recorder), &err);
	free(words);
	return error ? record_fail(r, &err, error) : 0;
}

/* For the recorder: its records. -errno. */
static int record_write(void *ctx, const void *bytes, size_t n)
{
	struct record_run *r = ctx;
	int error = datafile_write(&r->file, bytes, n);

	if (!error && !r->o->quiet)
		runtime_ends_look(&r->runtimes, bytes, n);
	return error;
}

/* For the recorder: what it has so far is handed to the kernel. -errno. */
static int record_flush(void *ctx)
{
	struct record_run *r = ctx;

	return datafile_flush(&r->file);
}

/* Gives the sink what is running already, and says what was found. -errno; it was said. */
static int record_begin(struct record_run *r)
{
	const struct recorder_sink sink = { .write = record_write,
		                            .flush = record_flush,
		                            .ctx = r };
	const struct synth_counts *found;
	struct seam_error err = { 0 };
	uint64_t ns;
	int error;

	r->runtimes.events = recorder_events(r->recorder);
	error = recorder_begin(r->recorder, &sink, &err);

	if (error)
		return record_fail(r, &err, error);
	found = recorder_found(r->recorder, &ns);
	record_say_synth(r->o, r->cmd, found, ns);
	return 0;
}

/* Up to the point where sampling can begin. -errno, which was said. Signals are caught before the
 * rings are opened, so that Ctrl-C closes them. */
static int record_prepare(struct record_run *r)
{
	int error = record_new(r);

	if (error)
		return error;
	record_signals_catch();
	error = record_open(r);
	if (!error)
		error = record_open_file(r);
	return error ? error : record_begin(r);
}

/* -- during -- */

/* Lets the command go and sampling begin: in this order, and both only when the other side is
 * ready. */
static int record_start(struct record_run *r, int *exit_code)
{
	struct seam_error err = { 0 };
	int error = recorder_start(r->recorder, &err);

	if (error)
		return record_fail(r, &err, error);
	r->sampling = !r->o->delay_ms;
	r->start_ns = record_now_ns();
	if (r->o->duration_ms)
		recorder_ends_in(r->recorder, r->o->duration_ms);
	error = recorder_run_command(r->recorder, &err);
	if (error) {
		record_fail(r, &err, error);
		*exit_code = error == -ENOENT ? 127 : 126; /* as shells have it */
	}
	return error;
}

/* How long to wait at most: until the next drain, the end of -D, or the end of --duration. */
static int record_wait_ms(const struct record_run *r, uint64_t now_ms)
{
	const int within = recorder_within_ms(r->recorder);
	uint64_t wait = within < RECORD_WAIT_MS ? (uint64_t)within : RECORD_WAIT_MS;

	if (!r->sampling && r->o->delay_ms - now_ms < wait)
		wait = r->o->delay_ms - now_ms;
	if (r->o->duration_ms && r->o->duration_ms - now_ms < wait)
		wait = r->o->duration_ms - now_ms;
	return (int)wait;
}

/* Whether there is a reason to stop other than time. */
static bool record_ended(struct record_run *r)
{
	bool was_sent;
	int asked = record_signals_asked(&was_sent);

	if (!asked)
		return recorder_ended(r->recorder);
	/* A terminal sends Ctrl-C to the command as well; a signal from kill(1) came to the
	 * recorder alone. */
	if (r->o->rec.command && was_sent)
		target_signal(recorder_command(r->recorder), asked);
	return true;
}

/* Whether the time or the size is reached that was asked for. Then the command ends with the
 * recording. */
static bool record_over(struct record_run *r, uint64_t now_ms)
{
	if ((r->o->duration_ms && now_ms >= r->o->duration_ms) ||
	    (r->o->max_size && datafile_bytes(&r->file) >= r->o->max_size)) {
		r->end_command = true;
		return true;
	}
	return false;
}

/* Reads the rings until there is a reason to stop. 0, or the error of reading or writing. */
static int record_loop(struct record_run *r)
{
	struct seam_error err = { 0 };
	int error = 0;

	while (!error) {
		uint64_t now_ms = (record_now_ns() - r->start_ns) / 1000000;

		if (!r->sampling && now_ms >= r->o->delay_ms) {
			r->sampling = true;
			error = recorder_resume(r->recorder, &err);
			if (error)
				return record_fail(r, &err, error);
		}
		if (record_over(r, now_ms))
			break;
		recorder_wait(r->recorder, record_wait_ms(r, now_ms));
		if (record_ended(r)) /* sampling stops before what waits is read */
			break;
		error = recorder_read(r->recorder);
	}
	return error;
}

/* -- after -- */

/* Says what did not get into the file, and why. */
static void record_say_broken(struct record_run *r)
{
	const struct session *session = recorder_session(r->recorder);
	uint64_t waiting = 0;

	/* What waits in the rings cannot be written any more: it is counted only. */
	for (size_t i = 0; i < session_rings(session); i++)
		waiting += ring_pending(session_ring(session, i));
	if (r->file.err.code == EPIPE)
		cmd_error(r->cmd, "the reader of the pipe is gone: recording ended");
	else
		cmd_error(r->cmd, "%s: recording ended there; what was written before is readable",
		          r->file.err.text);
	if (waiting)
		cmd_error(r->cmd, "%llu bytes of records that waited in the rings are missing",
		          (unsigned long long)waiting);
	r->failed = true;
}

/* A failure that was not said before is said here. */
static void record_close_file(struct record_run *r)
{
	struct seam_error err = { 0 };

	if (datafile_close(&r->file, &err) < 0 && !r->file.err.code) {
		cmd_error(r->cmd, "%s", err.text);
		r->failed = true;
	}
}

/* Waits for the command to end; a second signal ends the waiting (and the recorder). */
static void record_wait_command(struct record_run *r)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct target *target = recorder_command(r->recorder);
	bool said = r->o->quiet;

	if (r->end_command)
		target_signal(target, SIGTERM);
	/* 20 ms each: after half a second the user is told what is waited for. */
	for (unsigned i = 0; !target_poll(target); i++) {
		if (i == 25 && !said)
			cmd_print(stderr, "seam %s: %swaiting for process %d to end\n",
			          r->cmd->name, r->failed ? "" : "the file is complete; ",
			          (int)target->pid);
		nanosleep(&pause, NULL);
	}
}

/* The number of samples that were read from the rings and may not be in the file. */
static uint64_t record_unwritten(const struct record_run *r)
{
	struct session_counts c = { .sz = sizeof(c) };
	uint64_t taken = r->file.samples;

	session_counts(recorder_session(r->recorder), &c);
	if (recorder_live(r->recorder) && c.total.samples > taken)
		taken = c.total.samples; /* what waited to be unwound did not reach the file */
	return taken - r->file.safe_samples;
}

/* Says how many deferred stacks tasks still owed when sampling ended. */
static void record_say_pending(const struct record_run *r)
{
	struct session_counts c = { .sz = sizeof(c) };

	session_counts(recorder_session(r->recorder), &c);
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

/* Says what became of the recording. */
static void record_say(struct record_run *r, bool broken)
{
	const struct bpf_stacks *bpf = recorder_bpf(r->recorder);
	const struct bpf_stacks_lost lost = bpf_stacks_lost(bpf);

	record_say_end(r->o, recorder_session(r->recorder), r->file.safe_samples,
	               record_unwritten(r), &lost, r->file.bytes);
	record_say_pending(r);
	record_say_bpf(r->o, bpf);
	if (!broken)
		record_say_live(r->o, recorder_live(r->recorder));
	if (!r->o->quiet)
		record_say_runtimes(&r->runtimes);
}

/* Ends the recording: stops sampling, finishes the file, says what became of it, and waits for the
 * command. broken: the error with which the loop ended. Returns the exit code. */
static int record_end(struct record_run *r, int broken)
{
	struct target *target = recorder_command(r->recorder);

	r->file.end_ns = recorder_until_ns(r->recorder);
	record_signals_wake(NULL);
	if (!broken)
		broken = recorder_stop(r->recorder, r->file.end_ns);
	else
		recorder_halt(r->recorder);
	/* Writing failed, or else reading did. */
	if (r->file.err.code) {
		record_say_broken(r);
	} else if (broken) {
		cmd_error(r->cmd, "reading the rings: %s", strerror(-broken));
		r->failed = true;
	}
	record_close_file(r);
	if (r->file.unread_files && !r->o->quiet)
		cmd_print(stderr,
		          "  the build-ids of %llu files were not read: that took too long\n",
		          (unsigned long long)r->file.unread_files);
	/* The file is closed: nothing that is said or waited for from here on can harm it. */
	record_say(r, broken);
	if (!r->o->rec.command)
		return r->failed ? EXIT_FAILED : EXIT_OK;
	record_wait_command(r);
	if (r->end_command && !r->failed)
		return EXIT_OK;
	/* The command's own status is what the user asked for. Ours counts where that is 0. */
	return r->failed && !target_exit_code(target) ? EXIT_FAILED : target_exit_code(target);
}

/* A signal that comes before sampling begins ends the program with 128 + its number. */
int record_run(struct record_opts *o, const struct cmd *cmd)
{
	struct record_run r = { .o = o, .cmd = cmd };
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
	if (r.file.writer)
		datafile_abandon(&r.file);
	recorder_free(r.recorder);
	datafile_free(&r.file);
	runtime_ends_free(&r.runtimes);
	return code;
}
