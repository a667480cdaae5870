/* SPDX-License-Identifier: MIT */
/*
 * notes_order.h: the notes of samples in order of time, equal times in the order of the file.
 *
 * A recorder drains its rings one after the other, so notes are runs in which time does not go
 * back; these are merged while they are taken. Nothing is copied: memory is 24 bytes a run, and two
 * words for each that is open.
 */
#ifndef SEAM_SAMPLES_NOTES_ORDER_H
#define SEAM_SAMPLES_NOTES_ORDER_H

#include "samples/notes.h"

struct notes_run {
	uint64_t time;               /* of the first that is left */
	const struct note *at, *end; /* what is left */
};

struct notes_order {            /* zeroed to start */
	struct notes_run *runs; /* by what comes first */
	size_t n, capacity;
	size_t next;            /* the first that is not open */
	struct notes_run *open; /* a heap, what comes first on top */
	size_t n_open, open_capacity;
	uint64_t notes;
};

/* -ENOMEM. */
int notes_order_start(struct notes_order *o, const struct notes *notes);
/* 1 and the next note, which lives as long as the notes do; 0: that was all; -ENOMEM. */
int notes_order_next(struct notes_order *o, const struct note **ret);
void notes_order_free(struct notes_order *o);
/* The time by which samples are ordered: 0 for one that has none. */
static inline uint64_t notes_time(const struct note *note)
{
	return note->when & RULES_UNTIMED ? 0 : note->when;
}

#endif
