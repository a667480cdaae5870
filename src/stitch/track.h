/* SPDX-License-Identifier: MIT */
/*
 * track.h: when one task was seen: all its samples in order of time, its births and its ends. Once
 * sorted, it answers two questions: when was the task first seen past the kernel entry of a sample,
 * and which samples are copies of an earlier one. A tid that is used again is one track with
 * several lives.
 */
#ifndef SEAM_STITCH_TRACK_H
#define SEAM_STITCH_TRACK_H

#include "base/map.h"
#include "stitch/times.h"

struct track_point {
	uint64_t when;
	uint64_t seen;  /* while learning: see track_add; once sorted: when seen past this */
	uint32_t index; /* of the record */
	uint32_t entry; /* bit 0: user mode; the others: of the cookie, 0 without one */
};

struct track {
	struct track_point *points;
	uint32_t n, capacity;
	/* The deferred record of a dying task may come a moment behind its EXIT record. Only the
	 * FORK of the tid's next owner tells the two tasks apart. */
	struct times exits, births;
};

void track_free(struct track *t);
int track_grow(struct track *t); /* makes room for one more: -EOVERFLOW, -ENOMEM */
/*
 * cookie: 0 without one. seen: 0: it is no copy of any (rules_again); a hash of the record without
 * its top bit; or TRACK_BYTES and the address of its bytes, which last: they are read only if
 * another sample has the same time. -ENOMEM.
 */
#define TRACK_BYTES (1ULL << 63)
/* Appends a sample to its task's track; track_sort puts it in its place. */
static inline int track_add(struct track *t, uint64_t when, uint32_t index, uint64_t cookie,
                            bool user_mode, uint64_t seen)
{
	uint32_t entry = user_mode;
	int r;

	if (t->n == t->capacity) {
		r = track_grow(t);
		if (r < 0)
			return r;
	}
	if (cookie) {
		/* 31 bits of a hash stand for the cookie. They differ for all cookies of one CPU.
		 * Where two others get the same bits (once in 2^31), a sign is missed, but none is
		 * made up. */
		entry |= (uint32_t)(cookie * 0x9e3779b97f4a7c15ULL >> 33) << 1;
		if (entry < 2)
			entry |= 2;
	}
	t->points[t->n++] =
	        (struct track_point){ .when = when, .seen = seen, .index = index, .entry = entry };
	return 0;
}
/* Sorts; puts the index of every duplicate into `duplicates`. swap: of the records' bytes.
 * -ENOMEM. */
int track_sort(struct track *t, bool swap, struct map *duplicates);
/* When the task was first seen past the kernel entry of this sample, or UINT64_MAX. */
uint64_t track_seen_past(const struct track *t, uint64_t when, uint32_t index);
size_t track_bytes(const struct track *t);

#endif
