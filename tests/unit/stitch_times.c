// SPDX-License-Identifier: MIT
/* stitch_times.c: lists of moments against a look at each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/map.h"
#include "stitch/rules.h"
#include "stitch/times.h"

#define MANY 200u

/* The two lengths, by looking at every moment. */
static void slow_quiet(const struct times *t, uint64_t when, uint64_t *before, uint64_t *after)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->at[i] <= when && when - t->at[i] < *before)
			*before = when - t->at[i];
		if (t->at[i] >= when && t->at[i] - when < *after)
			*after = t->at[i] - when;
	}
	if (!*before || !*after)
		*before = *after = 0;
}

static void test_quiet(void **state)
{
	for (uint64_t round = 0; round < 300; round++) {
		uint32_t n = (uint32_t)(map_mix(round) % 12);
		struct times t = { 0 };

		for (uint64_t i = 0; i < n; i++)
			assert_int_equal(times_add(&t, map_mix(round << 8 | i) % MANY), 0);
		times_sort(&t);
		for (uint64_t i = 0; i < 3 * MANY; i++) { /* on and on, then here and there */
			uint64_t when = i < MANY ? i : map_mix(i + round) % (MANY + 10);
			uint64_t before = 30, after = 40, slow_before = 30, slow_after = 40;

			times_quiet(&t, when, &before, &after);
			slow_quiet(&t, when, &slow_before, &slow_after);
			assert_int_equal(before, slow_before);
			assert_int_equal(after, slow_after);
			/* What it is for: nothing lies inside. */
			if (before)
				assert_false(times_within(&t, when < before ? 0 : when - before + 1,
				                          when + after - 1));
		}
		times_free(&t);
	}
}

/* A moment without a time cannot be compared with one that has it. */
static void test_untimed(void **state)
{
	struct times t = { 0 };
	uint64_t before = 5, after = 5;

	times_quiet(&t, 100, &before, &after);
	assert_int_equal(before, 5); /* nothing is known, so all is quiet */
	assert_int_equal(times_add(&t, RULES_UNTIMED | 7), 0);
	times_sort(&t);
	times_quiet(&t, 100, &before, &after);
	assert_int_equal(before, 0);
	assert_int_equal(after, 0);
	times_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_untimed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
