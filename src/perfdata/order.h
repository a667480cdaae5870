/* SPDX-License-Identifier: MIT */
/*
 * order.h: puts records into time order.
 *
 * A recorder drains its rings one after the other and says FINISHED_ROUND behind each sweep. Within
 * a ring records are in order; between rings they are not. What was read up to one round is
 * complete up to the newest time of the round before: order_round lets go of that. Without rounds,
 * or with `sort`, everything waits until order_finish and comes out exactly sorted.
 *
 * Invariants: order is by (time, order of push), so equal times keep the order of the file; every
 * pushed record comes out exactly once, even when it was late (it is then next, and counted); held
 * memory is at most max_bytes, beyond which the oldest half is let go early (`forced`).
 *
 * Stable records are held as 32 bytes (time, place, index); others are copied until popped. What
 * comes out is the record as it went in: offset and index are those of the file.
 */
#ifndef SEAM_PERFDATA_ORDER_H
#define SEAM_PERFDATA_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include <seam/record.h>

struct order;

struct order_opts {
	bool sort;        /* rounds are not trusted: exact order, all is held until order_finish */
	size_t max_bytes; /* 0: 256 MiB, or 4 GiB with sort */
};

struct order_counts {
	uint64_t pushed, popped;
	uint64_t rounds;
	uint64_t late;   /* older than what had already been let go: came out of order */
	uint64_t forced; /* let go early for want of memory */
	uint64_t peak_bytes;
};

/* For a record without a time. It comes out before everything that waits, as perf treats its own
 * records. */
#define ORDER_NO_TIME UINT64_MAX

int order_new(struct order **ret, const struct order_opts *opts); /* opts may be NULL */
void order_free(struct order *o);
/* Takes a record. -ENOMEM. */
int order_push(struct order *o, uint64_t time_ns, const struct seam_record *record);
/* A FINISHED_ROUND was read. */
int order_round(struct order *o);
/* No more records will come: everything that waits may go. */
int order_finish(struct order *o);
/* 1 and the next record that may go, or 0. time_ns may be NULL. Its bytes live until the next call
 * on o (stable ones as long as they did before). */
int order_pop(struct order *o, struct seam_record *ret, uint64_t *time_ns);
void order_counts(const struct order *o, struct order_counts *ret);

#endif
