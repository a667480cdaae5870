// SPDX-License-Identifier: MIT
/*
 * record_live.c: see record_live.h. Knows which recordings are unwound, and what to tell people of
 * it. Invariant: samples whose user stack is not whole are always said, unless -q asked for
 * silence.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/record/record_live.h"

#define PREPARE_MS 5000 /* at most, for tables before sampling begins */
#define OBJECTS_SAID 5u
/* Two rounds are held, and each may be as large as all rings together. */
#define QUEUE_RINGS 4u

#if defined(__x86_64__)
#define MACHINE FRAMETAB_X86_64
#elif defined(__aarch64__)
#define MACHINE FRAMETAB_AARCH64
#else
#define MACHINE 0u
#endif

static bool record_live_copies(const struct seam_events *events)
{
	for (size_t i = 0; i < seam_events_count(events); i++)
		if (seam_events_at(events, i)->attr.sample_type & SEAM_SAMPLE_STACK_USER)
			return true;
	return false;
}

int record_live_new(struct live **ret, const struct record_opts *o, const struct session *session)
{
	struct live_opts opts = {
		.sz = sizeof(opts),
		.events = session_events(session),
		.machine = MACHINE,
		.threads = o->rec.unwind_threads,
		.queue_bytes = LIVE_QUEUE_BYTES,
		.tables.sz = sizeof(opts.tables),
	};
	size_t rings = 0;

	*ret = NULL;
	if (o->rec.keep_stacks || !record_live_copies(opts.events))
		return 0;
	for (size_t i = 0; i < session_rings(session); i++)
		rings += session_ring(session, i)->size;
	if (rings * QUEUE_RINGS > opts.queue_bytes)
		opts.queue_bytes = rings * QUEUE_RINGS;
	return live_new(ret, &opts);
}

int record_live_open(struct record_live *r, const struct record_opts *o,
                     const struct session *session, struct datafile *sink)
{
	*r = (struct record_live){ .sink = sink };
	return record_live_new(&r->live, o, session);
}

void record_live_free(struct record_live *r)
{
	live_free(r->live);
	r->live = NULL;
}

const struct seam_events *record_live_events(const struct record_live *r,
                                             const struct session *session)
{
	return r->live ? live_events(r->live) : session_events(session);
}

int record_live_write(void *ctx, const void *bytes, size_t n)
{
	struct record_live *r = ctx;

	return r->live ? live_write(r->live, bytes, n) : datafile_write(r->sink, bytes, n);
}

static int record_live_collect(struct record_live *r, bool flush)
{
	int error = r->live ? live_collect(r->live, datafile_write, r->sink) : 0;

	return !error && flush ? datafile_flush(r->sink) : error;
}

int record_live_round(struct record_live *r, int64_t n)
{
	int error = r->live ? live_round(r->live) : 0;

	/* An empty round, too, lets go of what the round before it held back. */
	return error ? error : record_live_collect(r, r->live || n > 0);
}

int record_live_prepare(struct record_live *r)
{
	int done = r->live ? live_prepare(r->live, PREPARE_MS) : 1;
	int error = done < 0 ? done : record_live_collect(r, true);

	return error ? error : done;
}

int record_live_finish(struct record_live *r, unsigned timeout_ms)
{
	int error = r->live ? live_finish(r->live, timeout_ms) : 0;

	return error ? error : record_live_collect(r, false);
}

/* -- words -- */

static void record_say_share(const char *what, uint64_t n, uint64_t of)
{
	if (n)
		cmd_print(stderr, "  %" PRIu64 " (%.2f %%) %s\n", n, 100.0 * (double)n / (double)of,
		          what);
}

static void record_say_missing(const struct record_live *r)
{
	size_t n;
	const struct unwound_missing *m = live_missing(r->live, &n);

	for (size_t i = 0; i < n && i < OBJECTS_SAID; i++)
		cmd_print(stderr, "    %" PRIu64 " in %s%s%s\n", m[i].samples,
		          m[i].object ? m[i].object->path : "no mapping",
		          m[i].reason[0] ? ": " : "", m[i].reason);
	if (n > OBJECTS_SAID)
		cmd_print(stderr, "    and in %zu more places\n", n - OBJECTS_SAID);
}

/* A truncated walk says only how far it got: the next size is worth trying when it is not the
 * last. */
static void record_say_truncated(const struct live_counts *c, const struct record_opts *o,
                                 uint64_t walked)
{
	char text[160];
	unsigned size =
	        o->rec.session.stack_size ? o->rec.session.stack_size : SESSION_STACK_SIZE_DEFAULT;
	unsigned larger = size < SESSION_STACK_SIZE_MAX / 2 ? size * 2 : SESSION_STACK_SIZE_MAX;

	snprintf(text, sizeof(text), "end with the stack copy of %u bytes%s%.0u%s", size,
	         larger > size ? "; try --call-graph dwarf," : "", larger > size ? larger : 0,
	         larger > size ? "" : ", the largest there is");
	record_say_share(text, c->walks.end[WALK_TRUNCATED] - c->unreadable, walked);
	record_say_share("end where the kernel could not read the stack", c->unreadable, walked);
}

static void record_say_ends(const struct record_live *r, const struct record_opts *o,
                            const struct live_counts *c)
{
	const struct unwound_counts *w = &c->walks;

	record_say_truncated(c, o, w->samples);
	record_say_share("end where there is no unwind information:", w->end[WALK_NO_INFO],
	                 w->samples);
	record_say_missing(r);
	for (int end = 0; end < WALK_ENDS; end++)
		if (end != WALK_COMPLETE && end != WALK_TRUNCATED && end != WALK_NO_INFO)
			record_say_share(walk_end_text((enum walk_end)end), w->end[end],
			                 w->samples);
	record_say_share("have guessed frames, behind code without unwind information", w->guessed,
	                 w->samples);
	record_say_share("too long for a record: user address only", c->too_long, w->samples);
}

void record_live_say(const struct record_live *r, const struct record_opts *o)
{
	struct live_counts c;

	if (!r->live || o->quiet)
		return;
	live_count(r->live, &c);
	if (c.walks.samples)
		cmd_print(stderr,
		          "seam record: %" PRIu64
		          " user stacks unwound, %.2f %% to their outermost "
		          "frame\n",
		          c.walks.samples,
		          100.0 * (double)c.walks.end[WALK_COMPLETE] / (double)c.walks.samples);
	if (c.walks.samples)
		record_say_ends(r, o, &c);
	if (c.not_unwound)
		cmd_print(stderr,
		          "seam record: %" PRIu64 " samples not unwound, user address only: the "
		          "recorder could not keep up (--unwind-threads, a lower -F)\n",
		          c.not_unwound);
	if (c.in_exec)
		cmd_print(stderr,
		          "seam record: %" PRIu64 " samples taken inside execve: no user stack\n",
		          c.in_exec);
	if (c.walks.unusable)
		cmd_print(stderr,
		          "seam record: %" PRIu64
		          " samples of 32-bit code not unwound, user address "
		          "only\n",
		          c.walks.unusable);
	if (c.unsound)
		cmd_print(stderr, "seam record: %" PRIu64 " samples could not be read: left out\n",
		          c.unsound);
	if (o->verbose)
		cmd_print(stderr,
		          "seam record: %" PRIu64 " tables made, %" PRIu64
		          " from the cache, %" PRIu64
		          " objects without; %.1f MB; at most %.1f MB waited; copies up to %" PRIu64
		          " bytes\n",
		          c.tables.built, c.tables.from_cache, c.tables.without,
		          (double)c.tables.bytes / 1e6, (double)c.peak_bytes / 1e6, c.longest_copy);
	if (o->verbose)
		cmd_print(stderr,
		          "seam record: processes and their mappings: at most %.1f MB; those that "
		          "ended were forgotten %" PRIu64 " times\n",
		          (double)c.process_bytes / 1e6, c.renewals);
}
