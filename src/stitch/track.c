// SPDX-License-Identifier: MIT
/*
 * track.c: see track.h. Points lie in the order in which they were learned, which is nearly that of
 * time. Sealing goes over them once, from the last to the first, and takes those of each track in
 * order of time: what is known of the later ones is a few words for each track.
 *
 * A point that was later than all of its track before it is a fence: what was learned behind it and
 * is not earlier will have no company any more, and is taken. What is earlier waits in a heap. So
 * the records of one ring wait for nothing, and those of rings that were read in turn as long as
 * these overlap. Never worse than n log n.
 */
#include "stitch/track.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stitch/rules.h"

/* A point that waits for its turn. */
struct track_waits {
	uint64_t when;
	uint32_t index, number; /* of points, or of users with TRACK_USER */
};

#define TRACK_USER (1u << 31)

/* What is known of a track's points that were taken, which are all later than the next one. */
struct track_signs {
	uint64_t next, next_user;      /* the first point of `entry`; the first in user mode */
	uint64_t past_next, past_user; /* when the task was seen past that entry */
	uint32_t entry;                /* of the last point that was taken and has a cookie */
	bool user_between;             /* in front of that one */
	struct track_waits *heap;      /* the latest first */
	size_t n, capacity;
};

/* While points are taken. */
struct track_sealing {
	struct tracks *all;
	const struct track *tracks;
	struct track_signs *signs; /* by track */
	struct track_waits *group; /* of one time */
	size_t group_capacity;
	struct map *duplicates;
	bool swap;
};

void track_free(struct track *t)
{
	times_free(&t->exits);
	times_free(&t->births);
	*t = (struct track){ 0 };
}

void tracks_free(struct tracks *all)
{
	blocks_free(&all->points);
	blocks_free(&all->users);
	map_free(&all->places);
	*all = (struct tracks){ 0 };
}

/* Held in memory at least: 16 MiB of points, 32 MiB of users. */
#define TRACKS_HELD 8u
#define TRACKS_HELD_USERS 32u

struct track_point *track_point_new(struct tracks *all)
{
	all->points.size = sizeof(struct track_point);
	all->points.held = TRACKS_HELD;
	return all->points.n < TRACK_USER ? blocks_add(&all->points) : NULL;
}

struct track_user *track_user_new(struct tracks *all)
{
	all->users.size = sizeof(struct track_user);
	all->users.held = TRACKS_HELD_USERS;
	return all->users.n < TRACK_USER ? blocks_add(&all->users) : NULL;
}

static struct track_point *track_point_at(const struct tracks *all, uint64_t number)
{
	return blocks_at(&all->points, number);
}

/* Points of one time stand in the order of the file. */
static bool track_later(const struct track_waits *a, const struct track_waits *b)
{
	return a->when != b->when ? a->when > b->when : a->index > b->index;
}

/* Puts a point into its track's heap. */
static int track_wait(struct track_signs *s, struct track_waits one)
{
	size_t i = s->n;

	if (ARRAY_ROOM(&s->heap, &s->capacity, s->n + 1) < 0)
		return -ENOMEM;
	s->n++;
	for (; i && track_later(&one, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = one;
	return 0;
}

/* Takes the latest point from the heap, which is not empty. */
static struct track_waits track_latest(struct track_signs *s)
{
	const struct track_waits first = s->heap[0], last = s->heap[--s->n];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < s->n; i = child) {
		child += child + 1 < s->n && track_later(&s->heap[child + 1], &s->heap[child]);
		if (!track_later(&s->heap[child], &last))
			break;
		s->heap[i] = s->heap[child];
	}
	s->heap[i] = last;
	return first;
}

/* A hash of a whole record, whose size stands in its header at byte 6 (struct
 * perf_event_header). */
static uint64_t track_hash(const unsigned char *bytes, bool swap)
{
	uint16_t size;

	memcpy(&size, bytes + 6, 2);
	return map_hash_bytes(bytes, swap ? __builtin_bswap16(size) : size, 0) & ~TRACK_BYTES;
}

/* Points of the same time, the last one of the file first: of equal hashes all but the first in the
 * file are duplicates. 0 is the hash of none. */
static int track_group(struct track_sealing *g, size_t n)
{
	struct map seen = { 0 };
	bool is_new = true;
	int r = 0;

	/* Bytes are turned into hashes only here, where two points have the same time. */
	for (size_t i = n; i-- && r >= 0;) {
		struct track_point *p;

		if (g->group[i].number & TRACK_USER)
			continue;
		p = track_point_at(g->all, g->group[i].number);
		if (p->seen & TRACK_BYTES)
			p->seen = track_hash((const unsigned char *)(uintptr_t)(p->seen &
			                                                        ~TRACK_BYTES),
			                     g->swap);
		if (!p->seen)
			continue;
		/* In a made-up file all samples may have one time: the map keeps the search
		 * linear. */
		if (n > 8) {
			if (!map_slot(&seen, p->seen, &is_new))
				r = -ENOMEM;
		} else {
			is_new = true;
			for (size_t k = n - 1; k > i && is_new; k--)
				is_new =
				        g->group[k].number & TRACK_USER ||
				        track_point_at(g->all, g->group[k].number)->seen != p->seen;
		}
		if (r >= 0 && !is_new)
			r = map_put(g->duplicates, p->index, 1);
	}
	map_free(&seen);
	return r;
}

/* Takes a sample in user mode without a cookie. */
static void track_sign_user(struct track_signs *s, uint64_t when)
{
	s->next_user = when;
	s->user_between = true;
}

/*
 * Replaces the hash of a point by its sign. A sign that the task has left the kernel entry of a
 * point is the next sample of another entry; or the next one in user mode without a cookie, if the
 * entry's last sample was in kernel mode (when it was in user mode, both may have hit in the same
 * interrupt).
 */
static void track_sign(struct track_signs *s, struct track_point *p, bool nobody)
{
	uint32_t entry = nobody ? 0 : p->entry, mine = entry & ~1u;

	/* A sample without a cookie opens no entry. In user mode it is a sign for those before
	 * it. */
	if (!mine) {
		p->seen = RULES_NEVER;
		if (entry & 1)
			track_sign_user(s, p->when);
		return;
	}
	if (mine != s->entry) { /* the last point of its entry */
		s->past_next = s->next;
		s->past_user = entry & 1 ? RULES_NEVER : s->next_user;
		s->entry = mine;
	} else if (s->user_between && !(entry & 1)) {
		s->past_user = s->next_user;
	}
	s->next = p->when;
	s->user_between = false;
	p->seen = s->past_next < s->past_user ? s->past_next : s->past_user;
}

/* Takes one of a track that is not `nobody`, or that is. */
static void track_sign_one(struct track_sealing *g, uint32_t track, const struct track_waits *one)
{
	struct track_signs *s = &g->signs[track];
	const bool nobody = g->tracks[track].nobody;

	if (!(one->number & TRACK_USER))
		track_sign(s, track_point_at(g->all, one->number), nobody);
	else if (!nobody)
		track_sign_user(s, one->when);
}

/* Takes the points of a track that wait and are not earlier than `from`, from the last one down. */
static int track_take(struct track_sealing *g, uint32_t track, uint64_t from)
{
	struct track_signs *s = &g->signs[track];
	int r = 0;

	while (r >= 0 && s->n && s->heap[0].when >= from) {
		uint64_t when = s->heap[0].when;
		size_t n = 0;

		for (; s->n && s->heap[0].when == when; n++) {
			if (ARRAY_ROOM(&g->group, &g->group_capacity, n + 1) < 0)
				return -ENOMEM;
			g->group[n] = track_latest(s);
		}
		r = n > 1 ? track_group(g, n) : 0;
		for (size_t i = 0; i < n && r >= 0; i++)
			track_sign_one(g, track, &g->group[i]);
	}
	return r;
}

/* Says that thing i of an array was taken, from the last down: a block whose things are all taken
 * leaves memory, and the one in front of it comes. */
static void track_taken(const struct blocks *b, uint64_t i)
{
	if (i % BLOCKS_THINGS)
		return;
	blocks_rest(b, 0, SIZE_MAX);
	if (i)
		blocks_wanted(b, i / BLOCKS_THINGS - 1);
}

/* What was learned last of the points and users that are not taken yet: false if there are none.
 * Of both the indices ascend, until they are mixed. */
static bool track_last(const struct tracks *all, uint64_t *points, uint64_t *users,
                       struct track_waits *ret, uint32_t *track)
{
	const struct track_point *p = *points ? blocks_at(&all->points, *points - 1) : NULL;
	const struct track_user *u = *users ? blocks_at(&all->users, *users - 1) : NULL;
	const bool behind = p && all->mixed && *points > all->mixed_from;

	if (p && (!u || behind || p->index > u->index)) {
		--*points;
		*track = p->track;
		*ret = (struct track_waits){ p->when, p->index, (uint32_t)*points };
		track_taken(&all->points, *points);
	} else if (u) {
		--*users;
		*track = u->track;
		*ret = (struct track_waits){ u->when, u->index, (uint32_t)*users | TRACK_USER };
		track_taken(&all->users, *users);
	}
	return p || u;
}

/* The points from the last to the first. Those that stand alone do not wait. */
static int track_take_all(struct track_sealing *g, uint32_t n)
{
	uint64_t points = g->all->points.n, users = g->all->users.n;
	struct track_waits one;
	uint32_t track;
	int r = 0;

	while (r >= 0 && track_last(g->all, &points, &users, &one, &track)) {
		const uint32_t number = track & ~TRACK_NEWEST;
		struct track_signs *s = &g->signs[number];

		if (track & TRACK_NEWEST && !s->n) {
			track_sign_one(g, number, &one);
		} else {
			r = track_wait(s, one);
			if (r >= 0 && track & TRACK_NEWEST)
				r = track_take(g, number, one.when);
		}
	}
	tracks_rest(g->all);
	for (uint32_t i = 0; i < n && r >= 0; i++)
		r = track_take(g, i, 0);
	return r;
}

/* Where records were learned in another order than that of their indices, a table finds them. */
static int track_place_all(struct tracks *all)
{
	int r = 0;

	for (uint64_t i = 0; i < all->points.n && all->unordered && r >= 0; i++)
		r = map_put(&all->places, track_point_at(all, i)->index, i + 1);
	return r;
}

/* Finds duplicates, and makes signs of what was learned. What that needs beside is freed again. */
int tracks_seal(struct tracks *all, const struct track *tracks, uint32_t n, bool swap,
                struct map *duplicates)
{
	struct track_sealing g = {
		.all = all, .tracks = tracks, .duplicates = duplicates, .swap = swap
	};
	int r = -ENOMEM;

	g.signs = n ? calloc(n, sizeof(*g.signs)) : NULL;
	for (uint32_t i = 0; i < n && g.signs; i++) {
		struct track_signs *s = &g.signs[i];

		s->next = s->next_user = s->past_next = s->past_user = RULES_NEVER;
	}
	if (g.signs || !n)
		r = track_take_all(&g, n);
	all->peak_bytes = n * sizeof(*g.signs) + g.group_capacity * sizeof(*g.group);
	for (uint32_t i = 0; i < n && g.signs; i++) {
		all->peak_bytes += g.signs[i].capacity * sizeof(*g.signs[i].heap);
		free(g.signs[i].heap);
	}
	free(g.signs);
	free(g.group);
	return r < 0 ? r : track_place_all(all);
}

/* The number of a sample's point, and whether it has one. */
static bool track_find(const struct tracks *all, uint32_t index, uint64_t *ret)
{
	uint64_t low = 0, high = all->points.n;

	if (all->unordered) {
		if (!map_get(&all->places, index, ret))
			return false;
		--*ret;
		return true;
	}
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (track_point_at(all, middle)->index < index)
			low = middle + 1;
		else
			high = middle;
	}
	*ret = low;
	return low < all->points.n && track_point_at(all, low)->index == index;
}

uint64_t tracks_seen_past(const struct tracks *all, uint32_t index)
{
	uint64_t at;

	return track_find(all, index, &at) ? track_point_at(all, at)->seen : RULES_NEVER;
}

void tracks_rest(const struct tracks *all)
{
	blocks_rest(&all->points, 0, SIZE_MAX);
	blocks_rest(&all->users, 0, SIZE_MAX);
}
