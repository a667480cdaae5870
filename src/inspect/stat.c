// SPDX-License-Identifier: MIT
/*
 * stat.c: see stat.h: the counting.
 *
 * Nothing is kept from one record to the next but counts, so memory does not grow with the file.
 * Losses have a fixed number of slots of time.
 */
#include "inspect/stat.h"

#include <errno.h>
#include <stdlib.h>

#include "abi/events.h"
#include "abi/record.h"
#include "abi/stack_end.h"
#include "base/array.h"

/* -1: out of memory. */
static int stat_event(struct stat_counts *s, const struct seam_event *event)
{
	if (ARRAY_ROOM_ZEROED(&s->by_event, &s->n_by_event, (size_t)event->index + 1) < 0)
		return -1;
	s->by_event[event->index]++;
	return 0;
}

/* A sample that reads its group counts for each member that has a share in it. -ENOMEM. */
static int stat_members(struct stat_counts *s, const struct seam_decoded *d)
{
	struct member member;
	uint64_t i = 0;
	int r;

	while ((r = members_next(&s->members, seam_reader_events(s->reader), &d->sample, &i,
	                         &member)) > 0) {
		if (stat_event(s, member.event) < 0)
			return -ENOMEM;
	}
	return r;
}

/* Counts what the recorder says of an interpreter's frames in the stack of a record. */
static void stat_runtime(struct stat_counts *s, uint16_t misc)
{
	enum stack_end end = stack_end_of(misc);

	if (end != STACK_END_NOT_SAID && end != STACK_END_DEFERRED)
		s->runtime_ends[runtime_end_of(misc)]++;
}

/* Counts a sample for its event, and how its stack was walked. A sample that does not decode counts
 * for the event that its id says. -ENOMEM. */
static int stat_sample(struct stat_counts *s, const struct seam_record *record)
{
	const struct seam_events *events = seam_reader_events(s->reader);
	const struct seam_event *event = events_of_sample(events, record);
	struct seam_decoded d;

	if (!event) {
		s->no_event++;
		return 0;
	}
	walk_result_count(&s->unwound, &event->attr, record->misc);
	if (!walk_result_said(&event->attr)) /* the bits say something else there */
		stat_runtime(s, record->misc);
	if (event->attr.sample_type & SEAM_SAMPLE_READ &&
	    record_decode(events, record, &d, NULL) >= 0 && members_of(&d.sample))
		return stat_members(s, &d);
	return stat_event(s, event);
}

/* Adds the losses to one of a few slots of time. If the time is after the last slot, all slots
 * become twice as wide. */
static void stat_loss_time(struct stat_losses *l, uint64_t time_ns, uint64_t lost)
{
	uint64_t slot;

	if (!l->started) {
		l->started = true;
		l->first_ns = time_ns;
		l->width_ns = 1000000;
	}
	if (time_ns < l->first_ns)
		time_ns = l->first_ns;
	while ((slot = (time_ns - l->first_ns) / l->width_ns) >= STAT_SLOTS) {
		for (size_t i = 0; i < STAT_SLOTS; i++)
			l->slots[i] =
			        i < STAT_SLOTS / 2 ? l->slots[2 * i] + l->slots[2 * i + 1] : 0;
		l->width_ns *= 2;
	}
	l->slots[slot] += lost;
}

/* Counts each loss once: LOST_SAMPLES of perf are of losses that LOST records count. LOST_TASKS
 * marks what seam's recorder could not follow: those are tasks, and no samples. */
static void stat_loss(struct stat_losses *l, const struct seam_decoded *d)
{
	bool samples = d->record->type == SEAM_RECORD_LOST_SAMPLES;
	uint64_t lost = d->lost.lost, *by_cpu;
	uint16_t misc = d->record->misc;

	if (samples && misc & SEAM_MISC_LOST_TASKS) {
		l->tasks += lost;
		return;
	}
	if (samples && !(misc & SEAM_MISC_LOST_BESIDE)) {
		l->told += lost;
		return;
	}
	l->records++;
	l->lost += lost;
	if (samples && misc & SEAM_MISC_LOST_SKIPPED)
		l->skipped += lost;
	by_cpu = map_slot(&l->by_cpu, d->id.has & SEAM_SAMPLE_CPU ? d->id.cpu : UINT64_MAX, NULL);
	if (by_cpu)
		*by_cpu += lost;
	if (d->id.has & SEAM_SAMPLE_TIME)
		stat_loss_time(l, d->id.time_ns, lost);
}

/* Decodes a record only to see whether that is possible, or for what it lost. */
static void stat_decode(struct stat_counts *s, const struct seam_record *record)
{
	const struct seam_events *events = seam_reader_events(s->reader);
	struct seam_decoded decoded;
	struct seam_error err; /* filled on failure only */
	int rc = record_decode(events, record, &decoded, &err);

	if (rc == -EOPNOTSUPP)
		return; /* a type that is not known is not damage */
	if (rc < 0 && !s->undecodable++)
		s->first_undecodable = err;
	if (rc >= 0 &&
	    (record->type == SEAM_RECORD_LOST || record->type == SEAM_RECORD_LOST_SAMPLES))
		stat_loss(&s->losses, &decoded);
}

/* Counts one record. -ENOMEM; with --strict -EBADMSG for one that cannot be decoded. */
int stat_record(struct stat_counts *s, const struct seam_record *record)
{
	uint64_t *slot;

	s->total++;
	if (record->type < STAT_TYPES) {
		s->types[record->type]++;
	} else {
		slot = map_slot(&s->other_types, record->type, NULL);
		if (!slot)
			return -ENOMEM;
		++*slot;
	}
	if (record->type == SEAM_RECORD_SAMPLE && stat_sample(s, record) < 0)
		return -ENOMEM;
	if (record->type == SEAM_RECORD_CALLCHAIN_DEFERRED)
		stat_runtime(s, record->misc);
	if (s->stacks && stat_stitch_record(&s->stitch, seam_reader_events(s->reader), record) < 0)
		return -ENOMEM;
	if (s->check || record->type == SEAM_RECORD_LOST ||
	    record->type == SEAM_RECORD_LOST_SAMPLES)
		stat_decode(s, record);
	return s->strict && (s->undecodable || s->no_event) ? -EBADMSG : 0;
}

/* The end of the input: what waits in the stitcher is counted. */
int stat_finish(struct stat_counts *s)
{
	return stat_stitch_finish(&s->stitch, seam_reader_events(s->reader));
}

void stat_free(struct stat_counts *s)
{
	free(s->by_event);
	map_free(&s->other_types);
	map_free(&s->losses.by_cpu);
	members_free(&s->members);
	stat_stitch_free(&s->stitch);
}
