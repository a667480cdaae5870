// SPDX-License-Identifier: MIT
// batch.c: see batch.h. Knows in which order memory is asked for; what is in it is others'
// business.
#include "samples/batch.h"

#include <errno.h>

#include "abi/redecode.h"

#define LINE 64u
#define HEAD 512u /* bytes: of a sample with registers, up to its copy of the stack */

static void batch_ask(const struct seam_record *record)
{
	unsigned head = record->size < HEAD ? record->size : HEAD;

	for (unsigned at = 0; at < head; at += LINE)
		__builtin_prefetch(record->bytes + at);
	__builtin_prefetch(record->bytes + record->size - 1);
}

/* The addresses of a user part that stands in another record: who takes the sample reads them
 * all. */
static void batch_ask_user(const struct batch_item *item)
{
	const struct seam_u64s *user = &item->sample.user;
	size_t n = user->n * 8 < HEAD ? (size_t)user->n * 8 : HEAD;

	if (item->sample.deferred_time_ns)
		for (size_t at = 0; at < n; at += LINE)
			__builtin_prefetch(user->bytes + at);
}

/* 1: to be given; 0: not; -ENOMEM. */
static int batch_decode(struct batch *b, struct batch_item *item)
{
	const struct recording *rec = b->rec;
	int r = redecode_decode(rec->events, &item->record, SEAM_RECORD_SAMPLE, &item->again,
	                        &item->decoded, NULL);

	item->walk = NULL;
	item->comm = NULL;
	if (r < 0) /* was counted in the first pass */
		return r == -ENOMEM ? r : 0;
	item->time_ns = item->decoded.id.has & SEAM_SAMPLE_TIME ? item->decoded.id.time_ns : 0;
	item->proc_ns = proc_time(&item->decoded);
	if (item->record.type == SEAM_RECORD_SAMPLE) {
		item->sample.sz = sizeof(item->sample);
		r = seam_stitch_resolve(rec->stitch, &item->decoded, b->counts, &item->sample);
		if (r <= 0)
			return r;
	}
	if (b->take && !b->take(b->ctx, item))
		return 0;
	if (item->record.type == SEAM_RECORD_SAMPLE) {
		recording_recall_spaces(rec, &b->recall, &item->sample, item->proc_ns,
		                        &item->user_space, &item->kernel_space);
		batch_ask_user(item);
		if (b->unwound)
			unwound_ask(b->unwound, &item->sample);
	}
	return 1;
}

static int batch_give(struct batch *b, struct batch_item *item)
{
	int r = 0;

	item->called =
	        item->record.type == SEAM_RECORD_SAMPLE && called_sample(&item->sample, b->words);
	if (b->unwound && item->record.type == SEAM_RECORD_SAMPLE)
		r = unwound_sample(b->unwound, item->user_space, &item->sample);
	if (r < 0)
		return r;
	if (r > 0)
		item->walk = unwound_last(b->unwound);
	return b->each(b->ctx, item);
}

int batch_run(struct batch *b)
{
	size_t n = b->n;
	int r = 0;

	b->n = 0;
	for (size_t i = 0; i < n; i++) {
		r = batch_decode(b, &b->item[i]);
		if (r < 0)
			return r;
		b->item[i].wanted = r > 0;
	}
	for (size_t i = 0; i < n; i++) {
		r = b->item[i].wanted ? batch_give(b, &b->item[i]) : 0;
		if (r)
			return r;
	}
	return 0;
}

int batch_add(struct batch *b, const struct seam_record *record)
{
	b->item[b->n++].record = *record;
	batch_ask(record);
	return b->n == BATCH_MAX ? batch_run(b) : 0;
}
