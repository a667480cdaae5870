// SPDX-License-Identifier: MIT
/*
 * record_bpf.c: see record_bpf.h. Knows which records are about strangers and what is said of
 * stacks at the end; nothing of programs or tables.
 */
#include "cli/record/record_bpf.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "recorder/bpf_table.h"
#include "recorder/bpf_walk.h"
#include "image/needed.h"

static void bpf_stacks_table(void *ctx, const struct kwalk_ask *ask, struct kwalk_table *ret)
{
	struct record_bpf *b = ctx;

	bpf_table_get(b->table, ask, ret);
}

static void bpf_rests(void *ctx, const void *blob)
{
	const struct record_bpf *b = ctx;

	tables_rest(b->tables, blob);
}

/* What was not known to be mapped yet when the sample was taken. */
static size_t bpf_unwind(void *ctx, const struct kwalk_sample *sample, const uint64_t *user,
                         const struct kwalk_raw *raw, uint64_t *frames, enum kwalk_end *end)
{
	struct record_bpf *b = ctx;
	struct walk walk;

	(void)user;
	bpf_walk(b->kwalk, b->tables, sample, raw, frames, &walk);
	*end = bpf_walk_end(b->kwalk, sample, &walk);
	return walk.n;
}

/* ---- opening ---- */

static const char *bpf_not_for(const struct record_opts *o)
{
	if (o->session.use_clockid && o->session.clockid != CLOCK_MONOTONIC)
		return "BPF programs know the clock monotonic only (-k)";
	if (o->session.no_sample_time)
		return "samples without times were asked for";
	if (o->session.callchain == SESSION_CALLCHAIN_FP_DEFER && o->session.max_stack)
		return "a depth was asked for";
	if (o->session.sample_phys_addr || o->session.sample_weight || o->session.cgroups)
		return "BPF programs cannot give physical addresses, weights and cgroups";
	for (size_t i = 0; i < o->events.n; i++)
		if (o->events.at[i].attr.type != SEAM_TYPE_TRACEPOINT &&
		    o->events.at[i].callchain == EVENT_CALLCHAIN_INHERIT)
			return NULL;
	return o->events.n ? "tracepoints, and events with a call-graph of their own, take their "
	                     "own samples"
	                   : NULL;
}

static enum kwalk_filter bpf_filter(const struct record_opts *o)
{
	if (o->session.target == SESSION_SYSTEM)
		return KWALK_EVERYTHING;
	return o->by_tid ? KWALK_THREADS : KWALK_PROCESSES;
}

static void bpf_session(struct record_bpf *b, struct session_opts *s)
{
	s->use_clockid = true;
	s->clockid = CLOCK_MONOTONIC;
	kwalk_source(b->kwalk, &s->source);
}

int record_bpf_open(struct record_bpf *b, const struct record_opts *o, struct session_opts *s,
                    char *reason)
{
	struct tables_opts tables = { .sz = sizeof(tables) };
	struct kwalk_opts opts = {
		.sz = sizeof(opts),
		.when = o->bpf_when,
		.filter = bpf_filter(o),
		.no_inherit = o->session.no_inherit,
		.filters = o->filters,
		.held = s->enable_on_exec ? s->pids[0] : 0,
		.away_ns = o->away_ns,
		.wall = o->wall,
		.no_kernel = o->session.all_user,
		.fp = o->session.callchain == SESSION_CALLCHAIN_FP_DEFER,
		.memory = o->unwind_memory,
		.ring_bytes = o->session.mmap_pages * (size_t)sysconf(_SC_PAGESIZE),
		.table = bpf_stacks_table,
		.unwind = bpf_unwind,
		.rests = bpf_rests,
		.ctx = b,
		.log = &o->session.log,
	};
	const char *not_for = bpf_not_for(o);
	struct seam_error err = { 0 };
	int r = not_for ? -EOPNOTSUPP : tables_new(&b->tables, &tables);

	/* What a table is made of is larger than the table, and some are made in the middle of a
	 * recording: it goes back at once. */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	if (not_for)
		snprintf(reason, 256, "%s", not_for);
	b->belong.inherit = !o->session.no_inherit;
	b->belong.chosen = kwalk_filters_any(&o->filters);
	b->everything = opts.filter == KWALK_EVERYTHING && !b->belong.chosen;
	if (r >= 0)
		r = bpf_table_new(&b->table, b->tables);
	if (r >= 0) {
		r = kwalk_open(&b->kwalk, &opts, &err);
		if (r < 0) {
			snprintf(reason, 256, "%.255s", err.text);
			r = -EOPNOTSUPP;
		}
	}
	if (r < 0)
		record_bpf_close(b);
	else
		bpf_session(b, s);
	return r;
}

/* Only a person is told, and only when it takes long. */
static void bpf_said(void *ctx, size_t done, size_t of)
{
	bool *said = ctx;

	cmd_print(stderr, "\rseam record: reading unwind tables: %zu of %zu processes", done, of);
	*said = true;
}

static int bpf_target_all(struct record_bpf *b, const struct record_opts *o)
{
	bool said = false, person = !o->quiet && isatty(STDERR_FILENO);
	int r = kwalk_target_all(b->kwalk, person ? bpf_said : NULL, &said);

	if (said)
		cmd_print(stderr, "\r\033[K");
	return r;
}

static int bpf_prepare(void *ctx, const char *path)
{
	struct record_bpf *b = ctx;
	struct kwalk_ask ask = { .pid = getpid(), .path = path };
	struct kwalk_table table = { 0 };

	bpf_table_get(b->table, &ask, &table);
	if (table.blob)
		kwalk_prepare(b->kwalk, table.blob);
	return 0;
}

/* As execvp finds it. */
static void bpf_prepare_command(struct record_bpf *b, const char *name)
{
	const char *at = getenv("PATH");
	char path[4096];

	bpf_prepare(b, "[vdso]");
	if (strchr(name, '/') && image_needed(name, bpf_prepare, b) != -ENOENT)
		return;
	while (at && *at && !strchr(name, '/')) {
		size_t n = strcspn(at, ":");

		if (snprintf(path, sizeof(path), "%.*s/%s", (int)n, at, name) < (int)sizeof(path) &&
		    access(path, X_OK) == 0 && image_needed(path, bpf_prepare, b) != -ENOENT)
			return;
		at += n + (at[n] == ':');
	}
}

int record_bpf_targets(struct record_bpf *b, const struct record_opts *o)
{
	const struct session_opts *s = &o->session;
	size_t found = 0;

	if (o->command)
		bpf_prepare_command(b, o->command[0]);
	if (s->target == SESSION_SYSTEM)
		return bpf_target_all(b, o);
	for (size_t i = 0; i < s->n_pids; i++) {
		int r = kwalk_target(b->kwalk, s->pids[i]);

		if (r < 0 && r != -ESRCH)
			return r;
		found += r >= 0;
	}
	return found ? 0 : -ESRCH;
}

void record_bpf_close(struct record_bpf *b)
{
	kwalk_close(b->kwalk);
	bpf_table_free(b->table);
	tables_free(b->tables);
	strangers_free(&b->belong);
	*b = (struct record_bpf){ 0 };
}

int record_bpf_write(void *ctx, const void *bytes, size_t n)
{
	struct record_bpf *b = ctx;

	if (!b->kwalk || b->everything)
		return b->write(b->write_ctx, bytes, n);
	b->belong.kwalk = b->kwalk;
	b->belong.write = b->write;
	b->belong.write_ctx = b->write_ctx;
	return strangers_write(&b->belong, bytes, n);
}

/* ---- words ---- */

struct record_lost record_bpf_lost(const struct record_bpf *b)
{
	struct kwalk_totals t = { .sz = sizeof(t) };

	if (!b->kwalk || kwalk_total(b->kwalk, &t) < 0)
		return (struct record_lost){ 0 };
	return (struct record_lost){ .room = t.counts.ring_full + t.counts.away_full,
		                     .skipped = t.counts.skipped };
}

void record_bpf_say(const struct record_bpf *b, const struct record_opts *o)
{
	struct kwalk_totals t = { .sz = sizeof(t) };
	const struct kwalk_counts *c = &t.counts;
	struct tables_counts tables;

	if (!b->kwalk || o->quiet || kwalk_total(b->kwalk, &t) < 0)
		return;
	if (c->ring_full)
		cmd_print(stderr, "  %" PRIu64 " records lost in the rings of the BPF programs\n",
		          c->ring_full);
	if (c->raw_full)
		cmd_print(stderr,
		          "  %" PRIu64
		          " stacks are cut off: there was no room to copy them for the recorder\n",
		          c->raw_full);
	if (c->away_full + c->away_untold)
		cmd_print(stderr,
		          "  %" PRIu64
		          " samples of time off the CPU lost: a BPF ring was full; %" PRIu64
		          " threads were not followed\n",
		          c->away_full, c->away_untold);
	if (c->answer_full + c->no_slot)
		cmd_print(stderr,
		          "  %" PRIu64
		          " deferred stacks lost in the rings of the BPF programs; %" PRIu64
		          " could not be deferred: too many threads\n",
		          c->answer_full, c->no_slot);
	if (c->not_followed)
		cmd_print(stderr,
		          "  %" PRIu64
		          " children of what is recorded were not followed: there were too many\n",
		          c->not_followed);
	if (t.follow_lost)
		cmd_print(stderr,
		          "  %" PRIu64
		          " time%s what the kernel says of mappings was lost, and /proc was read "
		          "again: user stacks of that moment may end early\n",
		          t.follow_lost, t.follow_lost == 1 ? "" : "s");
	if (c->skipped)
		cmd_print(stderr,
		          "  %" PRIu64
		          " sample%s skipped by the kernel: a BPF program was running on the CPU\n",
		          c->skipped, c->skipped == 1 ? "" : "s");
	if (t.unanswered)
		cmd_print(stderr, "  %" PRIu64 " deferred stacks never came\n", t.unanswered);
	if (t.pressed)
		cmd_print(stderr,
		          "  not all unwind tables had room at once (--unwind-memory): %" PRIu64
		          " times one left for another, %" PRIu64 " times one came late; %" PRIu64
		          " stacks were walked by the recorder\n",
		          t.tables_left, t.tables_returned, t.unwound);
	if (t.arrays_left_out)
		cmd_print(stderr,
		          "  %" PRIu64
		          " times the mappings of a process had no room: more --unwind-memory\n",
		          t.arrays_left_out);
	if (t.left_alone)
		cmd_print(stderr,
		          "  %" PRIu64
		          " times a process had too many executable mappings to be followed, or "
		          "changed them too fast: its user stacks end at once for a while\n",
		          t.left_alone);
	if (!o->verbose)
		return;
	tables_count(b->tables, &tables);
	cmd_print(stderr, "seam record: user stacks ended:");
	for (size_t i = 0; i < KWALK_ENDS; i++)
		if (c->end[i])
			cmd_print(stderr, " %s %" PRIu64, kwalk_end_name((enum kwalk_end)i),
			          c->end[i]);
	cmd_print(stderr,
	          "; %" PRIu64 " with guessed frames"
	          "\nseam record: %" PRIu64 " walked at once (%" PRIu64 " faults), %" PRIu64
	          " deferred, %" PRIu64 " samples shared one, %" PRIu64 " refused, %" PRIu64
	          " read asleep, %" PRIu64 " late, %" PRIu64 " walked by the recorder\n",
	          c->guessed, c->at_once, c->faults, c->asked, c->shared, c->refused, c->remote,
	          t.late, t.unwound);
	if (o->away_ns)
		cmd_print(stderr,
		          "seam record: off the CPU: %" PRIu64 " samples, %.3f s; %" PRIu64
		          " switches not told of by the kernel\n",
		          c->away, (double)c->away_ns / 1e9, c->away_unseen + t.away_misses);
	cmd_print(stderr,
	          "seam record: %" PRIu64 " processes, %" PRIu64 " tables of %" PRIu64
	          " bytes; %" PRIu64 " samples of others; of %" PRIu64 " bytes of tables %" PRIu64
	          " are not pages of files\n",
	          t.processes, t.tables, t.table_bytes, c->others, tables.bytes, tables.own_bytes);
	if (!t.counts_skipped)
		cmd_print(stderr, "seam record: samples that the kernel skips because another BPF "
		                  "program runs are not counted here\n");
}
