/* SPDX-License-Identifier: MIT */
/*
 * queue.h: samples in the order fed, each with a copy of its record, until they are delivered.
 *
 * First in, first out, so the copies lie one behind the other in large blocks; a block goes when
 * its last sample went. Zero-initialise to start.
 */
#ifndef SEAM_STITCH_QUEUE_H
#define SEAM_STITCH_QUEUE_H

#include "stitch/rules.h"

struct deferred_record;
struct waiting_entry;
struct queue_block;

struct hold {
	size_t size; /* bytes in the block */
	uint64_t when;
	struct hold *next;           /* in the queue */
	struct waiting_entry *entry; /* that it waits in; NULL once decided */
	struct hold *entry_next;
	struct deferred_record *deferred; /* that it was decided by */
	enum seam_stitch_state state;
	bool decided;
	bool passed; /* the task was seen past the kernel entry of it */
	uint16_t misc;
	uint64_t offset;
	struct rules_parts parts;
	struct seam_sample sample; /* points into bytes */
	uint64_t bytes[];
};

struct queue {
	struct queue_block *head, *tail, *spare;
	struct hold *first, *last;
	struct hold *front; /* the first one that is not known to be ready, NULL: all are */
	size_t bytes;       /* of all holds */
	size_t ready_bytes; /* of those in front of `front` */
	size_t block_bytes; /* held from the system */
};

void queue_free(struct queue *q);
/* Copies a sample in. -EINVAL: a part of it lies outside its record. -ENOMEM. */
int queue_push(struct queue *q, const struct seam_decoded *d, struct hold **ret);
/* Gives the first one up. */
void queue_pop(struct queue *q);
/* Moves `front` past all that are decided. */
void queue_advance(struct queue *q);

#endif
