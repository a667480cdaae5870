// SPDX-License-Identifier: MIT
// report_walk_result_text.c: shares in the account below a report: what is there is never shown as
// nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/walk_result_text.h"

static void check(uint64_t n, uint64_t all, const char *expected)
{
	char part[16];

	assert_string_equal(walk_result_share(n, all, part, sizeof(part)), expected);
}

static void test_part(void **state)
{
	(void)state;
	check(0, 1000, "0.0 %");
	check(0, 0, "0.0 %");
	check(1, 1000000, "<0.1 %");
	check(499, 1000000, "<0.1 %");
	check(500, 1000000, "0.1 %");
	check(123, 1000, "12.3 %");
	check(1000, 1000, "100.0 %");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_part) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
