// SPDX-License-Identifier: MIT
/*
 * stat_stitch.c: see stat_stitch.h. Order by rounds and the stream's way of stitching: one pass.
 *
 * Samples are read for their counts only, and none is kept longer than the stitcher needs it.
 */
#include "inspect/stat_stitch.h"
#include "base/shown.h"

#include <errno.h>

#include "abi/record.h"

/* Whether any event from this one on defers its callchains. */
static bool stitch_defers(const struct seam_events *events, size_t from)
{
	for (size_t i = from; i < seam_events_count(events); i++) {
		if (seam_events_at(events, i)->attr.flags & SEAM_ATTR_DEFER_CALLCHAIN)
			return true;
	}
	return false;
}

/* Events may come while a stream is read. Order and stitcher are made when the first event that
 * defers is known: other recordings pay nothing. -ENOMEM. */
static int stitch_events(struct stat_stitch *s, const struct seam_events *events)
{
	size_t before = s->events;
	int r = 0;

	if (before == seam_events_count(events))
		return 0;
	s->events = seam_events_count(events);
	if (!s->order) {
		if (!stitch_defers(events, before))
			return 0;
		r = order_new(&s->order, NULL);
		if (r >= 0)
			r = seam_stitch_new(&s->stitch,
			                    &(struct seam_stitch_opts){
			                            .sz = sizeof(struct seam_stitch_opts) });
	}
	return r < 0 ? r : seam_stitch_events(s->stitch, events);
}

/* Empties the stitcher; what it gives is in its counts. */
static void stitch_take(struct stat_stitch *s)
{
	struct seam_stitched sample = { .sz = sizeof(sample) };

	while (seam_stitch_next(s->stitch, &sample) > 0)
		; /* it is counted */
}

/* Gives the records that are in order by now to the stitcher. -ENOMEM. */
static int stitch_feed(struct stat_stitch *s, const struct seam_events *events)
{
	struct seam_record record;
	struct seam_decoded d;
	int r;

	while ((r = order_pop(s->order, &record, NULL)) > 0) {
		if (record_decode(events, &record, &d, NULL) < 0)
			continue;
		r = seam_stitch_feed(s->stitch, &d, NULL);
		/* The stitcher is full: take what is decided, and offer the record again. */
		if (r == -EAGAIN) {
			stitch_take(s);
			r = seam_stitch_feed(s->stitch, &d, NULL);
		}
		if (r == -ENOMEM)
			return r;
		stitch_take(s);
	}
	return r;
}

/* Takes a record of the input if it matters for stacks. Does nothing before an event that defers
 * callchains is known. -ENOMEM. */
int stat_stitch_record(struct stat_stitch *s, const struct seam_events *events,
                       const struct seam_record *record)
{
	struct seam_decoded d;
	int r = stitch_events(s, events);

	if (r < 0 || !s->order)
		return r;
	switch (record->type) {
	case SEAM_RECORD_SAMPLE:
	case SEAM_RECORD_CALLCHAIN_DEFERRED:
	case SEAM_RECORD_COMM:
	case SEAM_RECORD_FORK:
	case SEAM_RECORD_EXIT:
	case SEAM_RECORD_LOST:
	case SEAM_RECORD_LOST_SAMPLES:
		break;
	case SEAM_RECORD_FINISHED_ROUND:
		r = order_round(s->order);
		return r < 0 ? r : stitch_feed(s, events);
	default:
		return 0;
	}
	if (record_decode(events, record, &d, NULL) < 0)
		return 0;
	r = order_push(s->order, d.id.has & SEAM_SAMPLE_TIME ? d.id.time_ns : ORDER_NO_TIME,
	               record);
	return r < 0 ? r : stitch_feed(s, events);
}

/* -errno. */
int stat_stitch_finish(struct stat_stitch *s, const struct seam_events *events)
{
	int r;

	if (!s->order)
		return 0;
	r = order_finish(s->order);
	if (r >= 0)
		r = stitch_feed(s, events);
	if (r >= 0)
		r = seam_stitch_finish(s->stitch);
	if (r >= 0)
		stitch_take(s);
	return r;
}

/* Writes nothing for a recording without deferred callchains. */
void stat_stitch_text(const struct stat_stitch *s, struct buf *out)
{
	struct seam_stitch_counts c = { .sz = sizeof(c) };

	if (!s->stitch || seam_stitch_counts(s->stitch, &c) < 0)
		return;
	shown_printf(out, "user stacks: %llu samples, %llu of them deferred; %llu answers\n",
	             (unsigned long long)c.samples, (unsigned long long)c.deferred_samples,
	             (unsigned long long)c.deferred_records);
	for (int i = 0; i < SEAM_STITCH_STATES; i++) {
		if (c.state[i])
			shown_printf(out, "  %s: %llu\n",
			             seam_stitch_state_text((enum seam_stitch_state)i),
			             (unsigned long long)c.state[i]);
	}
	if (c.unclaimed_records)
		shown_printf(out, "  answers to no sample: %llu\n",
		             (unsigned long long)c.unclaimed_records);
}

/* How many samples were written twice. */
uint64_t stat_stitch_copies(const struct stat_stitch *s)
{
	struct seam_stitch_counts c = { .sz = sizeof(c) };

	return s->stitch && seam_stitch_counts(s->stitch, &c) >= 0 ? c.duplicate_samples : 0;
}

void stat_stitch_free(struct stat_stitch *s)
{
	order_free(s->order);
	seam_stitch_free(s->stitch);
}
