// SPDX-License-Identifier: MIT
// input_span.c: spans of time as perf's users write them.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "input/span.h"

#define S 1000000000ULL

static void one(const char *text, uint64_t start_ns, uint64_t stop_ns)
{
	struct spans s = { 0 };

	if (spans_parse(text, &s) < 0)
		fail_msg("'%s' was not taken", text);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.at[0].start_ns, start_ns);
	assert_int_equal(s.at[0].stop_ns, stop_ns);
}

static void test_absolute(void **state)
{
	one("1,2", S, 2 * S);
	one("0,5", 0, 5 * S);
	one("1.5,", S + S / 2, UINT64_MAX);
	one(",2.000000001", 0, 2 * S + 1);
	one("0, 2", 0, 2 * S);
	one("  0,   2  ", 0, 2 * S);
	one("1, ", S, UINT64_MAX);
}

/* A number that no clock reaches ends a span at the end of time; it is no mistake. */
static void test_endless(void **state)
{
	one("0,18446744073", 0, UINT64_MAX);
	one("0,18446744072", 0, 18446744072 * S);
	one("0, 18446744069414584", 0, UINT64_MAX);
	one("3,99999999999999999999999999.5", 3 * S, UINT64_MAX);
	one("18446744069414584,", UINT64_MAX, UINT64_MAX);
}

static void test_several(void **state)
{
	struct spans s = { 0 };

	assert_int_equal(spans_parse("1,2 3, 4  5.5,", &s), 0);
	assert_int_equal(s.n, 3);
	assert_true(spans_have(&s, S) && spans_have(&s, 4 * S) && spans_have(&s, 100 * S));
	assert_false(spans_have(&s, S - 1) || spans_have(&s, 2 * S + 1) || spans_have(&s, 5 * S));
}

static void test_parts(void **state)
{
	struct spans s = { 0 };

	assert_int_equal(spans_parse("10%/2, 50%-60%", &s), 0);
	spans_resolve(&s, 1000, 2000);
	assert_true(spans_have(&s, 1100) && spans_have(&s, 1199) && spans_have(&s, 1500));
	assert_false(spans_have(&s, 1099) || spans_have(&s, 1200) || spans_have(&s, 1600));
}

static void test_none(void **state)
{
	static const char *const bad[] = { "",      " ",       "1",      "1 2",  "2,1",    "a,b",
		                           "1,2,3", "1., 2",   "1,2 3",  "-1,2", "1, 2,3", "1,2x",
		                           "10%/0", "20%-10%", "10%/11", "10",   "10%20%", "101%" };
	struct spans s = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (spans_parse(bad[i], &s) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
	assert_int_equal(s.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_absolute), cmocka_unit_test(test_endless),
		cmocka_unit_test(test_several),  cmocka_unit_test(test_parts),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
