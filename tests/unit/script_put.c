// SPDX-License-Identifier: MIT
// script_put.c: numbers, times and names in seam script are what printf makes of them, whatever
// came before.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "script/script_put.h"

static void expect(struct buf *b, const char *want)
{
	assert_string_equal(buf_text(b), want);
	buf_clear(b);
}

/* Forwards, backwards, to each end of a second and of u64: the clock keeps a second's text. */
static void times_do_not_depend_on_the_one_before(void **state)
{
	static const uint64_t seconds[] = { 0, 1, 9, 99, 99999, 100000, 18446744072 };
	static const uint64_t fractions[] = { 0, 1, 999, 1000, 123456789, 999999999 };
	struct put_clock clock = { 0 };
	struct buf b = { 0 };
	char want[64];

	for (size_t i = 0; i < 7 * 6 * 7 * 6; i++) {
		size_t at = i % 2 ? i / 42 : i % 42; /* each behind each */
		uint64_t s = seconds[at / 6], fraction = fractions[at % 6];

		put_time(&b, &clock, s * 1000000000 + fraction, false);
		snprintf(want, sizeof(want), "%5" PRIu64 ".%06" PRIu64 ": ", s, fraction / 1000);
		expect(&b, want);
		put_time(&b, &clock, s * 1000000000 + fraction, true);
		snprintf(want, sizeof(want), "%5" PRIu64 ".%09" PRIu64 ": ", s, fraction);
		expect(&b, want);
	}
	put_time(&b, &clock, UINT64_MAX, true);
	expect(&b, "18446744073.709551615: ");
	buf_free(&b);
}

static void numbers_stand_in_their_columns(void **state)
{
	static const uint64_t values[] = { 0, 9, 10, 4294967295, UINT64_MAX };
	struct buf b = { 0 };
	char want[128];

	for (size_t i = 0; i < 5; i++) {
		for (int width = 0; width < 40; width++) {
			put_number(&b, values[i], width);
			snprintf(want, sizeof(want), "%*" PRIu64, width, values[i]);
			expect(&b, want);
			put_hex(&b, values[i], width);
			snprintf(want, sizeof(want), "%*" PRIx64, width, values[i]);
			expect(&b, want);
			put_signed(&b, (uint32_t)values[i], width);
			snprintf(want, sizeof(want), "%*d", width,
			         (uint32_t)values[i] == UINT32_MAX ? -1 : (int)values[i]);
			expect(&b, want);
		}
	}
	buf_free(&b);
}

static void labels_are_padded(void **state)
{
	static const char *const names[] = { "", "cycles", "a name of 20 columns" };
	struct buf b = { 0 };
	char want[128];

	for (size_t i = 0; i < 3; i++) {
		for (int width = -1; width < 40; width++) {
			put_label(&b, names[i], width);
			snprintf(want, sizeof(want), "%*s: ", width < 0 ? 0 : width, names[i]);
			expect(&b, want);
		}
	}
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_do_not_depend_on_the_one_before),
		cmocka_unit_test(numbers_stand_in_their_columns),
		cmocka_unit_test(labels_are_padded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
