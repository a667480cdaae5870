// SPDX-License-Identifier: MIT
// base_heap.c: malloc with large pages serves as before, and gives none back when a block is freed.
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/heap.h"
#include "base/pages.h"

#define BLOCK ((size_t)64 << 20)

/* Of a malloc that is not glibc's (with sanitizers) all of these are 0. */
static void large_blocks_stay(void **state)
{
	struct mallinfo2 before;
	void *block;

	heap_large();
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

/* After it malloc serves small and large as before. */
static void small_and_large_are_served(void **state)
{
	size_t at = 0;
	void *have[100];

	(void)state;
	heap_large();
	for (size_t round = 0; round < 3; round++) {
		for (size_t i = 0; i < 100; i++) {
			const size_t n = (size_t)1 << i % 24;

			have[i] = malloc(n);
			assert_non_null(have[i]);
			memset(have[i], (int)i, n);
		}
		for (size_t i = 0; i < 100; i++, at++) {
			assert_int_equal(((unsigned char *)have[i])[((size_t)1 << i % 24) - 1], i);
			free(have[i]);
		}
	}
	assert_int_equal(at, 300);
}

/* What is freed as pages leaves memory, also where malloc keeps it. */
static void freed_pages_leave_memory(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *block, known;
	uintptr_t middle;

	(void)state;
	mallopt(M_PERTURB, 0); /* else it would be written to once more: meson's tests have that */
	heap_large();
	block = pages_new(BLOCK);
	assert_non_null(block);
	memset(block, 1, BLOCK);
	middle = ((uintptr_t)block + BLOCK / 2) / page * page;
	pages_free(block, BLOCK);
	/* Another malloc than glibc's has unmapped it. */
	if (!mincore((void *)middle, page, &known))
		assert_int_equal(known & 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_blocks_stay),
		cmocka_unit_test(small_and_large_are_served),
		cmocka_unit_test(freed_pages_leave_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
