// SPDX-License-Identifier: MIT
/*
 * queue.c: see queue.h.
 *
 * Blocks form a list from head (delivered from) to tail (filled). Holds refer to each other by
 * address, so that a block never moves.
 *
 * Invariant: first is the oldest hold and lies at the beginning of what is in use in head; front is
 * behind all holds that are known to be decided.
 */
#include "stitch/queue.h"

#include <errno.h>
#include <stdlib.h>

/* Blocks have this size, or that of the one sample that is larger. */
#define QUEUE_BLOCK (256u << 10)

struct queue_block {
	struct queue_block *next;
	size_t size, used; /* bytes behind this header */
	uint64_t bytes[];
};

void queue_free(struct queue *q)
{
	while (q->head) {
		struct queue_block *next = q->head->next;

		free(q->head);
		q->head = next;
	}
	free(q->spare);
	*q = (struct queue){ 0 };
}

/* Returns n bytes at the end of the queue, a multiple of 8; NULL: out of memory. One emptied block
 * is kept for reuse, so that a steady stream allocates nothing. */
static void *queue_room(struct queue *q, size_t n)
{
	struct queue_block *b = q->tail;

	if (!b || b->size - b->used < n) {
		size_t size = n > QUEUE_BLOCK ? n : QUEUE_BLOCK;

		if (q->spare && n <= QUEUE_BLOCK) {
			b = q->spare;
			q->spare = NULL;
		} else {
			b = malloc(sizeof(*b) + size);
			if (!b)
				return NULL;
			b->size = size;
			q->block_bytes += sizeof(*b) + size;
		}
		b->next = NULL;
		b->used = 0;
		if (q->tail)
			q->tail->next = b;
		else
			q->head = b;
		q->tail = b;
	}
	b->used += n;
	return (unsigned char *)b->bytes + (b->used - n);
}

/* Points one part of the sample into the copy; false when it lies outside the record. */
static bool queue_move(const unsigned char **part, uint64_t n, const struct seam_record *record,
                       const unsigned char *copy)
{
	uintptr_t at = (uintptr_t)*part, start = (uintptr_t)record->bytes;

	if (!n) {
		*part = NULL;
		return true;
	}
	if (!*part || at < start || at - start > record->size || n > record->size - (at - start))
		return false;
	*part = copy + (at - start);
	return true;
}

/* 8 bytes a word. The check on n comes first: the product must not wrap. */
static bool queue_words(struct seam_u64s *a, const struct seam_record *record,
                        const unsigned char *copy)
{
	return a->n <= record->size / 8 && queue_move(&a->bytes, a->n * 8, record, copy);
}

/* All arrays that a decoded sample points to. A new one in struct seam_sample is added here, or it
 * points into a record that is gone. */
static bool queue_sample(struct seam_sample *s, const struct seam_record *r,
                         const unsigned char *copy)
{
	return queue_words(&s->read.values, r, copy) && queue_words(&s->callchain, r, copy) &&
	       queue_words(&s->branches.entries, r, copy) &&
	       queue_words(&s->branches.counters, r, copy) &&
	       queue_words(&s->regs_user.values, r, copy) &&
	       queue_words(&s->regs_intr.values, r, copy) &&
	       queue_move(&s->raw.bytes, s->raw.n, r, copy) &&
	       queue_move(&s->stack_user.bytes, s->stack_user.n, r, copy) &&
	       queue_move(&s->aux.bytes, s->aux.n, r, copy);
}

/* Copies the record and points the sample's arrays into the copy. The queue keeps samples in the
 * order in which they came. */
int queue_push(struct queue *q, const struct seam_decoded *d, struct hold **ret)
{
	size_t size = (sizeof(struct hold) + d->record->size + 7) & ~(size_t)7;
	struct seam_sample probe = d->sample;
	struct hold *h;

	/* A trial run on a copy of the struct: the queue stays as it was if a part lies elsewhere.
	 * The caller of the public API can build such a record. */
	if (!queue_sample(&probe, d->record, d->record->bytes))
		return -EINVAL;
	h = queue_room(q, size);
	if (!h)
		return -ENOMEM;
	*h = (struct hold){ .size = size,
		            .when = rules_when(d),
		            .misc = d->record->misc,
		            .offset = d->record->offset,
		            .sample = d->sample };
	memcpy(h->bytes, d->record->bytes, d->record->size);
	queue_sample(&h->sample, d->record, (const unsigned char *)h->bytes);
	rules_split(&h->sample, h->misc, &h->parts);
	if (q->last)
		q->last->next = h;
	else
		q->first = h;
	q->last = h;
	if (!q->front)
		q->front = h;
	q->bytes += size;
	*ret = h;
	return 0;
}

void queue_advance(struct queue *q)
{
	for (; q->front && q->front->decided; q->front = q->front->next)
		q->ready_bytes += q->front->size;
}

/* Invariant: the first one is in front of `front`. */
void queue_pop(struct queue *q)
{
	struct hold *h = q->first;
	struct queue_block *b = q->head;
	bool last_of_block = (unsigned char *)h + h->size == (unsigned char *)b->bytes + b->used;

	q->first = h->next;
	if (!q->first)
		q->last = NULL;
	q->bytes -= h->size;
	q->ready_bytes -= h->size;
	/* Samples behind it still lie in this block. */
	if (!last_of_block)
		return;
	q->head = b->next;
	if (!q->head)
		q->tail = NULL;
	/* Blocks of odd sizes are not kept: they would hold memory that no common sample needs. */
	if (!q->spare && b->size == QUEUE_BLOCK) {
		q->spare = b;
	} else {
		q->block_bytes -= sizeof(*b) + b->size;
		free(b);
	}
}
