// SPDX-License-Identifier: MIT
/*
 * track.c: see track.h. Points come nearly sorted (each ring is), so they are sorted by merging the
 * runs that are there: linear for one ring and for rings that were read in turn (their runs overlap
 * a little), n log(runs) else, never worse.
 */
#include "stitch/track.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stitch/rules.h"

void track_free(struct track *t)
{
	free(t->points);
	times_free(&t->exits);
	times_free(&t->births);
	*t = (struct track){ 0 };
}

/* What it holds from the system. */
size_t track_bytes(const struct track *t)
{
	return t->capacity * sizeof(*t->points) + times_bytes(&t->exits) + times_bytes(&t->births);
}

/* By a half, not to the double: there is a track for each task, and most are short. */
int track_grow(struct track *t)
{
	uint64_t capacity = t->capacity ? t->capacity + (uint64_t)t->capacity / 2 : 4;
	struct track_point *points;

	if (capacity > UINT32_MAX)
		return -EOVERFLOW;
	points = realloc(t->points, capacity * sizeof(*points));
	if (!points)
		return -ENOMEM;
	t->points = points;
	t->capacity = (uint32_t)capacity;
	return 0;
}

/* Points of one time stand in the order of the file. */
static bool track_before(const struct track_point *a, const struct track_point *b)
{
	return a->when != b->when ? a->when < b->when : a->index < b->index;
}

/* Where the sorted run that starts at `at` ends. */
static uint32_t track_run(const struct track_point *p, uint32_t at, uint32_t n)
{
	uint64_t last = p[at].when;

	for (at++; at < n; at++) {
		if (p[at].when <= last && track_before(&p[at], &p[at - 1]))
			break;
		last = p[at].when;
	}
	return at;
}

/* How many of n sorted points stand before one, or (with_equal) are not behind it. */
static uint32_t track_count(const struct track_point *p, uint32_t n, const struct track_point *one,
                            bool with_equal)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (with_equal ? !track_before(one, &p[middle]) : track_before(&p[middle], one))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Merges two sorted runs, [0, middle) and [middle, n). Only where they overlap is anything
 * moved. */
static void track_merge(struct track_point *p, uint32_t middle, uint32_t n,
                        struct track_point *spare)
{
	uint32_t at = track_count(p, middle, &p[middle], true), a = 0, b = middle;
	uint32_t end = middle + track_count(p + middle, n - middle, &p[middle - 1], false);
	uint32_t left = middle - at;

	/* Only the left run is copied out; the right one is merged in place, because the writer
	 * cannot pass the reader of it. */
	memcpy(spare, p + at, left * sizeof(*p));
	while (a < left && b < end) { /* no branch: which of the two it is cannot be foreseen */
		bool second = (p[b].when < spare[a].when) |
		              ((p[b].when == spare[a].when) & (p[b].index < spare[a].index));
		const struct track_point *from = second ? &p[b] : &spare[a];

		p[at++] = *from;
		b += second;
		a += !second;
	}
	memcpy(p + at, spare + a, (left - a) * sizeof(*p));
}

/* Sorts by merging neighbouring runs, pair by pair. */
static int track_order(struct track *t)
{
	struct track_point *p = t->points, *spare;
	uint32_t *starts = NULL, runs = 0; /* of runs, and the end */
	size_t room = 0;

	/* Records of one ring are in order, so that runs are long. */
	for (uint32_t at = 0; at < t->n; at = track_run(p, at, t->n)) {
		if (ARRAY_ROOM(&starts, &room, (size_t)runs + 2) < 0) {
			free(starts);
			return -ENOMEM;
		}
		starts[runs++] = at;
		starts[runs] = t->n;
	}
	spare = runs > 1 ? malloc((size_t)t->n * sizeof(*spare)) : NULL;
	if (runs > 1 && !spare) {
		free(starts);
		return -ENOMEM;
	}
	/* Each round halves the number of runs. Merged runs lie in place; only their starts move
	 * up. */
	while (runs > 1) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < runs; i += 2, n++) {
			uint32_t from = starts[i], end = starts[i + 2 < runs ? i + 2 : runs];

			if (i + 1 < runs)
				track_merge(p + from, starts[i + 1] - from, end - from, spare);
			starts[n] = from;
		}
		starts[n] = t->n;
		runs = n;
	}
	free(spare);
	free(starts);
	return 0;
}

/* A hash of a whole record, whose size stands in its header at byte 6 (struct
 * perf_event_header). */
static uint64_t track_hash(const unsigned char *bytes, bool swap)
{
	uint16_t size;

	memcpy(&size, bytes + 6, 2);
	return map_hash_bytes(bytes, swap ? __builtin_bswap16(size) : size, 0) & ~TRACK_BYTES;
}

/* One group of points of the same time; of equal hashes all but the first are duplicates. 0 is the
 * hash of none. */
static int track_group(struct track_point *p, uint32_t n, bool swap, struct map *duplicates)
{
	struct map seen = { 0 };
	bool is_new = true;
	int r = 0;

	/* Bytes are turned into hashes only here, where two points have the same time. */
	for (uint32_t i = 0; i < n; i++) {
		if (p[i].seen & TRACK_BYTES)
			p[i].seen = track_hash((const unsigned char *)(uintptr_t)(p[i].seen &
			                                                          ~TRACK_BYTES),
			                       swap);
	}
	for (uint32_t i = 0; i < n && r >= 0; i++) {
		if (!p[i].seen)
			continue;
		/* In a made-up file all samples may have one time: the map keeps the search
		 * linear. */
		if (n > 8) {
			if (!map_slot(&seen, p[i].seen, &is_new))
				r = -ENOMEM;
		} else {
			is_new = true;
			for (uint32_t k = 0; k < i && is_new; k++)
				is_new = p[k].seen != p[i].seen;
		}
		if (r >= 0 && !is_new)
			r = map_put(duplicates, p[i].index, 1);
	}
	map_free(&seen);
	return r;
}

/* Where the points of the same time as p[i] begin. */
static uint32_t track_same(const struct track_point *p, uint32_t i)
{
	while (i && p[i - 1].when == p[i].when)
		i--;
	return i;
}

/*
 * Looks for duplicates and replaces the hashes by signs, from the last point to the first. A sign
 * that the task has left the kernel entry of a point is the next sample of another entry; or the
 * next one in user mode without a cookie, if the entry's last sample was in kernel mode (when it
 * was in user mode, both may have hit in the same interrupt).
 */
static int track_signs(struct track *t, bool swap, struct map *duplicates)
{
	int r;
	uint32_t entry = 0;                                   /* of the next point with a cookie */
	uint64_t next = RULES_NEVER, next_user = RULES_NEVER; /* first of it */
	uint64_t past_next = RULES_NEVER, past_user = RULES_NEVER; /* seen past that entry */
	bool user_between = false; /* in front of the next point with a cookie */
	uint32_t looked = t->n;    /* from here on duplicates are known */

	/* Backwards: what comes later is known when a point is looked at. */
	for (uint32_t i = t->n; i--;) {
		struct track_point *p = &t->points[i];
		uint32_t mine = p->entry & ~1u;

		if (i && p[-1].when == p->when && i < looked) {
			looked = track_same(t->points, i);
			r = track_group(&t->points[looked], i + 1 - looked, swap, duplicates);
			if (r < 0)
				return r;
		}
		/* A sample without a cookie opens no entry. In user mode it is a sign for those
		 * before it. */
		if (!mine) {
			p->seen = RULES_NEVER;
			if (p->entry & 1) {
				next_user = p->when;
				user_between = true;
			}
			continue;
		}
		if (mine != entry) { /* the last point of its entry */
			past_next = next;
			past_user = p->entry & 1 ? RULES_NEVER : next_user;
			entry = mine;
		} else if (user_between && !(p->entry & 1)) {
			past_user = next_user;
		}
		next = p->when;
		user_between = false;
		p->seen = past_next < past_user ? past_next : past_user;
	}
	return 0;
}

/* The points must be in order before signs are looked for: a sign is the next one in time. */
int track_sort(struct track *t, bool swap, struct map *duplicates)
{
	int r = track_order(t);

	if (r >= 0)
		r = track_signs(t, swap, duplicates);
	if (r < 0)
		return r;
	times_sort(&t->exits);
	times_sort(&t->births);
	return 0;
}

/* A binary search for the very sample; RULES_NEVER: it is not known here. */
uint64_t track_seen_past(const struct track *t, uint64_t when, uint32_t index)
{
	struct track_point key = { .when = when, .index = index };
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (track_before(&t->points[middle], &key))
			low = middle + 1;
		else
			high = middle;
	}
	if (low < t->n && t->points[low].when == when && t->points[low].index == index)
		return t->points[low].seen;
	return RULES_NEVER;
}
