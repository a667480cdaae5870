// SPDX-License-Identifier: MIT
// base_pages.c: a process that keeps its memory gives none back when a large block is freed.
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/pages.h"

#define BLOCK ((size_t)64 << 20)

/* Of a malloc that is not glibc's (with sanitizers) all of these are 0. */
static void large_blocks_stay(void **state)
{
	struct mallinfo2 before;
	void *block;

	pages_keep(BLOCK);
	before = mallinfo2();
	block = malloc(BLOCK);
	assert_non_null(block);
	memset(block, 1, BLOCK);
	assert_int_equal(mallinfo2().hblks, 0);
	free(block);
	assert_true(mallinfo2().arena >= before.arena);
	/* More than what it began with is kept, too. */
	block = malloc(2 * BLOCK);
	assert_non_null(block);
	before = mallinfo2();
	free(block);
	assert_true(mallinfo2().arena >= before.arena);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_blocks_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
