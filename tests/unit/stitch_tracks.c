// SPDX-License-Identifier: MIT
/* stitch_tracks.c: when tasks were seen past their kernel entries, against a look at each point in
 * order of time, for recordings whose rings were read in turn, and whose records were learned in
 * any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "stitch/rules.h"
#include "stitch/track.h"

#define POINTS 160u
#define TASKS 5u

struct seen {
	uint64_t when, cookie, past;
	uint32_t index, task;
	bool user;
};

static int seen_order(const void *pa, const void *pb)
{
	const struct seen *a = *(struct seen *const *)pa, *b = *(struct seen *const *)pb;

	if (a->when != b->when)
		return a->when < b->when ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* The first sign behind the last sample of a sample's entry: a sample of another entry, or one in
 * user mode without a cookie if that last one was in the kernel. */
static void slow_past(struct seen **at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct seen *last = at[i];
		uint64_t user = RULES_NEVER, next = RULES_NEVER, between = RULES_NEVER;

		at[i]->past = RULES_NEVER;
		if (!at[i]->cookie)
			continue;
		for (size_t k = i + 1; k < n && next == RULES_NEVER; k++) {
			if (at[k]->cookie == at[i]->cookie) {
				/* A sample in between is a sign behind one in the kernel. */
				if (user != RULES_NEVER && !last->user && between == RULES_NEVER)
					between = user;
				last = at[k];
				user = RULES_NEVER;
			} else if (at[k]->cookie) {
				next = at[k]->when;
			} else if (user == RULES_NEVER && at[k]->user) {
				user = at[k]->when;
			}
		}
		if (last->user)
			user = RULES_NEVER;
		at[i]->past = between != RULES_NEVER ? between : user < next ? user : next;
	}
}

/* How the points of a round come: times in turn of rings, and indices. */
static void make(struct seen *points, uint64_t round, unsigned disorder)
{
	for (uint32_t i = 0; i < POINTS; i++) {
		const uint64_t random = map_mix(round << 16 | i);
		const uint64_t late = random % 7 ? 0 : random >> 8 & 31;

		points[i] = (struct seen){
			.when = 100 + i / (1 + round % 3) - late,
			.cookie = random >> 20 & 3 ? 0 : 1 + (i / 24 + (random >> 24 & 1)),
			.index = i * 2,
			.task = (uint32_t)(random >> 32) % TASKS,
			.user = random >> 40 & 1,
		};
		/* Learned in another order than that of the file; two records of one number. */
		if (disorder && i > POINTS / 2 && !(random >> 44 & 3))
			points[i].index = disorder == 1 ? points[i].index - 7 : points[i - 1].index;
	}
}

static void check(uint64_t round, unsigned disorder)
{
	struct seen points[POINTS], *of[POINTS];
	struct track tracks[TASKS] = { 0 };
	struct map duplicates = { 0 };
	struct tracks all = { 0 };

	make(points, round, disorder);
	for (uint32_t i = 0; i < POINTS; i++) {
		const struct track_point p = { .when = points[i].when,
			                       .index = points[i].index,
			                       .entry = points[i].user };

		assert_int_equal(track_add(&all, &tracks[points[i].task], points[i].task, p,
		                           points[i].cookie),
		                 0);
	}
	assert_int_equal(tracks_seal(&all, tracks, TASKS, false, &duplicates), 0);
	assert_int_equal(duplicates.n, 0);
	for (uint32_t task = 0; task < TASKS; task++) {
		size_t n = 0;

		for (uint32_t i = 0; i < POINTS; i++)
			if (points[i].task == task)
				of[n++] = &points[i];
		qsort(of, n, sizeof(*of), seen_order);
		slow_past(of, n);
	}
	for (uint32_t i = 0; i < POINTS; i++)
		if (points[i].cookie && disorder < 2)
			assert_int_equal(tracks_seen_past(&all, points[i].index), points[i].past);
	tracks_free(&all);
	map_free(&duplicates);
	for (uint32_t i = 0; i < TASKS; i++)
		track_free(&tracks[i]);
}

static void test_past(void **state)
{
	for (uint64_t round = 0; round < 300; round++)
		check(round, 0);
}

static void test_disorder(void **state)
{
	for (uint64_t round = 0; round < 300; round++) {
		check(round, 1);
		check(round, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_past),
		                            cmocka_unit_test(test_disorder) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
