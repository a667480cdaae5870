// SPDX-License-Identifier: MIT
/* hurry: how long the rings are drained at the end, by the share of a CPU that the recorder had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorder/hurry.h"

#define MS 1000000ull

static void test_drain(void **state)
{
	/* Nobody else works, or so little was done that nothing is known. */
	assert_int_equal(hurry_drain_ms(5000 * MS, 0), HURRY_MS);
	assert_int_equal(hurry_drain_ms(0, 0), HURRY_MS);
	assert_int_equal(hurry_drain_ms(0, 10 * MS), HURRY_MS);
	assert_int_equal(hurry_drain_ms(100 * MS, 900 * MS), HURRY_MS);
	/* The less is left, the less is drained, and nothing where closing takes all the time. */
	assert_true(hurry_drain_ms(20 * MS, 980 * MS) < HURRY_MS);
	assert_true(hurry_drain_ms(20 * MS, 980 * MS) > 0);
	assert_int_equal(hurry_drain_ms(7 * MS, 993 * MS), 0);
	assert_int_equal(hurry_drain_ms(0, 1000 * MS), 0);
	for (uint64_t ran = 0, last = 0; ran <= 100; ran++) {
		uint64_t ms = hurry_drain_ms(ran * MS, (100 - ran) * 10 * MS);

		assert_true(ms >= last && ms <= HURRY_MS);
		last = ms;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
