// SPDX-License-Identifier: MIT
// abi_record_at.c: bytes as records: what is whole is taken, what is not ends the run, and nothing
// behind n is read.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/record_at.h"

#define TYPE 0x01020304u
#define MISC 0x0506u

static void put_header(unsigned char *at, uint32_t type, uint16_t misc, uint16_t size)
{
	memcpy(at, &type, 4);
	memcpy(at + 4, &misc, 2);
	memcpy(at + 6, &size, 2);
}

/* Asks about n bytes that say to be `size`; they end where what was allocated does, for sanitizers
 * to see what is read behind. */
static bool is_whole(size_t n, uint16_t size)
{
	unsigned char *bytes = calloc(n ? n : 1, 1), header[8];
	struct seam_record record = { .index = 4711 };
	bool whole;

	assert_non_null(bytes);
	put_header(header, TYPE, MISC, size);
	memcpy(bytes, header, n < sizeof(header) ? n : sizeof(header));
	whole = record_at(bytes, n, &record);
	if (whole) {
		assert_ptr_equal(record.bytes, bytes);
		assert_int_equal(record.type, TYPE);
		assert_int_equal(record.misc, MISC);
		assert_int_equal(record.size, size);
		assert_int_equal(record.index, 0);
		assert_false(record.swap);
		assert_false(record.stable);
	} else {
		assert_int_equal(record.index, 4711); /* untouched */
	}
	free(bytes);
	return whole;
}

static void test_edges(void **state)
{
	(void)state;
	for (size_t n = 0; n < 8; n++)
		assert_false(is_whole(n, 8));
	for (uint16_t size = 0; size < 8; size++)
		assert_false(is_whole(64, size));
	assert_true(is_whole(8, 8));
	assert_false(is_whole(8, 9));
	assert_false(is_whole(15, 16));
	assert_true(is_whole(16, 16));
	assert_true(is_whole(17, 16));
	assert_true(is_whole(UINT16_MAX, UINT16_MAX));
	assert_false(is_whole(UINT16_MAX - 1, UINT16_MAX));
}

/* Nobody writes such records; if one comes, it ends where it says, and the next is read from where
 * that is. */
static void test_odd_sizes(void **state)
{
	unsigned char bytes[13 + 9 + 8 + 5];
	const unsigned char *p = bytes;
	const uint16_t sizes[] = { 13, 9, 8 };
	struct seam_record record;
	size_t n = sizeof(bytes), i = 0;

	(void)state;
	memset(bytes, 0xff, sizeof(bytes));
	put_header(bytes, 1, 0, 13);
	put_header(bytes + 13, 2, 0, 9);
	put_header(bytes + 22, 3, 0, 8);
	for (; record_at(p, n, &record); p += record.size, n -= record.size) {
		assert_true(i < 3);
		assert_int_equal(record.size, sizes[i]);
		assert_int_equal(record.type, ++i);
	}
	assert_int_equal(i, 3);
	assert_int_equal(n, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_odd_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
