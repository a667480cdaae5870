// SPDX-License-Identifier: MIT
// record_say_bpf.c: see record_say.h. Words and figures of stacks that BPF programs took.
#include <inttypes.h>
#include <stdio.h>

#include "abi/runtime.h"
#include "abi/runtime_end.h"
#include "cli/record/record_say.h"

/* Stacks whose frames of interpreters are not all there, by why. */
static void say_runtimes(const struct record_opts *o, const struct kwalk_totals *t)
{
	const struct kwalk_counts *c = &t->counts;
	const char *who = "interpreters";

	for (unsigned k = 0; k < RUNTIMES; k++)
		if (t->runtimes_met == 1u << k)
			who = runtime_label(k);
	for (uint32_t i = 0; i < KWALK_RUNTIME_ENDS; i++)
		if (runtime_end_lacks((enum runtime_end)i) && c->runtime_ends[i])
			cmd_print(stderr, "  %" PRIu64 " stacks lack frames of %s: %s\n",
			          c->runtime_ends[i], who, runtime_end_text((enum runtime_end)i));
	if (t->runtime_unnamed)
		cmd_print(stderr,
		          "  %" PRIu64 " frames of %s are left out: their names did not come in "
		          "time\n",
		          t->runtime_unnamed, who);
	if (o->verbose && o->rec.no_runtimes != RUNTIMES_ALL)
		cmd_print(stderr,
		          "seam record: %s: %" PRIu64 " whole walks, %" PRIu64 " frames, %" PRIu64
		          " functions; %" PRIu64 " stacks without\n",
		          who, c->runtime_ends[KWALK_RUNTIME_COMPLETE], c->runtime_frames,
		          t->runtime_functions, c->runtime_ends[KWALK_RUNTIME_NONE]);
}

/* Samples whose labels are not all there, by why. */
static void say_context(const struct record_opts *o, const struct kwalk_totals *t)
{
	static const char *const why[] = {
		[KWALK_CONTEXT_FAULT] = "a page was not in memory",
		[KWALK_CONTEXT_LIMIT] = "there are more than are read",
		[KWALK_CONTEXT_UNKNOWN] = "the version of Go, or its build, is not known",
	};
	const uint64_t *ends = t->counts.context_ends;

	for (size_t i = 0; i < sizeof(why) / sizeof(why[0]); i++)
		if (why[i] && ends[i])
			cmd_print(stderr, "  %" PRIu64 " samples lack labels: %s\n", ends[i],
			          why[i]);
	if (t->counts.context_full)
		cmd_print(stderr, "  %" PRIu64 " samples lack labels: the ring was full\n",
		          t->counts.context_full);
	if (t->context_unnamed)
		cmd_print(stderr,
		          "  %" PRIu64 " labels are left out: the process does not say what "
		          "they are called\n",
		          t->context_unnamed);
	if (o->verbose && !o->rec.no_context)
		cmd_print(stderr,
		          "seam record: labels: %" PRIu64 " samples with, %" PRIu64
		          " without, %" PRIu64 " with a record that is not valid\n",
		          ends[KWALK_CONTEXT_WHOLE], ends[KWALK_CONTEXT_NONE],
		          ends[KWALK_CONTEXT_WRITING]);
}

/* Each loss is a line of its own, written only if there is one; totals are written only with -v. */
void record_say_bpf(const struct record_opts *o, const struct bpf_stacks *b)
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
	if (c->user_chain_full + c->no_slot)
		cmd_print(stderr,
		          "  %" PRIu64
		          " deferred stacks lost in the rings of the BPF programs; %" PRIu64
		          " could not be deferred: too many threads\n",
		          c->user_chain_full, c->no_slot);
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
	if (t.waiting)
		cmd_print(stderr,
		          "  %" PRIu64
		          " processes were not looked at before they were sampled, as all of them "
		          "together have too many mappings: their first user stacks end at once\n",
		          t.waiting);
	say_runtimes(o, &t);
	say_context(o, &t);
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
	          "\nseam record: %" PRIu64 " walked at once (%" PRIu64 " faults; %" PRIu64
	          " frames, %" PRIu64 " of them as in the walk before), %" PRIu64
	          " deferred, %" PRIu64 " samples shared one, %" PRIu64 " refused, %" PRIu64
	          " read asleep, %" PRIu64 " late, %" PRIu64 " walked by the recorder\n",
	          c->guessed, c->at_once, c->faults, c->at_once_frames, c->kept_frames, c->asked,
	          c->shared, c->refused, c->remote, t.late, t.unwound);
	if (o->rec.away_ns)
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
