// SPDX-License-Identifier: MIT
// base_align.c: lists aligned: what both have stays in order; long lists within bounds, too.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/align.h"

/* Whether the places are of equal elements, ascending. How many there are. */
static size_t checked(const uint32_t *a, size_t n, const uint32_t *b, size_t m, uint32_t values,
                      uint32_t *to)
{
	size_t found = 0;
	uint32_t last = 0;

	assert_int_equal(align_lists(a, n, b, m, values, to), 0);
	for (size_t i = 0; i < n; i++) {
		if (!to[i])
			continue;
		assert_true(to[i] > last && to[i] <= m);
		assert_int_equal(a[i], b[to[i] - 1]);
		last = to[i];
		found++;
	}
	return found;
}

/* Letters are elements. */
static size_t aligned(const char *a, const char *b)
{
	uint32_t x[64], y[64], to[64];
	size_t n = strlen(a), m = strlen(b);

	for (size_t i = 0; i < n; i++)
		x[i] = (uint32_t)a[i];
	for (size_t i = 0; i < m; i++)
		y[i] = (uint32_t)b[i];
	return checked(x, n, y, m, 256, to);
}

static void test_short(void **state)
{
	(void)state;
	assert_int_equal(aligned("", ""), 0);
	assert_int_equal(aligned("abc", ""), 0);
	assert_int_equal(aligned("abc", "abc"), 3);
	assert_int_equal(aligned("abc", "xabcy"), 3);
	assert_int_equal(aligned("abc", "cba"), 1);
	assert_int_equal(aligned("abcabba", "cbabac"), 4);
	assert_int_equal(aligned("aaaa", "aa"), 2);
}

/* Too long to be compared as a whole: every seventh element is left out on one side, every fifth
 * stands in for another on the other; equal ones are everywhere. */
static void test_long(void **state)
{
	const size_t most = 60000;
	uint32_t *a = calloc(most, sizeof(*a)), *b = calloc(most, sizeof(*b));
	uint32_t *to = calloc(most, sizeof(*to));
	size_t n = 0, m = 0, both = 0;

	(void)state;
	assert_true(a && b && to);
	for (uint32_t i = 0; i < most; i++) {
		/* 0 to 9: lines like a closing brace; above: lines that are there once. */
		uint32_t line = i % 3 ? 10 + i : i % 10;

		if (i % 7)
			a[n++] = line;
		if (i % 5)
			b[m++] = line;
		both += i % 7 && i % 5;
	}
	assert_true(checked(a, n, b, m, 70000, to) >= both);
	/* Nothing is there once: what both begin with is found, and the rest costs nothing. */
	for (size_t i = 0; i < most; i++) {
		a[i] = i % 2;
		b[i] = i < 100 ? i % 2 : 2 + i % 2;
	}
	assert_int_equal(checked(a, most, b, most, 4, to), 100);
	/* The other way round: only one can stay. */
	for (uint32_t i = 0; i < most; i++) {
		a[i] = i;
		b[i] = (uint32_t)most - 1 - i;
	}
	assert_int_equal(checked(a, most, b, most, (uint32_t)most, to), 1);
	free(a);
	free(b);
	free(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
