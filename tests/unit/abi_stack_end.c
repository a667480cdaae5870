// SPDX-License-Identifier: MIT
// abi_stack_end.c: what misc says of a stack's end comes back, beside what the kernel says there,
// and a name for each.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <seam/record.h>

#include "abi/runtime_end.h"
#include "abi/stack_end.h"

static void test_comes_back(void **state)
{
	(void)state;
	for (unsigned end = 0; end < STACK_ENDS; end++)
		for (int guessed = 0; guessed < 2; guessed++) {
			uint16_t misc = stack_end_misc((enum stack_end)end, guessed);

			assert_int_equal(misc & (SEAM_MISC_CPUMODE_MASK | SEAM_MISC_EXACT_IP |
			                         SEAM_MISC_PROC_MAP_PARSE_TIMEOUT |
			                         SEAM_MISC_EXT_RESERVED),
			                 0);
			misc |= SEAM_MISC_USER | SEAM_MISC_EXACT_IP;
			assert_int_equal(stack_end_of(misc), end);
			assert_int_equal(!!(misc & STACK_END_GUESSED), guessed);
		}
	assert_int_equal(stack_end_of(SEAM_MISC_KERNEL), STACK_END_NOT_SAID);
}

static void test_names(void **state)
{
	(void)state;
	for (unsigned a = 0; a < STACK_ENDS; a++) {
		assert_string_not_equal(stack_end_name((enum stack_end)a), "unknown");
		for (unsigned b = 0; b < a; b++)
			assert_string_not_equal(stack_end_name((enum stack_end)a),
			                        stack_end_name((enum stack_end)b));
	}
	assert_string_equal(stack_end_name((enum stack_end)STACK_ENDS), "unknown");
	assert_non_null(strstr(stack_end_text((enum stack_end)STACK_ENDS), "does not know"));
}

/* What is said of an interpreter's frames stands beside it, and no bit is shared. */
static void test_runtime(void **state)
{
	const uint16_t other = stack_end_misc(STACK_END_WATCHED, true) | SEAM_MISC_USER |
	                       SEAM_MISC_EXACT_IP | SEAM_MISC_EXT_RESERVED;

	(void)state;
	for (unsigned end = 0; end < RUNTIME_ENDS; end++) {
		uint16_t misc = runtime_end_misc((enum runtime_end)end);

		assert_int_equal(misc & other, 0);
		misc |= other;
		assert_int_equal(runtime_end_of(misc), end);
		assert_int_equal(stack_end_of(misc), STACK_END_WATCHED);
	}
	assert_false(runtime_end_lacks(RUNTIME_END_NONE));
	assert_false(runtime_end_lacks(RUNTIME_END_COMPLETE));
	assert_true(runtime_end_lacks(RUNTIME_END_UNKNOWN));
	assert_true(runtime_end_lacks((enum runtime_end)(RUNTIME_ENDS - 1)));
	assert_string_equal(runtime_end_name((enum runtime_end)(RUNTIME_ENDS - 1)), "unknown");
	assert_string_equal(runtime_end_name(RUNTIME_END_UNKNOWN), "unknown_build");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comes_back),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_runtime),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
