// SPDX-License-Identifier: MIT
/*
 * bpf_stacks.c: see bpf_stacks.h. Knows when BPF can do what was asked for, and which tables a
 * command will need; nothing of what programs and tables are.
 *
 * It stands between three parts: kwalk (capture/bpf), which runs the programs in the kernel and
 * asks for a table when a process has mapped an object; bpf_table, which finds or makes it; and the
 * session, whose samples come out of kwalk's ring instead of the kernel's own. The callbacks at the
 * top are what kwalk asks.
 *
 * Invariant: what cannot be had by BPF is known before anything is sampled, and is a reason in
 * words, not a failure: the recorder takes the next way then.
 */
#include "recorder/bpf_stacks.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "image/needed.h"
#include "recorder/bpf_walk.h"
#include "recorder/forecast.h"

/* New mappings are learnt in a sixteenth of the time between two samples (capture/pace.h): in half
 * of the least time off the CPU. */
#define AWAY_TIMES 8u

/* kwalk asks: a process has mapped something for execution. ret stays empty where nothing is
 * known. */
static void bpf_stacks_table(void *ctx, const struct kwalk_ask *ask, struct kwalk_table *ret)
{
	struct bpf_stacks *b = ctx;
	const struct tables_object *object = bpf_table_get(b->table, ask, ret);

	if (b->runtime && !ret->later)
		ret->runtime = bpf_runtime_get(b->runtime, ask, object);
	if (b->context && !ret->later)
		ret->context = bpf_context_get(b->context, ask, object);
}

/* kwalk reads the pages of this table no more until it asks for it again: they may go. */
static void bpf_stacks_rests(void *ctx, const void *blob)
{
	const struct bpf_stacks *b = ctx;

	tables_rest(b->tables, blob);
}

/* Of a table that is being made: asked before the programs are there, too. */
static bool bpf_stacks_stopped(const void *ctx)
{
	const struct bpf_stacks *b = ctx;
	/* The follower asks while kwalk_open has not returned yet. */
	struct kwalk *kwalk = __atomic_load_n(&b->kwalk, __ATOMIC_ACQUIRE);

	return kwalk && kwalk_gives_up(kwalk);
}

/* Walks a sample whose mappings were not known yet when it was taken. */
static size_t bpf_stacks_unwind(void *ctx, const struct kwalk_sample *sample, const uint64_t *user,
                                const struct kwalk_raw *raw, uint64_t *frames, uint64_t *sps,
                                enum kwalk_end *end)
{
	struct bpf_stacks *b = ctx;
	struct walk walk;

	/* What the programs found is not used: the walk is made anew. */
	(void)user;
	bpf_walk(b->kwalk, b->tables, bpf_table_dump(b->table, sample->pid), sample, raw, frames,
	         sps, &walk);
	*end = bpf_walk_end(b->kwalk, sample, &walk);
	return walk.n;
}

/* ---- opening ---- */

/* Why the programs cannot take these samples; NULL: they can. Of several events it is enough that
 * one takes its stacks as the session says. */
static const char *bpf_stacks_not_for(const struct recorder_opts *o)
{
	/* The programs stamp samples with bpf_ktime_get_ns, which is this clock. */
	if (o->session.use_clockid && o->session.clockid != CLOCK_MONOTONIC)
		return "BPF programs know the clock monotonic only (-k)";
	if (o->session.no_sample_time)
		return "samples without times were asked for";
	if (o->session.callchain == SESSION_CALLCHAIN_FP_DEFER && o->session.max_stack)
		return "a depth was asked for";
	if (o->session.sample_phys_addr || o->session.sample_weight || o->session.cgroups)
		return "BPF programs cannot give physical addresses, weights and cgroups";
	for (size_t i = 0; i < o->events->n; i++)
		if (o->events->at[i].attr.type != SEAM_TYPE_TRACEPOINT &&
		    o->events->at[i].callchain == EVENT_CALLCHAIN_INHERIT)
			return NULL;
	return o->events->n ? "tracepoints, and events with a call-graph of their own, take their "
	                      "own samples"
	                    : NULL;
}

/* Whose samples are wanted, in kwalk's words. */
static enum kwalk_filter bpf_stacks_filter(const struct recorder_opts *o)
{
	if (o->session.target == SESSION_SYSTEM)
		return KWALK_EVERYTHING;
	return o->by_tid ? KWALK_THREADS : KWALK_PROCESSES;
}

/* The time between two samples of a CPU, as far as the options say it; 0: it is not known. A sample
 * of time off the CPU comes when a thread returns that was away for away_ns, and all that it had
 * mapped before it left is older than that. */
static uint64_t bpf_stacks_period_ns(const struct recorder_opts *o)
{
	uint64_t most_hz = o->away_ns ? 1000000000u / (o->away_ns * AWAY_TIMES) : 0;

	for (size_t i = 0; i < o->events->n; i++) {
		const struct event *e = &o->events->at[i];
		bool by_rate = e->has_rate ? e->attr.flags & SEAM_ATTR_FREQ : !o->session.period;
		uint64_t hz = e->has_rate ? e->attr.sample_period : o->session.frequency;

		/* Of time off the CPU. */
		if (o->away_ns && e->from_source)
			continue;
		if (!by_rate || e->attr.type == SEAM_TYPE_TRACEPOINT)
			return 0;
		if (!hz)
			hz = SESSION_FREQUENCY_DEFAULT;
		if (hz > most_hz)
			most_hz = hz;
	}
	return most_hz ? 1000000000u / most_hz : 0;
}

/* Samples get their times from the program, which reads the clock monotonic: so the session's
 * records must have that clock, too, or else the two cannot be put in order. */
static void bpf_stacks_session(struct bpf_stacks *b, struct session_opts *s)
{
	s->use_clockid = true;
	s->clockid = CLOCK_MONOTONIC;
	kwalk_source(b->kwalk, &s->source);
}

/* Nothing is sampled yet. On -EOPNOTSUPP the recorder takes the next way of its fallback order. */
int bpf_stacks_open(struct bpf_stacks *b, const struct recorder_opts *o, struct session_opts *s,
                    char *reason)
{
	struct tables_opts tables = { .sz = sizeof(tables),
		                      .fresh_s = o->fresh_s,
		                      .stopped = bpf_stacks_stopped,
		                      .stopped_ctx = b,
		                      .peek = o->peek };
	struct kwalk_opts opts = {
		.sz = sizeof(opts),
		.when = o->bpf_when,
		.filter = bpf_stacks_filter(o),
		.no_inherit = o->session.no_inherit,
		.filters = o->filters,
		.held = s->enable_on_exec ? s->pids[0] : 0,
		.away_ns = o->away_ns,
		.wall = o->wall,
		.no_kernel = o->session.all_user,
		.fp = o->session.callchain == SESSION_CALLCHAIN_FP_DEFER,
		.runtimes = o->runtimes,
		.runtimes_now = o->runtimes_now,
		.context = !o->no_context,
		.memory = o->unwind_memory,
		.pending = o->pending_memory,
		.period_ns = bpf_stacks_period_ns(o),
		.ring_bytes = o->session.mmap_pages * (size_t)sysconf(_SC_PAGESIZE),
		.stopped = o->session.stopped,
		.table = bpf_stacks_table,
		.unwind = bpf_stacks_unwind,
		.rests = bpf_stacks_rests,
		.ctx = b,
		.peek = o->peek,
		.log = &o->session.log,
	};
	const char *not_for = bpf_stacks_not_for(o);
	struct kwalk *kwalk = NULL;
	struct seam_error err = { 0 };
	int r = not_for ? -EOPNOTSUPP : tables_new(&b->tables, &tables);

	/* A table is smaller than what it is made of, and some are made in the middle of a
	 * recording, so the memory is given back at once. */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	if (not_for)
		snprintf(reason, 256, "%s", not_for);
	/* Without inheritance a child is a stranger, unless it is named itself. */
	b->strangers.inherit = !o->session.no_inherit;
	b->strangers.chosen = kwalk_filters_any(&o->filters);
	b->everything = opts.filter == KWALK_EVERYTHING && !b->strangers.chosen;
	if (r >= 0)
		r = bpf_table_new(&b->table, b->tables);
	if (r >= 0 && o->runtimes)
		r = bpf_runtime_new(&b->runtime, o->peek);
	if (r >= 0 && !o->no_context)
		r = bpf_context_new(&b->context);
	if (r >= 0) {
		/* Loads the programs into the kernel: rights, verifier and missing features all
		 * show here. */
		r = kwalk_open(&kwalk, &opts, &err);
		if (r < 0) {
			snprintf(reason, 256, "%.255s", err.text);
			r = -EOPNOTSUPP;
		}
		__atomic_store_n(&b->kwalk, kwalk, __ATOMIC_RELEASE);
	}
	if (r < 0)
		bpf_stacks_close(b);
	else
		bpf_stacks_session(b, s);
	return r;
}

/* Progress is reported only if it takes long. */
struct bpf_stacks_progress {
	const struct recorder_opts *o;
	bool said;
};

static void bpf_stacks_said(void *ctx, size_t done, size_t of)
{
	struct bpf_stacks_progress *p = ctx;

	p->o->progress(p->o->progress_ctx, done, of);
	p->said = true;
}

/* Reads the mappings of all processes: of some thousand processes it takes long enough to be
 * told. */
static int bpf_stacks_target_all(struct bpf_stacks *b, const struct recorder_opts *o)
{
	struct bpf_stacks_progress p = { .o = o };
	int r = kwalk_target_all(b->kwalk, o->progress ? bpf_stacks_said : NULL, &p);

	/* Zeros say that it is over: a line that was drawn is wiped. */
	if (p.said)
		o->progress(o->progress_ctx, 0, 0);
	return r;
}

/* What a command will run, as it is looked at before it begins. */
struct bpf_stacks_ahead {
	struct bpf_stacks *b;
	bool began;
	bool interpreter; /* of the program that is looked at */
};

/* Makes the table of one object and gives it to the kernel before a process has mapped it; an
 * interpreter's programs are loaded. That it cannot be had is no failure: the walk will say so. */
static int bpf_stacks_prepare(void *ctx, const char *path)
{
	struct bpf_stacks_ahead *a = ctx;
	struct bpf_stacks *b = a->b;
	struct kwalk_ask ask = { .pid = getpid(), .path = path };
	struct kwalk_table table = { 0 };
	const struct runtime_object *runtime = NULL;

	if (bpf_stacks_stopped(b))
		return -ECANCELED;
	bpf_table_get(b->table, &ask, &table);
	if (b->runtime)
		runtime = bpf_runtime_get(b->runtime, &ask, NULL);
	if (b->context)
		bpf_context_get(b->context, &ask, NULL);
	if (runtime && (runtime->known || runtime->loads)) {
		kwalk_runtime_want(b->kwalk, runtime->kind);
		a->interpreter = true;
	}
	if (table.blob)
		kwalk_prepare(b->kwalk, table.blob);
	return 0;
}

/* Whether one object is an interpreter, and nothing else of it. */
static int bpf_stacks_look(void *ctx, const char *path)
{
	struct bpf_stacks_ahead *a = ctx;
	struct kwalk_ask ask = { .pid = getpid(), .path = path };
	const struct runtime_object *runtime = bpf_runtime_get(a->b->runtime, &ask, NULL);

	if (bpf_stacks_stopped(a->b))
		return -ECANCELED;
	a->interpreter |= runtime && (runtime->known || runtime->loads);
	return 0;
}

/* A forecast_program: the command's own is prepared in any case, and others if they are
 * interpreters; what these run is their own code. */
static bool bpf_stacks_ahead(void *ctx, const char *path)
{
	struct bpf_stacks_ahead *a = ctx;

	a->interpreter = false;
	/* What the command is run with is looked at, whatever is said of it. */
	if (a->began && !a->b->runtime)
		return true;
	if (a->began)
		image_needed(path, bpf_stacks_look, a);
	if (!a->began || a->interpreter)
		image_needed(path, bpf_stacks_prepare, a);
	a->began = true;
	return a->interpreter || !a->b->runtime || bpf_stacks_stopped(a->b);
}

static void bpf_stacks_prepare_command(struct bpf_stacks *b, char *const argv[])
{
	struct bpf_stacks_ahead a = { .b = b };

	/* The vdso is mapped into every process and has no file to be found by. */
	bpf_stacks_prepare(&a, "[vdso]");
	forecast_command(argv, bpf_stacks_ahead, &a);
}

/* A process that is gone meanwhile is not missed, unless it was the only one. */
int bpf_stacks_targets(struct bpf_stacks *b, const struct recorder_opts *o)
{
	const struct session_opts *s = &o->session;
	size_t found = 0;

	if (o->command)
		bpf_stacks_prepare_command(b, o->command);
	if (s->target == SESSION_SYSTEM)
		return bpf_stacks_target_all(b, o);
	for (size_t i = 0; i < s->n_pids; i++) {
		int r = kwalk_target(b->kwalk, s->pids[i]);

		if (r < 0 && r != -ESRCH)
			return r;
		found += r >= 0;
	}
	return found ? 0 : -ESRCH;
}

/* Programs first: until they are gone they may ask for tables. It may be called for what was never
 * opened. */
void bpf_stacks_close(struct bpf_stacks *b)
{
	kwalk_close(b->kwalk);
	bpf_table_free(b->table);
	bpf_runtime_free(b->runtime);
	bpf_context_free(b->context);
	tables_free(b->tables);
	strangers_free(&b->strangers);
	*b = (struct bpf_stacks){ 0 };
}

/* A callback of strangers. */
static bool bpf_stacks_follows(void *ctx, uint32_t pid)
{
	return kwalk_is_followed(ctx, pid);
}

/* Where not everything is recorded, records about processes that nobody follows are left out. */
int bpf_stacks_write(void *ctx, const void *bytes, size_t n)
{
	struct bpf_stacks *b = ctx;

	/* Everything is recorded, so that nobody is a stranger. */
	if (!b->kwalk || b->everything)
		return b->write(b->write_ctx, bytes, n);
	b->strangers.is_followed = bpf_stacks_follows;
	b->strangers.follow_ctx = b->kwalk;
	b->strangers.write = b->write;
	b->strangers.write_ctx = b->write_ctx;
	return strangers_write(&b->strangers, bytes, n);
}

/* Zeros where BPF is not used. */
struct bpf_stacks_lost bpf_stacks_lost(const struct bpf_stacks *b)
{
	struct kwalk_totals t = { .sz = sizeof(t) };

	if (!b->kwalk || kwalk_total(b->kwalk, &t) < 0)
		return (struct bpf_stacks_lost){ 0 };
	return (struct bpf_stacks_lost){ .room = t.counts.ring_full + t.counts.away_full,
		                         .skipped = t.counts.skipped,
		                         .cut = t.cut };
}
