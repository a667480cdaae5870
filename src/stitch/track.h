/* SPDX-License-Identifier: MIT */
/*
 * track.h: when tasks were seen: all samples that say so, in the order in which they were learned,
 * with the births and ends of each task. Once it is sealed, it answers two questions: when was a
 * task first seen past the kernel entry of a sample, and which samples are copies of an earlier
 * one. A tid that is used again is one track with several lives.
 */
#ifndef SEAM_STITCH_TRACK_H
#define SEAM_STITCH_TRACK_H

#include "base/blocks.h"
#include "base/map.h"
#include "stitch/times.h"

struct track_point {
	uint64_t when;
	uint64_t seen;  /* while learning: see track_add; once sealed: when seen past this */
	uint32_t index; /* of the record */
	uint32_t entry; /* bit 0: user mode; the others: of the cookie, 0 without one */
	uint32_t track; /* and TRACK_NEWEST */
	uint32_t unused;
};

/* A sample in user mode without a cookie that is no copy of any: a sign for those before it, of
 * which nothing else is asked. Most samples are like that. */
struct track_user {
	uint64_t when;
	uint32_t index; /* of the record */
	uint32_t track; /* and TRACK_NEWEST */
};

/* In the track of both: it is later than all points of its track that were learned before. */
#define TRACK_NEWEST (1u << 31)

struct track {
	uint64_t newest; /* of its points */
	bool seen;       /* it has points */
	bool nobody;     /* of records without a tid: it is no sign for any sample */
	/* The deferred record of a dying task may come a moment behind its EXIT record. Only the
	 * FORK of the tid's next owner tells the two tasks apart. */
	struct times exits, births;
};

/* All points. */
struct tracks {
	struct blocks points; /* struct track_point */
	struct blocks users;  /* struct track_user: as long as indices ascend */
	uint64_t mixed_from;  /* points from here on were learned behind all users, if mixed */
	uint32_t last;        /* index */
	bool unordered;       /* indices do not ascend */
	bool mixed;           /* an index was not above the one before it */
	struct map places;    /* once sealed, if unordered: index -> its number + 1 */
	size_t peak_bytes;    /* held for sealing */
};

void track_free(struct track *t);
void tracks_free(struct tracks *all);
/* For track_add. NULL: out of memory, or of numbers. */
struct track_point *track_point_new(struct tracks *all);
struct track_user *track_user_new(struct tracks *all);
/*
 * cookie: 0 without one. seen: 0: it is no copy of any (rules_again); a hash of the record without
 * its top bit; or TRACK_BYTES and the address of its bytes, which last: they are read only if
 * another sample has the same time. number: the task's track. -1: out of memory, or of
 * numbers.
 */
#define TRACK_BYTES (1ULL << 63)
/* Notes whether the indices ascend. */
static inline void track_note_order(struct tracks *all, uint32_t index)
{
	if (index <= all->last && (all->points.n || all->users.n)) {
		all->unordered |= index < all->last;
		if (!all->mixed)
			all->mixed_from = all->points.n;
		all->mixed = true;
	}
	all->last = index;
}

/* Appends a sample to the points; tracks_seal finds out what it says. */
static inline int track_add(struct tracks *all, struct track *t, uint32_t number,
                            struct track_point point, uint64_t cookie)
{
	struct track_user *user;
	struct track_point *p;

	if (number >= TRACK_NEWEST)
		return -1;
	track_note_order(all, point.index);
	point.track = number | (!t->seen || point.when > t->newest ? TRACK_NEWEST : 0);
	if (point.track & TRACK_NEWEST)
		t->newest = point.when;
	t->seen = true;
	if (point.entry == 1 && !cookie && !point.seen && !all->mixed) {
		user = track_user_new(all);
		if (user)
			*user = (struct track_user){ point.when, point.index, point.track };
		return user ? 0 : -1;
	}
	p = track_point_new(all);
	if (!p)
		return -1;
	if (cookie) {
		/* 31 bits of a hash stand for the cookie. They differ for all cookies of one CPU.
		 * Where two others get the same bits (once in 2^31), a sign is missed, but none is
		 * made up. */
		point.entry |= (uint32_t)(cookie * 0x9e3779b97f4a7c15ULL >> 33) << 1;
		if (point.entry < 2)
			point.entry |= 2;
	}
	*p = point;
	return 0;
}
/* Puts the index of every duplicate into `duplicates`. swap: of the records' bytes. -ENOMEM. */
int tracks_seal(struct tracks *all, const struct track *tracks, uint32_t n, bool swap,
                struct map *duplicates);
/* When the task was first seen past the kernel entry of this sample, or UINT64_MAX. */
uint64_t tracks_seen_past(const struct tracks *all, uint32_t index);
/* For a while nobody will ask: points leave memory that need not be in it. */
void tracks_rest(const struct tracks *all);

#endif
