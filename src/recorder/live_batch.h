/* SPDX-License-Identifier: MIT */
/*
 * live_batch.h: the records of one round, and those of several rounds in order of time.
 *
 * Knows of a record its time and its place. Holds back what is younger than the horizon: the newest
 * record of the round before the last one, which no later record can be older than.
 */
#ifndef SEAM_RECORDER_LIVE_BATCH_H
#define SEAM_RECORDER_LIVE_BATCH_H

#include <stdbool.h>

#include <seam/record.h>

#include "base/buf.h"

enum live_kind {
	LIVE_PASS,     /* as it is */
	LIVE_LEARN,    /* as it is, and the process table learns it */
	LIVE_WALK,     /* a sample with registers or a copy */
	LIVE_STRIPPED, /* a sample that was made final already */
};

struct live_item {
	uint64_t time, sequence;
	const unsigned char *bytes;
	uint32_t size;
	uint32_t space;  /* LIVE_WALK: the address space */
	uint32_t thread; /* LIVE_WALK: who walked it; its result is in that thread's out */
	uint32_t result_n;
	size_t result_at;
	uint8_t kind;
	bool after_exec; /* since its process's exec no sample was taken in user mode */
};

struct live_batch {
	struct live_batch *next;
	struct buf bytes;
	struct buf stripped; /* u64 offsets in bytes of LIVE_STRIPPED samples, ascending */
	bool prepare, last;
	/* once indexed */
	struct live_item *items;
	size_t n; /* items that are held */
};

/* What is held between rounds. Belongs to one thread. Zero-initialise to start. */
struct live_order {
	struct live_batch *first, **end;
	uint64_t newest, horizon;
	uint64_t sequence;
	struct live_item *ready; /* in order of time; lives until the next live_order_take */
	size_t n, capacity;
};

/*
 * Takes over a batch, and fills order->ready with what may be processed now. in: decodes the
 * records as they came; out: decodes samples without their copies. unsound: counts samples that
 * could not be read. -ENOMEM.
 */
int live_order_take(struct live_order *order, struct live_batch *batch,
                    const struct seam_events *in, const struct seam_events *out, uint64_t *unsound);
/* To be called after ready was processed: frees the batches that are done and returns their
 * bytes. */
size_t live_order_release(struct live_order *order);
void live_order_free(struct live_order *order);
void live_batch_free(struct live_batch *batch);

#endif
