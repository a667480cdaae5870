/* SPDX-License-Identifier: MIT */
/*
 * index_order.h: the entries of samples in order of time, equal times in the order of the file.
 *
 * A recorder drains its rings one after the other, so entries are runs in which time does not go
 * back; these are merged while they are taken. Nothing is copied: memory is 24 bytes a run, and two
 * words for each that is open.
 */
#ifndef SEAM_SAMPLES_INDEX_ORDER_H
#define SEAM_SAMPLES_INDEX_ORDER_H

#include "samples/sample_index.h"

struct sample_index_run {
	uint64_t time;                       /* of the first that is left */
	const struct sample_entry *at, *end; /* what is left */
};

struct index_order {                   /* zeroed to start */
	struct sample_index_run *runs; /* by what comes first */
	size_t n, capacity;
	size_t next;                   /* the first that is not open */
	struct sample_index_run *open; /* a heap, what comes first on top */
	size_t n_open, open_capacity;
	uint64_t index;
};

/* -ENOMEM. */
int index_order_start(struct index_order *o, const struct sample_index *index);
/* 1 and the next entry, which lives as long as the entries do; 0: that was all; -ENOMEM. */
int index_order_next(struct index_order *o, const struct sample_entry **ret);
void index_order_free(struct index_order *o);
/* The time by which samples are ordered: 0 for one that has none. */
static inline uint64_t sample_index_time(const struct sample_entry *entry)
{
	return entry->time_ns;
}

#endif
