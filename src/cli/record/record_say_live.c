// SPDX-License-Identifier: MIT
// record_say_live.c: see record_say.h. Words and figures of stack copies that were unwound while
// recording. Invariant: samples whose user stack is not whole are always said, unless -q asked for
// silence.
#include <inttypes.h>
#include <stdio.h>

#include "cli/record/record_say.h"
#include "runtimes/runtime_flags.h"

#define OBJECTS_SAID 5u
#define SHARE_LEAST 5 /* percent of the samples */

/* One line with its share. 0 writes nothing. */
static void say_share(const char *what, uint64_t n, uint64_t of)
{
	if (n)
		cmd_print(stderr, "  %" PRIu64 " (%.2f %%) %s\n", n, 100.0 * (double)n / (double)of,
		          what);
}

/* Where walks ended without information, the most samples first. */
static void say_missing(struct live *live)
{
	size_t n;
	const struct unwound_missing *m = live_missing(live, &n);

	for (size_t i = 0; i < n && i < OBJECTS_SAID; i++)
		cmd_print(stderr, "    %" PRIu64 " in %s%s%s\n", m[i].samples,
		          m[i].object ? m[i].object->path : "no mapping",
		          m[i].reason[0] ? ": " : "", m[i].reason);
	if (n > OBJECTS_SAID)
		cmd_print(stderr, "    and in %zu more places\n", n - OBJECTS_SAID);
}

/* A truncated walk says only how far it got. A larger copy is worth trying unless it is the largest
 * already. */
static void say_truncated(const struct live_counts *c, const struct record_opts *o, uint64_t walked)
{
	char text[160];
	unsigned size =
	        o->rec.session.stack_size ? o->rec.session.stack_size : SESSION_STACK_SIZE_DEFAULT;
	unsigned larger = size < SESSION_STACK_SIZE_MAX / 2 ? size * 2 : SESSION_STACK_SIZE_MAX;

	snprintf(text, sizeof(text), "end with the stack copy of %u bytes%s%.0u%s", size,
	         larger > size ? "; try --call-graph dwarf," : "", larger > size ? larger : 0,
	         larger > size ? "" : ", the largest there is");
	say_share(text, c->walks.end[WALK_TRUNCATED] - c->unreadable, walked);
	say_share("end where the kernel could not read the stack", c->unreadable, walked);
}

/* Why walks ended, other than at the outermost frame. */
static void say_ends(struct live *live, const struct record_opts *o, const struct live_counts *c)
{
	const struct unwound_counts *w = &c->walks;

	say_truncated(c, o, w->samples);
	say_share("end where there is no unwind information:", w->end[WALK_NO_INFO], w->samples);
	say_missing(live);
	for (int end = 0; end < WALK_ENDS; end++)
		if (end != WALK_COMPLETE && end != WALK_TRUNCATED && end != WALK_NO_INFO)
			say_share(walk_end_text((enum walk_end)end), w->end[end], w->samples);
	say_share("have guessed frames, behind code without unwind information", w->guessed,
	          w->samples);
	say_share("too long for a record: user address only", c->too_long, w->samples);
}

/* Each kind of loss is a line of its own; tables and memory are written only with -v. */
void record_say_live(const struct record_opts *o, struct live *live)
{
	struct live_counts c;

	if (!live || o->quiet)
		return;
	live_count(live, &c);
	if (c.walks.samples)
		cmd_print(stderr,
		          "seam record: %" PRIu64
		          " user stacks unwound, %.2f %% to their outermost "
		          "frame\n",
		          c.walks.samples,
		          100.0 * (double)c.walks.end[WALK_COMPLETE] / (double)c.walks.samples);
	if (c.walks.samples)
		say_ends(live, o, &c);
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

/* Fewer than SHARE_LEAST percent say nothing: stubs without frame pointers are in every runtime. */
void record_say_runtimes(const struct runtime_ends *r)
{
	for (size_t i = 0; r->ended && i < runtime_flags_count(); i++) {
		const struct runtime_flags *flags = runtime_flags_at(i);

		if (r->ended[i] * 100 < r->samples * SHARE_LEAST)
			continue;
		cmd_print(stderr,
		          "seam record: %" PRIu64 " (%.1f %%) of the samples have user stacks that "
		          "end in code that %s made at run time\n  started with %s, its code keeps "
		          "frame pointers, and stacks go on\n",
		          r->ended[i], 100.0 * (double)r->ended[i] / (double)r->samples,
		          flags->name, flags->stacks);
	}
}
