// SPDX-License-Identifier: MIT
// Unit tests of sorted nodes as bytes: any part of a list is read as it was written, as is what the
// version before wrote; bytes that make no sense are told, or are some nodes.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/stacks/sorted.h"
#include "rnd.h"

#define MANY 600u

/* A sorted list: each node below the one in front of it, or below one of its callers. Some are
 * folded. */
static void list_of(struct blocks_node *nodes, uint32_t n)
{
	for (uint32_t id = 1; id <= n; id++) {
		uint32_t parent = id - 1;

		while (parent && (nodes[parent].frame == BLOCKS_FOLDED || rnd(3) == 0))
			parent = nodes[parent].parent;
		nodes[id] = (struct blocks_node){ parent, rnd(20) ? 1 + rnd(rnd(4) ? 9 : 3000)
			                                          : BLOCKS_FOLDED };
	}
}

static void read_back(const struct buf *bytes, const struct blocks_node *nodes, uint32_t first,
                      uint32_t n)
{
	struct blocks_node *got = calloc(n, sizeof(*got));
	struct cursor c = cursor_of(bytes->bytes, bytes->n, false);

	assert_int_equal(sorted_read(&c, first, n, got), 0);
	assert_memory_equal(got, nodes + first, n * sizeof(*got));
	assert_int_equal(cursor_left(&c), 0);
	free(got);
}

static void test_parts(void **state)
{
	struct blocks_node nodes[MANY + 1] = { 0 };

	(void)state;
	for (unsigned turn = 0; turn < 300; turn++) {
		const uint32_t all = 1 + rnd(MANY), first = 1 + (turn % 2 ? rnd(all) : 0);
		const uint32_t n = 1 + rnd(all - first + 1);
		struct buf bytes = { 0 };

		list_of(nodes, all);
		assert_int_equal(sorted_put(&bytes, nodes, first, n), 0);
		read_back(&bytes, nodes, first, n);
		buf_free(&bytes);
	}
}

/* Numbers of one byte, of two and of three, however they lie in each other's eight bytes: a caller
 * that calls many, which are called from far down. */
static void test_long_numbers(void **state)
{
	struct blocks_node nodes[MANY + 1] = { 0 };

	(void)state;
	for (unsigned turn = 0; turn < 200; turn++) {
		const uint32_t all = 1 + rnd(MANY);
		struct buf bytes = { 0 };

		for (uint32_t id = 1; id <= all; id++)
			nodes[id] =
			        (struct blocks_node){ rnd(200) ? id - 1 : 0,
				                      rnd(2) ? 1 : 1 + rnd(1u << (7 + turn % 15)) };
		assert_int_equal(sorted_put(&bytes, nodes, 1, all), 0);
		read_back(&bytes, nodes, 1, all);
		/* Of what ends too early nothing is read. Large frames' tables are slow. */
		for (size_t n = bytes.n > 40 ? bytes.n - 40 : 0; turn % 15 < 8 && n < bytes.n;
		     n++) {
			struct blocks_node got[MANY];
			struct cursor c = cursor_of(bytes.bytes, n, false);

			assert_int_equal(sorted_read(&c, 1, all, got), -EBADMSG);
		}
		buf_free(&bytes);
	}
}

/* Both blocks of a list of four as version 3 had them: the path, steps up, frames. */
static void test_before(void **state)
{
	static const struct blocks_node nodes[] = {
		{ 0 }, { 0, 5 }, { 1, 300 }, { 1, 7 }, { 3, BLOCKS_FOLDED }
	};
	struct buf one = { 0 }, two = { 0 };

	(void)state;
	buf_put(&one,
	        "\0"
	        "\0\0"
	        "\x05\xac\x02",
	        6);
	buf_put(&two,
	        "\2\1\1"
	        "\1\0"
	        "\7\0",
	        7);
	read_back(&one, nodes, 1, 2);
	read_back(&two, nodes, 3, 2);
	buf_free(&one);
	buf_free(&two);
}

/* Whatever the bytes are, parents are in front and frames are numbers that there may be. */
static void test_damaged(void **state)
{
	struct blocks_node nodes[MANY + 1] = { 0 }, got[MANY];

	(void)state;
	for (unsigned turn = 0; turn < 3000; turn++) {
		const uint32_t first = 1 + rnd(MANY / 2), n = 1 + rnd(MANY / 2);
		struct buf bytes = { 0 };
		struct cursor c;
		int r;

		list_of(nodes, MANY);
		assert_int_equal(sorted_put(&bytes, nodes, first, n), 0);
		if (turn % 2)
			bytes.n = rnd((uint32_t)bytes.n);
		for (unsigned i = rnd(3); i && bytes.n; i--)
			bytes.bytes[rnd((uint32_t)bytes.n)] = (unsigned char)rnd(256);
		c = cursor_of(bytes.bytes, bytes.n, false);
		r = sorted_read(&c, first, n, got);
		assert_true(r == 0 || r == -EBADMSG);
		for (uint32_t i = 0; i < n && r == 0; i++) {
			assert_true(got[i].parent < first + i);
			assert_in_range(got[i].frame, 1, BLOCKS_THINGS_MAX);
		}
		buf_free(&bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_long_numbers),
		cmocka_unit_test(test_before),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
