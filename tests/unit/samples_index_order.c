// SPDX-License-Identifier: MIT
/* samples_index_order.c: notes come by time, equal times as in the file, whatever the runs are:
 * rings drained in rounds, all backwards, all at once, none with a time, over the ends of
 * blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "samples/index_order.h"

#define NOTES (2 * SAMPLE_INDEX_BLOCK + 1234u)

static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

static uint64_t in_rounds(uint32_t i)
{
	static uint64_t time, round;

	if (i % 4096 == 0)
		round += 100;
	time = i % (8 + seed % 64) == 0 ? round + random_below(90) : time + random_below(3);
	return time;
}

static uint64_t backwards(uint32_t i)
{
	return NOTES - i;
}

static uint64_t all_at_once(uint32_t i)
{
	return 7;
}

static uint64_t some_without(uint32_t i)
{
	return random_below(3) ? random_below(1000) : 0;
}

static int by_time(const void *pa, const void *pb)
{
	const struct sample_entry *a = pa, *b = pb;
	uint64_t at = sample_index_time(a), bt = sample_index_time(b);

	return at != bt ? (at > bt) - (at < bt) : (a->index > b->index) - (a->index < b->index);
}

static void come_in_order(uint32_t n, uint64_t (*when)(uint32_t i))
{
	struct sample_entry *sorted = calloc(n + 1, sizeof(*sorted));
	struct sample_index index = { .entries = { .size = sizeof(*sorted), .held = 1 } };
	struct index_order order = { 0 };
	const struct sample_entry *entry;
	uint32_t got = 0;

	assert_non_null(sorted);
	for (uint32_t i = 0; i < n; i++)
		*(struct sample_entry *)blocks_add(&index.entries) = sorted[i] =
		        (struct sample_entry){ .time_ns = when(i), .index = i * 2 };
	qsort(sorted, n, sizeof(*sorted), by_time);
	assert_int_equal(index_order_start(&order, &index), 0);
	assert_int_equal(order.index, n);
	for (; index_order_next(&order, &entry) == 1; got++) {
		assert_true(got < n);
		assert_int_equal(entry->index, sorted[got].index);
	}
	assert_int_equal(got, n);
	index_order_free(&order);
	blocks_free(&index.entries);
	free(sorted);
}

static void notes_come_in_order(void **state)
{
	uint64_t (*const whens[])(uint32_t) = { in_rounds, backwards, all_at_once, some_without };

	for (size_t i = 0; i < sizeof(whens) / sizeof(whens[0]); i++) {
		come_in_order(0, whens[i]);
		come_in_order(1, whens[i]);
		come_in_order(SAMPLE_INDEX_BLOCK, whens[i]);
		come_in_order(NOTES, whens[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(notes_come_in_order) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
