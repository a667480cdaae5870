// SPDX-License-Identifier: MIT
// agent_budget.c: at which rate an agent samples, by what its windows cost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/budget.h"

#define SECOND 1000000000ull

/* Windows of 10 s that take so many percent of a CPU; how many changed the rate. */
static unsigned windows(struct rate_budget *b, unsigned n, double percent)
{
	unsigned changes = 0;

	while (n--)
		changes += budget_window(b, (uint64_t)(percent * SECOND / 10), 10 * SECOND);
	return changes;
}

static void without_a_limit_nothing_changes(void **state)
{
	struct rate_budget b;

	budget_start(&b, 0, 19);
	assert_int_equal(windows(&b, 100, 90), 0);
	assert_int_equal(b.hz, 19);
}

static void one_dear_window_is_no_reason(void **state)
{
	struct rate_budget b;

	budget_start(&b, 1, 19);
	assert_int_equal(windows(&b, 1, 50), 0); /* it paid for opening */
	for (int i = 0; i < 10; i++) {
		/* However dear it was, if it is paid back. */
		assert_int_equal(windows(&b, 1, 90), 0);
		assert_int_equal(windows(&b, 50, 0.9), 0);
	}
	assert_int_equal(b.hz, 19);
}

/* Windows over and under the limit in turn: what counts is their average. */
static void the_average_counts(void **state)
{
	struct rate_budget b;
	unsigned changes = 0;

	budget_start(&b, 1, 100);
	windows(&b, 1, 1);
	for (int i = 0; i < 10 && !changes; i++) {
		changes += windows(&b, 1, 5);
		changes += windows(&b, 1, 0.9);
	}
	assert_int_equal(changes, 1);
	assert_int_equal(b.hz, 75);
	/* Hardly above the limit it takes longer. */
	windows(&b, 1, 1);
	for (int i = 0; i < 100; i++) {
		changes += windows(&b, 1, 1.5);
		changes += windows(&b, 1, 0.7);
	}
	assert_in_range(changes, 2, 5);
	assert_true(b.hz < 60);
	/* An average below it is no reason, however long it is so; and nothing is saved up. */
	budget_start(&b, 1, 100);
	windows(&b, 1, 1);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(windows(&b, 1, 1.2), 0);
		assert_int_equal(windows(&b, 1, 0.7), 0);
	}
	assert_int_equal(windows(&b, 1000, 0.7), 0);
	for (int i = 0; i < 4; i++) {
		changes = windows(&b, 1, 4);
		changes += windows(&b, 1, 0.9);
	}
	assert_int_equal(b.hz, 75);
}

/* What a machine has always is no reason to begin anew each time. */
static void a_recorder_with_too_much_begins_anew(void **state)
{
	const uint64_t hour = 3600000000000u;

	assert_false(budget_is_full(0, 0, 1000 * hour));
	assert_false(budget_is_full(8192, 512u << 20, 1000 * hour));
	assert_true(budget_is_full(8193, 0, hour + 1));
	assert_true(budget_is_full(0, (512u << 20) + 1, hour + 1));
	assert_false(budget_is_full(UINT64_MAX, UINT64_MAX, hour));
}

static void it_goes_down_in_proportion_and_up_again(void **state)
{
	struct rate_budget b;

	budget_start(&b, 1, 100);
	windows(&b, 1, 2);
	assert_int_equal(windows(&b, 2, 2), 1);
	assert_int_equal(b.hz, 50);
	/* What opening costs is not what the rate costs. */
	assert_int_equal(windows(&b, 1, 9), 0);
	/* Just below the limit it stays. */
	assert_int_equal(windows(&b, 50, 0.8), 0);
	assert_int_equal(b.hz, 50);
	assert_int_equal(windows(&b, 6, 0.2), 1);
	assert_int_equal(b.hz, 76);
	assert_int_equal(windows(&b, 7, 0.2), 1);
	assert_int_equal(b.hz, 100);
	/* Never above what was asked for. */
	assert_int_equal(windows(&b, 50, 0), 0);
}

/* A cost that does not go with the rate cannot be mended by it: the least rate is one. */
static void the_least_rate_is_one(void **state)
{
	struct rate_budget b;

	budget_start(&b, 1, 19);
	for (int i = 0; i < 40; i++)
		windows(&b, 3, 70);
	assert_int_equal(b.hz, 1);
	assert_true(b.floor);
	assert_int_equal(windows(&b, 30, 70), 0);
	windows(&b, 6, 0.1);
	assert_false(b.floor);
	assert_int_equal(b.hz, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_nothing_changes),
		cmocka_unit_test(one_dear_window_is_no_reason),
		cmocka_unit_test(the_average_counts),
		cmocka_unit_test(a_recorder_with_too_much_begins_anew),
		cmocka_unit_test(it_goes_down_in_proportion_and_up_again),
		cmocka_unit_test(the_least_rate_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
