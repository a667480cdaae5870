// SPDX-License-Identifier: MIT
/* base_radix.c: things in the order of their numbers, and equal ones as they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "base/radix.h"

/* Numbers near and far from each other, at the ends of what there is, and equal ones. */
static uint64_t number(unsigned kind, uint64_t i)
{
	switch (kind) {
	case 0:
		return map_mix(i);
	case 1:
		return 0xffffffff81000000ULL + map_mix(i) % 1000;
	case 2:
		return i;
	case 3:
		return UINT64_MAX - i;
	default:
		return 7;
	}
}

static void sorts(size_t n, size_t size, unsigned kind)
{
	unsigned char *things = malloc(n * size + 1);
	uint64_t last = 0, last_at = 0;

	assert_non_null(things);
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t key = number(kind, i);

		memset(things + i * size, (int)i, size);
		memcpy(things + i * size, &key, 8);
		memcpy(things + i * size + 8, &i, 8);
	}
	assert_true(radix_sort(things, n, size));
	for (size_t i = 0; i < n; i++) {
		uint64_t key, at;

		memcpy(&key, things + i * size, 8);
		memcpy(&at, things + i * size + 8, 8);
		assert_true(at < n && key == number(kind, at));
		assert_true(!i || last < key || (last == key && last_at < at));
		for (size_t k = 16; k < size; k++)
			assert_int_equal(things[i * size + k], (unsigned char)at);
		last = key;
		last_at = at;
	}
	free(things);
}

static void test_sorts(void **state)
{
	static const size_t n[] = { 0, 1, 2, 3, 100, 5000 }, size[] = { 16, 24, 40 };

	for (size_t i = 0; i < 6; i++)
		for (size_t k = 0; k < 3; k++)
			for (unsigned kind = 0; kind < 5; kind++)
				sorts(n[i], size[k], kind);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sorts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
