// SPDX-License-Identifier: MIT
/*
 * live_batch.c: see live_batch.h. Items borrow their bytes from their batch, which lives until the
 * last of them was processed.
 *
 * Order: rings are read one after the other, so that records of a round overlap in time with those
 * of the next. When round n has ended, no later record is older than the newest of round n - 1
 * (session.h): this time is the horizon. Items up to it are sorted and given; younger ones wait in
 * their batch.
 */
#include "recorder/live_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "abi/record.h"
#include "abi/record_at.h"

void live_batch_free(struct live_batch *batch)
{
	if (!batch)
		return;
	buf_free(&batch->bytes);
	buf_free(&batch->stripped);
	free(batch->items);
	free(batch);
}

/* What is to be done with a record: walk it, learn from it, or pass it on. */
static enum live_kind batch_kind(const struct seam_record *record, const struct seam_decoded *d)
{
	switch (record->type) {
	case SEAM_RECORD_SAMPLE:
		return d->event->attr.sample_type & (SEAM_SAMPLE_REGS_USER | SEAM_SAMPLE_STACK_USER)
		               ? LIVE_WALK
		               : LIVE_PASS;
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
	case SEAM_RECORD_COMM:
	case SEAM_RECORD_FORK:
	case SEAM_RECORD_EXIT:
		return LIVE_LEARN;
	default:
		return LIVE_PASS;
	}
}

/* A record without a time keeps its place behind the one before it. Records of type 68
 * (FINISHED_ROUND) are left out and made anew. */
static bool batch_item(struct live_order *order, const struct seam_events *events,
                       const struct seam_record *record, bool stripped, uint64_t *unsound,
                       struct live_item *ret)
{
	struct seam_decoded d;

	*ret = (struct live_item){ .time = order->newest,
		                   .bytes = record->bytes,
		                   .size = record->size };
	if (record->type == SEAM_RECORD_FINISHED_ROUND)
		return false;
	/* A sample that cannot be decoded would be no sample of a reader's either: it is counted
	 * and left out. */
	if (record_decode(events, record, &d, NULL) < 0) {
		*unsound += record->type == SEAM_RECORD_SAMPLE;
		return record->type != SEAM_RECORD_SAMPLE;
	}
	if (d.id.has & SEAM_SAMPLE_TIME)
		ret->time = d.id.time_ns;
	ret->kind = (uint8_t)(stripped ? LIVE_STRIPPED : batch_kind(record, &d));
	return true;
}

/* Finds the records of a batch and what is to be done with each. Sets the horizon: records up to it
 * are complete, because a round was finished since. -ENOMEM. */
static int batch_index(struct live_order *order, struct live_batch *b, const struct seam_events *in,
                       const struct seam_events *out, uint64_t *unsound)
{
	const unsigned char *p = b->bytes.bytes;
	size_t left = b->bytes.n, stripped = 0, capacity = 0;
	uint64_t newest = order->newest, next = UINT64_MAX;
	struct seam_record record;

	for (; record_at(p, left, &record); p += record.size, left -= record.size) {
		bool is_stripped;

		/* b->stripped has the offsets of the samples that lost their copies, in order. */
		if (next == UINT64_MAX && stripped < b->stripped.n)
			memcpy(&next, b->stripped.bytes + stripped, 8);
		is_stripped = next == b->bytes.n - left;
		if (is_stripped) {
			stripped += 8;
			next = UINT64_MAX;
		}
		if (ARRAY_ROOM(&b->items, &capacity, b->n + 1) < 0)
			return -ENOMEM;
		if (!batch_item(order, is_stripped ? out : in, &record, is_stripped, unsound,
		                &b->items[b->n]))
			continue;
		b->items[b->n].sequence = order->sequence++;
		if (b->items[b->n].time > newest)
			newest = b->items[b->n].time;
		b->n++;
	}
	/* No later record is older than the newest one of the round before this one. */
	order->horizon = b->last ? UINT64_MAX : order->newest;
	order->newest = newest;
	return 0;
}

/* By time, and within one time by the order of arrival. */
static int live_order_compare(const void *a, const void *b)
{
	const struct live_item *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* Moves a batch's items that are not younger than the horizon to ready. */
static int live_order_gather(struct live_order *order, struct live_batch *b)
{
	size_t kept = 0;

	if (ARRAY_ROOM(&order->ready, &order->capacity, order->n + b->n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < b->n; i++) {
		if (b->items[i].time <= order->horizon)
			order->ready[order->n++] = b->items[i];
		else
			b->items[kept++] = b->items[i];
	}
	b->n = kept;
	return 0;
}

/* Takes over the batch. After it order->ready has order->n items in order of time. */
int live_order_take(struct live_order *order, struct live_batch *batch,
                    const struct seam_events *in, const struct seam_events *out, uint64_t *unsound)
{
	int r;

	if (!order->first)
		order->end = &order->first;
	*order->end = batch;
	order->end = &batch->next;
	order->n = 0;
	r = batch_index(order, batch, in, out, unsound);
	for (struct live_batch *b = order->first; b && r >= 0; b = b->next)
		r = live_order_gather(order, b);
	if (order->n > 1)
		qsort(order->ready, order->n, sizeof(*order->ready), live_order_compare);
	return r;
}

/* The items of the last round are done with. Frees the batches of which nothing is left, and says
 * how many bytes they held. */
size_t live_order_release(struct live_order *order)
{
	struct live_batch **at = &order->first, *b;
	size_t bytes = 0;

	order->n = 0;
	while ((b = *at)) {
		if (b->n) {
			at = &b->next;
			continue;
		}
		*at = b->next;
		bytes += b->bytes.n;
		live_batch_free(b);
	}
	order->end = at;
	return bytes;
}

void live_order_free(struct live_order *order)
{
	while (order->first) {
		struct live_batch *next = order->first->next;

		live_batch_free(order->first);
		order->first = next;
	}
	free(order->ready);
}
