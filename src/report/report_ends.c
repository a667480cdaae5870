// SPDX-License-Identifier: MIT
// report_ends.c: where user stacks end although nothing begins there: the mark of code that keeps
// no frame pointer.
//
// Invariant: only what is sure is counted: an outermost frame in no mapping at all, or in a named
// function that is not one of those. A frame without a name in a known object could be either.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/load_cut.h"
#include "base/shown.h"
#include "report/walk_result_text.h"
#include "report/report.h"
#include "resolve/beginning.h"
#include "resolve/resolver.h"
#include "profile/nameless.h"
#include "profile/segments.h"

#define ENDS_SHOWN 5

/* Whether nothing begins in an outermost frame, for sure. */
static bool ends_early(const struct profile *p, const struct profile_frame *f)
{
	const char *name;

	if (f->kind == PROFILE_UNKNOWN)
		return true;
	if (f->kind != PROFILE_USER || !f->symbol)
		return false;
	name = profile_text(p, f->symbol);
	return !nameless_is(name, NULL) && !beginning_is(name);
}

/* The most samples first; entries without any stand behind. */
static int ends_order(const void *pa, const void *pb)
{
	const struct report_end *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	/* Not by the number of the object, because that depends on which thread met one first. */
	return a->samples ? strcmp(a->path, b->path) : 0;
}

/* The outermost nodes of the stacks that end in each segment. What says why a stack ended is
 * outermost, and its only frame; below it the stack begins. */
static void ends_of_segments(const struct profile *p, const struct segments *s, uint32_t *top)
{
	for (uint32_t i = 1; i <= s->n; i++) {
		const uint32_t above = s->above[i];

		top[i] = top[above];
		if (top[above] != s->last[above] || (above && !load_cut_ended(p, s->last[above])))
			continue;
		top[i] = segments_first(s, i);
		while (top[i] < s->last[i] && load_cut_ended(p, top[i]))
			top[i]++;
	}
}

/* Of a stack without frames it is the root. */
uint32_t *report_tops(const struct profile *p)
{
	uint32_t *top = calloc(profile_n_rows(p) + 1, sizeof(*top)), *of = NULL;
	const struct segments *s = top ? segments_of(p) : NULL;

	if (s)
		of = calloc((size_t)s->n + 1, sizeof(*of));
	if (of)
		ends_of_segments(p, s, of);
	for (size_t i = 0; of && i < profile_n_rows(p); i++)
		top[i] = of[segments_at(s, profile_row_at(p, i)->key.node)];
	if (!of) {
		free(top);
		top = NULL;
	}
	free(of);
	return top;
}

/* What walked the stack followed frame pointers: others say themselves why they ended. */
static bool ends_by_frame_pointer(uint32_t state)
{
	return state == SEAM_STITCH_IMMEDIATE || state == SEAM_STITCH_STITCHED ||
	       state == SEAM_STITCH_STITCHED_EARLIER;
}

/* Counts samples of one state by the object of their outermost frame where nothing begins there, or
 * as cut at the kernel's limit. */
static void ends_add(struct report_ends *e, const struct profile *p, const struct flat_top *top)
{
	const struct profile_frame *f = profile_frame_at(p, top->frame);

	if (!ends_by_frame_pointer(top->state))
		return;
	if (f->kind == PROFILE_MISSING)
		e->deep += top->samples;
	if (!ends_early(p, f))
		return;
	e->samples += top->samples;
	e->by_object[f->object].object = f->object;
	e->by_object[f->object].path =
	        f->object ? profile_text(p, profile_object_at(p, f->object)->path) : "";
	e->by_object[f->object].samples += top->samples;
}

/* The same of all samples. top: report_tops. */
static void ends_count(struct report_ends *e, const struct profile *p, const uint32_t *top)
{
	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);

		if (row->key.node)
			ends_add(e, p,
			         &(struct flat_top){ row->key.state,
			                             profile_node_at(p, top[i]).frame,
			                             row->samples });
	}
}

/* The same of samples whose stacks were not made. */
static void ends_count_flat(struct report_ends *e, const struct report *r)
{
	for (size_t i = 0; i < r->load.flat->n_tops; i++)
		ends_add(e, r->load.profile, &r->load.flat->tops[i]);
}

/* tops: report_tops, or NULL. ret->by_object is sorted by samples, and the caller frees it. With
 * --max-stack, or where samples say themselves how they ended, nothing is counted. -ENOMEM. */
int report_ends_find(const struct report *r, const uint32_t *tops, struct report_ends *ret)
{
	const struct profile *p = r->load.profile;
	size_t objects = profile_n_objects(p) + 1;
	/* With --max-stack the outermost frames were left out on purpose; what was unwound while
	 * recording says itself how walks ended. */
	bool count = !r->max_stack && !r->load.recorded.samples;
	const bool flat = r->load.flat;
	uint32_t *own = count && !tops && !flat ? report_tops(p) : NULL;
	const uint32_t *top = own ? own : tops;
	struct report_ends e = { .by_object = calloc(objects, sizeof(*e.by_object)) };

	if (count && (top || flat) && e.by_object) {
		if (flat)
			ends_count_flat(&e, r);
		else
			ends_count(&e, p, top);
		qsort(e.by_object, objects, sizeof(*e.by_object), ends_order);
		while (e.n < objects && e.by_object[e.n].samples)
			e.n++;
	}
	if ((count && !top && !flat) || !e.by_object) {
		free(e.by_object);
		e = (struct report_ends){ .n = 0 };
	}
	free(own);
	*ret = e;
	return e.by_object ? 0 : -ENOMEM;
}

/* Whether stacks were walked by tables while recording: their ends are known. */
bool report_by_tables(const struct report *r)
{
	for (size_t i = 0; i < STACK_ENDS; i++)
		if (r->load.ends[i])
			return true;
	return false;
}

/* The advice with which walks would get further. */
static const char *ends_hint(const struct report *r)
{
	if (report_by_tables(r))
		return "  hint: no unwind information is of that code; where it keeps frame "
		       "pointers, as V8's builtins in node do, --call-graph fp goes on\n";
	return "  hint: code there, or what it called, keeps no frame pointer: build it with "
	       "-fno-omit-frame-pointer, or record with --call-graph dwarf\n";
}

/* Without memory the report is not whole, and says so. */
void report_ends(const struct report *r, const uint32_t *tops, struct buf *out)
{
	const struct profile *p = r->load.profile;
	struct profile_account a;
	struct report_ends e;
	char part[16];

	if (report_ends_find(r, tops, &e) < 0) {
		out->failed = true;
		return;
	}
	profile_account(p, 0, &a);
	if (r->load.ended_at_data)
		shown_printf(
		        out,
		        "%s of the samples have user stacks that were followed into data: they "
		        "end in front of a word that no executable memory holds\n",
		        walk_result_share(r->load.ended_at_data, a.samples, part, sizeof(part)));
	if (r->load.callers_taken)
		shown_printf(out,
		             "%s of the samples have [uprobes] in a caller's place: a uretprobe "
		             "watches a function's return, and these stacks do not tell to where "
		             "that is\n  hint: --call-graph dwarf,defer asks the kernel's list\n",
		             walk_result_share(r->load.callers_taken, a.samples, part,
		                               sizeof(part)));
	if (e.samples)
		shown_printf(out,
		             "%s of the samples have user stacks that end where no program or "
		             "thread begins, in:\n",
		             walk_result_share(e.samples, a.samples, part, sizeof(part)));
	for (size_t i = 0; i < e.n && i < ENDS_SHOWN; i++)
		shown_printf(out, "  %7s  %s\n",
		             walk_result_share(e.by_object[i].samples, a.samples, part,
		                               sizeof(part)),
		             e.by_object[i].object ? e.by_object[i].path
		             : report_by_tables(r)
		                     ? "no mapping of that time"
		                     : "no mapping: the chain was followed into data");
	if (e.n > ENDS_SHOWN)
		shown_printf(out, "  and in %zu more objects\n", e.n - ENDS_SHOWN);
	if (e.samples || r->load.ended_at_data)
		buf_put_text(out, ends_hint(r));
	if (e.deep)
		shown_printf(
		        out,
		        "%s of the samples have stacks cut at the kernel's limit of frames\n"
		        "  hint: sysctl kernel.perf_event_max_stack, and --call-graph fp,DEPTH\n",
		        walk_result_share(e.deep, a.samples, part, sizeof(part)));
	free(e.by_object);
}
