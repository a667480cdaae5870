// SPDX-License-Identifier: MIT
/*
 * recorder.c: see recorder.h. Knows the order of the steps; what a step does is its room's.
 *
 * The way of a record: a ring, /proc or the BPF programs -> bpf_stacks (records of strangers end
 * here) -> live (stack copies become callchains) -> the sink.
 *
 * The order of the steps, and why:
 *
 *	the command is forked, and held     events are opened for it before it runs
 *	the events are opened, paused       they are known now, for the head of the file
 *	side-band events are switched on    from now on no mapping is missed ...
 *	/proc is read                       ... and what was there before is found
 *	tables are made                     so that the first samples can be walked
 *	sampling begins, the command goes
 *	sampling stops                      and answers stay on: pending stacks come in the grace
 *	the rings are read to their end     live walks what is left, as far as there is time
 *
 * Invariant: every record of the session goes the whole way, in the order in which its ring had
 * it. What is composed here for the head (recorder_give) goes to the sink directly.
 */
#include "recorder/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "abi/encode.h"
#include "capture/bpf/asleep.h"
#include "capture/preface.h"
#include "capture/target.h"
#include "recorder/fallback.h"
#include "recorder/hurry.h"

#define PREPARE_MS 5000 /* at most, for tables before sampling begins */
#define FINISH_MS 400   /* at most, for copies of stacks that wait to be walked when all is over */
/* Two rounds are held, and each may be as large as all rings together. */
#define QUEUE_RINGS 4u

#if defined(__x86_64__)
#define MACHINE FRAMETAB_X86_64
#elif defined(__aarch64__)
#define MACHINE FRAMETAB_AARCH64
#else
#define MACHINE 0u
#endif

/* o, target, session, bpf and live are the recorder's own; the sink is the caller's. */
struct recorder {
	struct recorder_opts o;
	struct peek *own_peek; /* NULL: the caller's */
	struct target target;
	struct session *session;
	struct bpf_stacks bpf; /* in front of live */
	struct live *live; /* in front of the sink; NULL: no samples carry copies to be walked */
	struct recorder_sink sink;
	struct synth_counts found;
	uint64_t found_ns;
	struct hurry_share begun; /* of this thread, when the recording began */
	uint64_t end_ns;          /* as it was said; 0: not yet */
	bool ends;                /* now, and not at a time that was known before */
};

static uint64_t recorder_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* "cannot start the events: Operation not permitted" */
static int recorder_fail(struct seam_error *err, const char *what, int error)
{
	return seam_error_set(err, -error, NULL, SEAM_NO_OFFSET, NULL, "%s: %s", what,
	                      strerror(-error));
}

/* ---- the way of a record ---- */

/* A capture_write, behind bpf_stacks. */
static int recorder_write(void *ctx, const void *bytes, size_t n)
{
	struct recorder *r = ctx;

	return r->live ? live_write(r->live, bytes, n) : r->sink.write(r->sink.ctx, bytes, n);
}

/* Gives what was unwound to the sink. flush: what was written is to reach the file. */
static int recorder_collect(struct recorder *r, bool flush)
{
	int error = r->live ? live_collect(r->live, r->sink.write, r->sink.ctx) : 0;

	return !error && flush && r->sink.flush ? r->sink.flush(r->sink.ctx) : error;
}

/* ---- opening ---- */

/* Forks the command, so that events can be opened for it before it runs. If no task was named, the
 * command is the target, and its events begin with its exec. */
static int recorder_hold_command(struct recorder *r, struct seam_error *err)
{
	struct session_opts *s = &r->o.session;
	int error;

	if (!r->o.command)
		return 0;
	error = target_fork(&r->target, r->o.command, r->o.command_to_stderr);
	if (error)
		return recorder_fail(err, r->o.command[0], error);
	if (s->target == SESSION_TASKS && !s->n_pids) {
		s->pids = &r->target.pid;
		s->n_pids = 1;
		s->enable_on_exec = true;
	}
	return 0;
}

/* opts is copied; what it points to must live until recorder_free. The command is forked here and
 * held. */
int recorder_new(struct recorder **ret, const struct recorder_opts *opts, struct seam_error *err)
{
	const struct peek_opts peek = RECORDER_PEEK;
	struct recorder *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return -ENOMEM;
	memcpy(&r->o, opts, opts->sz < sizeof(*opts) ? opts->sz : sizeof(*opts));
	error = recorder_hold_command(r, err);
	if (error) {
		free(r);
		return error;
	}
	/* A command is the caller's own, and is read here: sooner. So are others, where no other
	 * process can be had. */
	if (!r->o.peek && r->o.session.pids != &r->target.pid) {
		peek_new(&r->own_peek, &peek);
		r->o.peek = r->own_peek;
	}
	*ret = r;
	return 0;
}

/* live first, because its worker reads the session's events; NULL is allowed. */
void recorder_free(struct recorder *r)
{
	if (!r)
		return;
	live_free(r->live);
	session_close(r->session);
	bpf_stacks_close(&r->bpf);
	target_close(&r->target);
	peek_free(r->own_peek);
	free(r);
}

/* An event takes a file descriptor per CPU and task. The command was forked before: it keeps its
 * own limit. */
static void recorder_raise_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Whether samples of any event bring a copy of their stack. */
static bool recorder_has_copies(const struct seam_events *events)
{
	for (size_t i = 0; i < seam_events_count(events); i++)
		if (seam_events_at(events, i)->attr.sample_type & SEAM_SAMPLE_STACK_USER)
			return true;
	return false;
}

/* Of a table that is being made. */
static bool recorder_gives_up(const void *ctx)
{
	const struct recorder *r = ctx;
	uint64_t end_ns = __atomic_load_n(&r->end_ns, __ATOMIC_RELAXED);

	return end_ns && recorder_now_ns() >= end_ns;
}

/* The stage that walks stack copies, when samples carry some that are not to be kept. */
static int recorder_open_live(struct recorder *r)
{
	struct live_opts opts = {
		.sz = sizeof(opts),
		.events = session_events(r->session),
		.machine = MACHINE,
		.threads = r->o.unwind_threads,
		.queue_bytes = LIVE_QUEUE_BYTES,
		.tables.sz = sizeof(opts.tables),
		.tables.stopped = recorder_gives_up,
		.tables.stopped_ctx = r,
		.tables.peek = r->o.peek,
	};
	size_t rings = 0;

	if (r->o.keep_stacks || !recorder_has_copies(opts.events))
		return 0;
	for (size_t i = 0; i < session_rings(r->session); i++)
		rings += session_ring(r->session, i)->size;
	/* The samples of all rings at once must find room, else a burst would lose its stack
	 * copies. */
	if (rings * QUEUE_RINGS > opts.queue_bytes)
		opts.queue_bytes = rings * QUEUE_RINGS;
	return live_new(&r->live, &opts);
}

/* Opens the events, paused or waiting for the exec. Nothing is sampled yet. */
int recorder_open(struct recorder *r, struct seam_error *err)
{
	struct session_opts *s = &r->o.session;
	int error;

	recorder_raise_limit();
	/* What starts with an exec needs no pause; for all others /proc is read before sampling
	 * begins. */
	s->start_paused = r->o.delayed || !s->enable_on_exec;
	s->read_asleep = asleep_read;
	error = fallback_open(&r->session, &r->bpf, &r->o, err);
	if (error)
		return error;
	r->bpf.write = recorder_write;
	r->bpf.write_ctx = r;
	error = recorder_open_live(r);
	return error ? recorder_fail(err, "unwinding", error) : 0;
}

/* The events that records in the sink have: after live a callchain stands where stack copies
 * were. */
const struct seam_events *recorder_events(const struct recorder *r)
{
	return r->live ? live_events(r->live) : session_events(r->session);
}

/* ---- what runs already ---- */

/* The command has not been let go yet, and nothing else is recorded, so there are no mappings worth
 * knowing. */
static bool recorder_only_waits(const struct recorder *r)
{
	return r->o.session.pids == &r->target.pid && !r->target.started;
}

/* The name of the command before its exec. */
static int recorder_name_command(struct recorder *r, const struct seam_attr *attr,
                                 capture_write write, void *ctx)
{
	struct seam_comm comm = { .pid = (uint32_t)r->target.pid,
		                  .tid = (uint32_t)r->target.pid,
		                  .comm = "seam-exec" };
	struct buf out = { 0 };
	int error = encode_comm(&out, attr, 0, &comm, NULL);

	if (!error)
		error = write(ctx, out.bytes, out.n);
	buf_free(&out);
	return error;
}

/* Of the target's tasks, or of all. One that has gone is no failure. */
static int recorder_synthesize_tasks(struct recorder *r, struct synth *synth, capture_write write,
                                     void *ctx)
{
	const struct session_opts *s = &r->o.session;
	int error = 0;

	if (s->target == SESSION_SYSTEM)
		return synth_all(synth, write, ctx);
	for (size_t i = 0; i < s->n_pids && !error; i++) {
		if (s->target == SESSION_PIDS)
			error = synth_process(synth, s->pids[i], write, ctx);
		else
			error = synth_thread(synth, s->pids[i], write, ctx);
		if (error == -ESRCH)
			error = 0;
	}
	return error;
}

/* Gives records of the kernel and of the target's tasks, as events describes them. Those of tasks
 * go through the filter of strangers, too. */
static int recorder_find(struct recorder *r, const struct seam_events *events, capture_write write,
                         capture_write write_task, void *ctx, void *task_ctx)
{
	/* Where the kernel gives no build-ids in its records, those of all files stand in the
	 * file's own list (datafile). */
	bool kept_in_file = session_features(r->session)->off[FEATURE_BUILD_ID];
	struct synth_opts opts = {
		.sz = sizeof(opts),
		.attr = &seam_events_at(events, 0)->attr,
		.build_ids = !r->o.no_build_ids && (!kept_in_file || r->o.build_ids_always),
		.data = r->o.data_maps,
		.peek = r->o.peek,
	};
	struct synth *synth;
	int error = synth_new(&synth, &opts);

	if (error)
		return error;
	error = synth_kernel(synth, write, ctx);
	if (!error && r->o.session.cgroups && !session_features(r->session)->off[FEATURE_CGROUP])
		error = synth_cgroups(synth, write, ctx);
	/* A command that waits has nothing yet but its name. */
	if (!error && recorder_only_waits(r))
		error = recorder_name_command(r, opts.attr, write, ctx);
	else if (!error)
		error = recorder_synthesize_tasks(r, synth, write_task, task_ctx);
	synth_counts(synth, &r->found);
	synth_free(synth);
	return error;
}

/* For a sink that begins anew (window.c): everything that runs now, once more. */
int recorder_synthesize(struct recorder *r)
{
	return recorder_find(r, recorder_events(r), r->sink.write, r->sink.write, r->sink.ctx,
	                     r->sink.ctx);
}

/* Tables of what is mapped, before sampling begins; what was not made in time is made later. */
static int recorder_prepare(struct recorder *r)
{
	unsigned ms = r->o.prepare_ms ? r->o.prepare_ms : PREPARE_MS;
	int error = r->live ? live_prepare(r->live, ms) : 0;

	return error < 0 ? error : recorder_collect(r, true);
}

/* Gives composed records directly to the sink; out is freed. */
static int recorder_give(struct recorder *r, struct buf *out)
{
	int error = out->failed ? -ENOMEM : r->sink.write(r->sink.ctx, out->bytes, out->n);

	buf_free(out);
	return error;
}

/* TIME_CONV, THREAD_MAP, CPU_MAP. */
static int recorder_give_preface(struct recorder *r)
{
	const struct session_opts *s = &r->o.session;
	struct buf out = { 0 };

	preface_put(r->session, s->pids, s->target == SESSION_SYSTEM ? 0 : s->n_pids, &out);
	return recorder_give(r, &out);
}

/* FINISHED_INIT, which follows what was found. */
static int recorder_give_finished(struct recorder *r)
{
	struct buf out = { 0 };

	preface_put_finished(&out);
	return recorder_give(r, &out);
}

/* Mappings that are made while /proc is read are not missed, because side-band events are on by
 * then. -errno. */
int recorder_begin(struct recorder *r, const struct recorder_sink *sink, struct seam_error *err)
{
	uint64_t start_ns;
	int error;

	r->sink = *sink;
	error = recorder_give_preface(r);
	if (error)
		return error;
	/* Mappings that come while /proc is read are recorded by the kernel. */
	error = session_start(r->session);
	if (error)
		return recorder_fail(err, "cannot start the events", error);
	start_ns = recorder_now_ns();
	error = recorder_find(r, session_events(r->session), recorder_write, bpf_stacks_write, r,
	                      &r->bpf);
	if (!error)
		error = recorder_prepare(r);
	if (!error)
		error = recorder_give_finished(r);
	if (!error)
		error = recorder_collect(r, true);
	/* How long /proc and the first tables took: with many processes it is long enough to be
	 * told. */
	r->found_ns = recorder_now_ns() - start_ns;
	r->begun = hurry_share();
	return error;
}

const struct synth_counts *recorder_found(const struct recorder *r, uint64_t *ns)
{
	*ns = r->found_ns;
	return &r->found;
}

/* ---- during ---- */

int recorder_resume(struct recorder *r, struct seam_error *err)
{
	int error = session_resume(r->session);

	return error ? recorder_fail(err, "cannot start the events", error) : 0;
}

/* Sampling begins here, unless it has begun with the exec or is to be begun by the user. */
int recorder_start(struct recorder *r, struct seam_error *err)
{
	if (r->o.delayed || !r->o.session.start_paused)
		return 0;
	return recorder_resume(r, err);
}

/* The command's exec happens in here; that it failed is its errno. */
int recorder_run_command(struct recorder *r, struct seam_error *err)
{
	int error = r->o.command ? target_go(&r->target) : 0;

	return error ? recorder_fail(err, r->o.command[0], error) : 0;
}

struct target *recorder_command(struct recorder *r)
{
	return &r->target;
}

/* Until something is there to read, the time is over, or somebody called recorder_wake. */
void recorder_wait(struct recorder *r, int ms)
{
	session_wait(r->session, ms);
}

int recorder_within_ms(const struct recorder *r)
{
	return session_within_ms(r->session);
}

/* May be called by a signal handler. */
void recorder_wake(struct recorder *r)
{
	if (r->session)
		session_wake(r->session);
}

/* With a command it is the end of that, whatever else is recorded; else that no target lives. */
bool recorder_ended(struct recorder *r)
{
	if (r->o.command)
		return target_poll(&r->target);
	return r->bpf.kwalk ? kwalk_targets_gone(r->bpf.kwalk) : session_target_gone(r->session);
}

/* One round: rings, worker, sink. */
int recorder_read(struct recorder *r)
{
	int64_t n = session_read(r->session, bpf_stacks_write, &r->bpf);
	int error = n < 0 ? (int)n : r->live ? live_round(r->live) : 0;

	/* A round without records also releases what the round before it held back. */
	return error ? error : recorder_collect(r, r->live || n > 0);
}

/* ---- after ---- */

/* The milliseconds until end_ns, at most FINISH_MS. */
static unsigned recorder_finish_ms(uint64_t end_ns)
{
	uint64_t now_ns = recorder_now_ns(),
	         left = now_ns < end_ns ? (end_ns - now_ns) / 1000000 : 0;

	return left < FINISH_MS ? (unsigned)left : FINISH_MS;
}

/* Whoever reads or walks asks for this time. */
static void recorder_end_by(struct recorder *r, uint64_t end_ns)
{
	__atomic_store_n(&r->end_ns, end_ns, __ATOMIC_RELAXED);
	if (r->session)
		session_end_by(r->session, end_ns);
	if (r->live)
		live_end_by(r->live, end_ns);
}

void recorder_ends(struct recorder *r)
{
	uint64_t known_ns = __atomic_load_n(&r->end_ns, __ATOMIC_RELAXED), end_ns;

	hurry_begin();
	if (__atomic_exchange_n(&r->ends, true, __ATOMIC_RELAXED))
		return;
	end_ns = hurry_until_ns(r->o.grace_ms, &r->begun);
	recorder_end_by(r, known_ns && known_ns < end_ns ? known_ns : end_ns);
}

void recorder_child_ended(struct recorder *r)
{
	siginfo_t info = { 0 };

	if (r->o.command && r->target.started && r->target.pid > 0 &&
	    waitid(P_PID, (id_t)r->target.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid == r->target.pid)
		recorder_ends(r);
}

void recorder_ends_in(struct recorder *r, uint64_t ms)
{
	if (!r->ends)
		recorder_end_by(r, hurry_latest_ns(r->o.grace_ms, ms));
}

/* To be called when the end has come: it raises the priority, too. */
uint64_t recorder_until_ns(struct recorder *r)
{
	recorder_ends(r);
	return r->end_ns;
}

/* Says it where processes kept who reads for this recorder waiting. */
static void recorder_say_held(const struct recorder *r)
{
	uint64_t held = r->own_peek ? peek_counts(r->own_peek).held : 0;

	if (held)
		log_line(&r->o.session.log, LOG_PLAIN,
		         "processes kept who reads their memory waiting (%llu times) and were left "
		         "alone: stacks of theirs may be missing",
		         (unsigned long long)held);
}

/* The end, in order: no more samples; what is pending comes in the grace; the rings' rest; what
 * waits for its walk; then all of it into the sink. end_ns bounds all of it. */
int recorder_stop(struct recorder *r, uint64_t end_ns)
{
	int64_t n;
	int error;

	hurry_begin();
	session_stop(r->session);
	recorder_say_held(r);
	recorder_end_by(r, end_ns);
	n = session_settle(r->session, r->o.grace_ms, bpf_stacks_write, &r->bpf);
	if (n >= 0)
		n = session_finish(r->session, bpf_stacks_write, &r->bpf);
	if (n < 0)
		return (int)n;
	error = r->live ? live_finish(r->live, recorder_finish_ms(end_ns)) : 0;
	return error ? error : recorder_collect(r, false);
}

/* Stops sampling and gives up the rest: what lies in the rings is not read any more. */
void recorder_halt(struct recorder *r)
{
	hurry_begin();
	session_stop(r->session);
}

const struct recorder_opts *recorder_options(const struct recorder *r)
{
	return &r->o;
}

struct session *recorder_session(const struct recorder *r)
{
	return r->session;
}

struct live *recorder_live(const struct recorder *r)
{
	return r->live;
}

struct recorder_kept recorder_kept(const struct recorder *r)
{
	struct kwalk_totals t = { .sz = sizeof(t) };
	const struct bpf_stacks *b = recorder_bpf(r);
	struct tables_counts tables;

	if (!b->kwalk || kwalk_total(b->kwalk, &t) < 0)
		return (struct recorder_kept){ 0 };
	tables_count(b->tables, &tables);
	return (struct recorder_kept){ .processes = t.processes,
		                       .table_bytes = t.table_bytes + tables.own_bytes,
		                       .objects = tables.built + tables.from_cache + tables.without,
		                       .file_bytes = tables.bytes - tables.own_bytes };
}

void recorder_rest(const struct recorder *r)
{
	if (r->bpf.tables)
		tables_rest_all(r->bpf.tables);
}

const struct bpf_stacks *recorder_bpf(const struct recorder *r)
{
	return &r->bpf;
}
