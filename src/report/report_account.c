// SPDX-License-Identifier: MIT
// report_account.c: what became of every sample: the lines below a report, and --stats.
#include <stdlib.h>
#include <string.h>

#include "abi/event_unit.h"
#include "base/shown.h"
#include "report/hint.h"
#include "report/walk_result_text.h"
#include "report/report.h"
#include "resolve/resolver.h"

/* Objects that are listed; how many more there are is said. */
#define UNNAMED_SHOWN 5
#define HINT_PERCENT 1.0 /* less than this is not worth an installation */

/* One part of a line of shares, with a comma if it is not the first. 0 writes nothing. */
static void account_part(struct buf *out, bool *first, uint64_t n, uint64_t all, const char *text)
{
	char part[16];

	if (!n)
		return;
	shown_printf(out, "%s%s %s", *first ? "" : ", ",
	             walk_result_share(n, all, part, sizeof(part)), text);
	*first = false;
}

/* "5,406 samples: 99.2 % stitched (132 from an earlier record), 0.5 % kernel only" */
static void account_states(const struct report *r, struct buf *out)
{
	struct profile_account a;
	char number[32];
	bool first = true;
	uint64_t earlier;

	profile_account(r->load.profile, 0, &a);
	shown_printf(out, "%s sample%s", report_number(a.samples, number, sizeof(number)),
	             a.samples == 1 ? "" : "s");
	if (!a.samples) {
		buf_put_text(out, "\n");
		return;
	}
	buf_put_text(out, ": ");
	earlier = a.state[SEAM_STITCH_STITCHED_EARLIER];
	/* Both states are stitched; the brackets say how many came from an earlier record. */
	account_part(out, &first, a.state[SEAM_STITCH_STITCHED] + earlier, a.samples, "stitched");
	if (earlier)
		shown_printf(out, " (%s from an earlier record)",
		             report_number(earlier, number, sizeof(number)));
	for (uint32_t s = 0; s < SEAM_STITCH_STATES; s++)
		if (s != SEAM_STITCH_STITCHED && s != SEAM_STITCH_STITCHED_EARLIER)
			account_part(out, &first, a.state[s], a.samples,
			             profile_state_at(r->load.profile, s)->text);
	buf_put_text(out, "\n");
}

/* Writes what can be done about states without a whole stack. */
static void account_hints(const struct report *r, struct buf *out)
{
	struct profile_account a;

	profile_account(r->load.profile, 0, &a);
	for (uint32_t s = 0; s < profile_n_states(r->load.profile); s++) {
		const struct profile_state *state = profile_state_at(r->load.profile, s);

		if (state->hint && report_percent(a.state[s], a.samples) >= 1)
			shown_printf(out, "  hint: %s: %s\n", state->name, state->hint);
	}
}

/* Where walks ended, those with the most samples first. */
static void account_missing(const struct report *r, uint64_t samples, struct buf *out)
{
	char part[16];

	for (size_t i = 0; i < r->load.n_missing && i < UNNAMED_SHOWN; i++) {
		const struct unwound_missing *m = &r->load.missing[i];

		shown_printf(out, "  %7s  %s: %s\n",
		             walk_result_share(m->samples, samples, part, sizeof(part)),
		             m->object ? m->object->path : SYMBOL_UNKNOWN,
		             *m->reason ? m->reason : "its unwind table leaves that code out");
	}
	if (r->load.n_missing > UNNAMED_SHOWN)
		shown_printf(out, "  and %zu more places\n", r->load.n_missing - UNNAMED_SHOWN);
}

/* "4,211 stacks unwound from copies of 8192 bytes, which were not kept: 90.7 % whole, 9.3 % cut
 * off: the stack copy ended ..." */
static void account_recorded(const struct report *r, struct buf *out)
{
	const struct walk_result_counts *c = &r->load.recorded;

	if (!c->samples)
		return;
	walk_result_text(c, out);
	account_missing(r, c->samples, out);
}

/* "stack copies: 97.4 % whole, 2.6 % cut off: the stack copy ended (up to 9,816 bytes needed)" */
static void account_walks(const struct report *r, struct buf *out)
{
	const struct unwound_counts *u = &r->load.unwound;
	char number[32], part[16];
	bool first = true;

	if (!u->samples && !u->unusable)
		return;
	buf_put_text(out, "stack copies: ");
	for (int e = 0; e < WALK_ENDS; e++) {
		account_part(out, &first, u->end[e], u->samples + u->unusable, walk_end_text(e));
		if (e == WALK_TRUNCATED && u->end[e])
			shown_printf(out, " (the next step needed up to %s bytes)",
			             report_number(u->needed, number, sizeof(number)));
	}
	account_part(out, &first, u->unusable, u->samples + u->unusable,
	             "not unwound: registers of an unknown kind");
	buf_put_text(out, "\n");
	account_missing(r, u->samples, out);
	if (u->guessed)
		shown_printf(out,
		             "%s of them have guessed frames, marked " FRAME_GUESS " (%s frames)\n",
		             walk_result_share(u->guessed, u->samples, part, sizeof(part)),
		             report_number(u->guessed_frames, number, sizeof(number)));
}

/* In front of what is only known of all samples, where it is not all that are shown. */
static void account_of_all(const struct report *r, struct buf *out)
{
	if (r->load.not_taken || r->load.of_others)
		buf_put_text(out, "of all samples, asked for or not: ");
}

/* "12,345 stacks walked while recording: 99.8 % whole, 0.2 % cut off: no unwind information" */
static void account_ends(const struct report *r, struct buf *out)
{
	const struct load *c = &r->load;
	uint64_t all = 0;
	char number[32];
	bool first = true;

	for (uint32_t e = 0; e < STACK_ENDS; e++)
		all += c->ends[e];
	if (!all)
		return;
	account_of_all(r, out);
	shown_printf(out, "%s user stack%s walked while recording: ",
	             report_number(all, number, sizeof(number)), all == 1 ? "" : "s");
	for (uint32_t e = 0; e < STACK_ENDS; e++)
		account_part(out, &first, c->ends[e], all, stack_end_text(e));
	buf_put_text(out, "\n");
	if (c->guessed)
		shown_printf(
		        out,
		        "%s of them have guessed frames, behind code without unwind information\n",
		        report_number(c->guessed, number, sizeof(number)));
}

/* "8,120 stacks with functions of an interpreter: 99.1 % whole, 0.9 % memory could not be read" */
static void account_runtime(const struct report *r, struct buf *out)
{
	const uint64_t *ends = r->load.runtime_ends;
	uint64_t all = 0;
	char number[32];
	bool first = true;

	for (uint32_t e = RUNTIME_END_COMPLETE; e < RUNTIME_ENDS; e++)
		all += ends[e];
	if (!all)
		return;
	account_of_all(r, out);
	shown_printf(out, "%s user stack%s in an interpreter, with its functions: ",
	             report_number(all, number, sizeof(number)), all == 1 ? "" : "s");
	for (uint32_t e = RUNTIME_END_COMPLETE; e < RUNTIME_ENDS; e++)
		account_part(out, &first, ends[e], all, runtime_end_text((enum runtime_end)e));
	buf_put_text(out, "\n");
}

/* A number and its noun, in a line of its own. 0 writes nothing. */
static void account_count(struct buf *out, uint64_t n, const char *one, const char *many)
{
	char number[32];

	if (n)
		shown_printf(out, "%s %s\n", report_number(n, number, sizeof(number)),
		             n == 1 ? one : many);
}

/* What would name the frames of the objects with the most samples. */
static void account_advise(const struct report *r, struct buf hints[UNNAMED_SHOWN])
{
	const struct load *l = &r->load;
	size_t n = 0;

	while (n < l->n_unnamed && n < UNNAMED_SHOWN &&
	       report_percent(l->unnamed[n].samples, l->taken) >= HINT_PERCENT)
		n++;
	hint_unnamed(l->unnamed, n, r->rec ? r->rec->procs : NULL, hints);
}

/* Says why an address is in no mapping. */
static const char *account_unmapped(const struct report *r)
{
	if (!report_by_tables(r))
		return "no mapping of that time holds the address: some code on the way keeps no "
		       "frame pointer";
	for (uint32_t e = 1; e <= profile_n_events(r->load.profile); e++)
		if (event_unit_is_off_cpu(profile_event_name(r->load.profile, e)))
			return "no mapping of that time holds the address; or there is none: "
			       "what is left of time off the CPU at the end has no stack";
	return "no mapping of that time holds the address";
}

/* Writes which objects have frames without a name, why, and what would help; those with the most
 * samples first. */
static void account_unnamed(const struct report *r, struct buf *out)
{
	const struct load *l = &r->load;
	struct buf hints[UNNAMED_SHOWN] = { 0 };
	char part[16];

	if (!l->taken_unnamed)
		return;
	account_advise(r, hints);
	shown_printf(out, "%s of the samples %s without a name:\n",
	             walk_result_share(l->taken_unnamed, l->taken, part, sizeof(part)),
	             l->frames == LOAD_FRAMES_ALL ? "have frames" : "hit code");
	for (size_t i = 0; i < l->n_unnamed && i < UNNAMED_SHOWN; i++) {
		const struct load_unnamed *u = &l->unnamed[i];

		shown_printf(out, "  %7s  ",
		             walk_result_share(u->samples, l->taken, part, sizeof(part)));
		/* A reason that begins with the object's name says it by itself. */
		if (strncmp(u->reason, u->object, strlen(u->object)))
			shown_printf(out, "%s: ", u->object);
		if (*u->reason)
			shown_printf(out, "%s\n", u->reason);
		else if (!strcmp(u->object, SYMBOL_UNKNOWN))
			shown_printf(out, "%s\n", account_unmapped(r));
		else
			shown_printf(out, "%s\n", symbol_state_text(u->state));
		if (hints[i].n)
			shown_printf(out, "           %s\n", buf_text(&hints[i]));
		buf_free(&hints[i]);
	}
	if (l->n_unnamed > UNNAMED_SHOWN)
		shown_printf(out, "  and in %zu more objects\n", l->n_unnamed - UNNAMED_SHOWN);
}

/* Writes which missing files (split DWARF) would tell inlined calls and lines. */
static void account_partial(const struct report *r, struct buf *out)
{
	const struct load *l = &r->load;
	char part[16];

	for (size_t i = 0; i < l->n_partial && i < UNNAMED_SHOWN; i++) {
		const struct load_partial *p = &l->partial[i];

		shown_printf(out,
		             "%s of the samples go through code of %s whose inlined calls are "
		             "not known: %s was not found\n",
		             walk_result_share(p->samples, l->taken, part, sizeof(part)), p->object,
		             p->file);
		if (report_percent(p->samples, l->taken) >= HINT_PERCENT)
			shown_printf(out,
			             "  hint: the .dwo files are looked for beside the program and "
			             "where it was compiled, and %s.dwp (dwp -e) beside it; seam "
			             "archive takes them along\n",
			             p->object);
	}
	if (l->n_partial > UNNAMED_SHOWN)
		shown_printf(out, "and of %zu more objects\n", l->n_partial - UNNAMED_SHOWN);
}

/* In a store agents also count what they, or it, had no room for. */
static void account_lost(const struct report *r, struct buf *out, uint64_t lost)
{
	if (r->load.of_others)
		account_count(out, lost, "record was lost: there was no room for it",
		              "records were lost: there was no room for them");
	else
		account_count(out, lost,
		              "record was lost: a ring was full (a larger -m gives it more room)",
		              "records were lost: a ring was full (a larger -m gives it more "
		              "room)");
}

/* A line is left out where it has nothing to count. */
void report_account(const struct report *r, struct buf *out)
{
	const struct profile_counts *c = profile_counts_of(r->load.profile);
	const uint64_t lost = profile_lost(c);

	account_states(r, out);
	account_hints(r, out);
	account_ends(r, out);
	account_runtime(r, out);
	account_walks(r, out);
	account_recorded(r, out);
	account_count(out, r->load.not_taken, "sample was not asked for",
	              "samples were not asked for");
	account_lost(r, out, lost > c->skipped_samples ? lost - c->skipped_samples : 0);
	account_count(out, c->skipped_samples,
	              "sample was skipped by the kernel: a BPF program was running on its CPU",
	              "samples were skipped by the kernel: a BPF program was running on their CPU");
	account_count(out, c->lost_tasks, "task or more was not followed: there was no room for it",
	              "tasks or more were not followed: there was no room for them");
	account_count(out, c->undecoded, "sample could not be decoded",
	              "samples could not be decoded");
	if (r->load.frames == LOAD_FRAMES_ALL) {
		uint32_t *tops = r->max_stack || r->load.flat ? NULL : report_tops(r->load.profile);

		report_ends(r, tops, out);
		report_runtimes(r, tops, out);
		report_python(r, out);
		free(tops);
	}
	account_unnamed(r, out);
	account_partial(r, out);
}

/* One line in perf's columns. */
static void report_stats_line(struct buf *out, const char *name, uint64_t n, uint64_t all)
{
	shown_printf(out, "%20s events: %10llu", name, (unsigned long long)n);
	if (all)
		shown_printf(out, "  (%4.1f%%)", report_percent(n, all));
	buf_put_text(out, "\n");
}

/* Has the form of perf report --stats: records by type, samples by event, then what became of the
 * stacks. 0. */
int report_stats(const struct report *r, struct buf *out)
{
	const struct recording_counts *c = &r->rec->counts;
	size_t n = seam_events_count(r->rec->events);
	struct profile_account a;

	buf_put_text(out, "\nAggregated stats:\n");
	report_stats_line(out, "TOTAL", c->records, 0);
	for (uint32_t type = 0; type < RECORDING_TYPES; type++) {
		const char *name = seam_record_name(type);

		if (c->type[type])
			report_stats_line(out, name ? name : "unknown", c->type[type], c->records);
	}
	if (c->other)
		report_stats_line(out, "other", c->other, c->records);
	for (size_t i = 0; i < n && i < sizeof(c->event_samples) / sizeof(c->event_samples[0]);
	     i++) {
		if (!c->event_samples[i])
			continue;
		shown_printf(out, "%s stats:\n", seam_events_at(r->rec->events, i)->name);
		report_stats_line(out, "SAMPLE", c->event_samples[i], 0);
	}
	profile_account(r->load.profile, 0, &a);
	buf_put_text(out, "stack stats:\n");
	for (uint32_t s = 0; s < SEAM_STITCH_STATES; s++)
		if (a.state[s])
			shown_printf(out, "%20s samples: %9llu  (%4.1f%%)\n",
			             profile_state_at(r->load.profile, s)->name,
			             (unsigned long long)a.state[s],
			             report_percent(a.state[s], a.samples));
	report_account(r, out);
	return 0;
}
