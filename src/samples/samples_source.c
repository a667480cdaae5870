// SPDX-License-Identifier: MIT
/*
 * samples_source.c: see samples_source.h. Equal times come in the order of the file.
 *
 * Two sources are merged: the index by time (index_order.c), and the records beside samples that
 * are asked for, or all if their bytes do not last (perfdata/order.c).
 */
#include "samples/samples_source.h"

#include <errno.h>

#include "abi/events.h"
#include "abi/record.h"
#include "samples/samples_reader.h"

/* Samples and records between two reports of how far it is. */
#define PROGRESS_EVERY 65536u

/* Whether records of this type were asked for; samples are only if their bytes do not last. */
static bool samples_source_wants(const struct samples_source *s, uint32_t type)
{
	unsigned beside = s->opts->beside;

	switch (type) {
	case SEAM_RECORD_SAMPLE:
		return s->records;
	case SEAM_RECORD_CALLCHAIN_DEFERRED:
		return beside & SAMPLES_BESIDE_DEFERRED;
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
		return beside & (SAMPLES_BESIDE_MMAPS | SAMPLES_BESIDE_ALL);
	case SEAM_RECORD_COMM:
	case SEAM_RECORD_FORK:
	case SEAM_RECORD_EXIT:
		return beside & (SAMPLES_BESIDE_TASKS | SAMPLES_BESIDE_ALL);
	case SEAM_RECORD_LOST:
	case SEAM_RECORD_LOST_SAMPLES:
		return beside & (SAMPLES_BESIDE_LOSSES | SAMPLES_BESIDE_ALL);
	default:
		return beside & SAMPLES_BESIDE_ALL;
	}
}

/* For recording_each: puts a record into the order. -ENOMEM. */
static int samples_source_push(void *ctx, const struct seam_record *record)
{
	struct samples_source *s = ctx;
	struct seam_decoded d;
	int r;

	if (!samples_source_wants(s, record->type))
		return 0;
	if (record->type == SEAM_RECORD_SAMPLE) { /* one that has no entry is left out later */
		s->all++;
		return order_push(s->order, events_sample_time(s->rec->events, record), record);
	}
	r = record_decode(s->rec->events, record, &d, NULL);
	if (r < 0) /* was counted in the first pass */
		return r == -ENOMEM ? r : 0;
	s->all++;
	/* A record without a time comes first. */
	return order_push(s->order, d.id.has & SEAM_SAMPLE_TIME ? d.id.time_ns : 0, record);
}

/* Moves on to the next entry. */
static int samples_source_entry(struct samples_source *s)
{
	int r = index_order_next(&s->entries, &s->entry);

	if (r <= 0)
		s->entry = NULL;
	return r;
}

/* Reads all records once more if any of them are needed. -errno. */
int samples_source_start(struct samples_source *s, struct recording *rec,
                         const struct samples_opts *opts, struct seam_error *err)
{
	int r = 0;

	*s = (struct samples_source){ .rec = rec, .opts = opts };
	/* Where the bytes of records do not last, samples come with their records again, in place
	 * of their entries. */
	s->records = !rec->stable && samples_reader_needs_bytes(rec, opts);
	if (!s->records) {
		r = index_order_start(&s->entries, rec->index);
		s->all = sample_index_count(rec->index);
		if (r >= 0)
			r = samples_source_entry(s);
	}
	if (r < 0 || (!s->records && !opts->beside))
		return r;
	r = order_new(&s->order, &(struct order_opts){ .sort = true });
	if (r >= 0)
		r = recording_each(rec, samples_source_push, s, err);
	return r < 0 ? r : order_finish(s->order);
}

/* Tells now and then how far it is. */
static void samples_source_progress(struct samples_source *s)
{
	const struct progress *progress = &s->opts->progress;

	if (++s->given % PROGRESS_EVERY)
		return;
	sample_index_rest(s->rec->index, SIZE_MAX, SIZE_MAX);
	stitch_rest(s->rec->stitch);
	if (progress->report)
		progress->report(progress->ctx, "writing", s->given, s->all);
}

/* Whether the next record comes before the next entry. */
static bool samples_source_record_first(const struct samples_source *s)
{
	if (!s->has_record || !s->entry)
		return s->has_record;
	return s->record_ns < s->entry->time_ns ||
	       (s->record_ns == s->entry->time_ns && s->record.index < s->entry->index);
}

/* Takes what is earlier: the next record or the next entry. A sample's record without an entry is
 * passed over. */
int samples_source_next(struct samples_source *s, struct samples_next *ret)
{
	int r = 1;

	do {
		if (!s->has_record && s->order)
			r = order_pop(s->order, &s->record, &s->record_ns);
		if (r < 0)
			return r;
		s->has_record |= s->order && r;
		if (!s->has_record && !s->entry)
			return 0;
		samples_source_progress(s);
		ret->has_record = samples_source_record_first(s);
		if (!ret->has_record) {
			ret->entry = s->entry;
			r = samples_source_entry(s);
			return r < 0 ? r : 1;
		}
		s->has_record = false;
		ret->record = s->record;
		ret->entry = NULL;
		if (s->record.type == SEAM_RECORD_SAMPLE)
			ret->entry = sample_index_find(s->rec->index, s->record.index);
	} while (!ret->entry && ret->record.type == SEAM_RECORD_SAMPLE);
	return 1;
}

void samples_source_free(struct samples_source *s)
{
	order_free(s->order);
	index_order_free(&s->entries);
}
