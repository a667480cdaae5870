// SPDX-License-Identifier: MIT
// base_array.c: an array grows to what was asked for, few times, and keeps what is in it; what
// cannot be had leaves it as it was.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/pages.h"

/* How many pages of n bytes are in memory. */
static size_t pages_in(void *at, size_t n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char known[64];
	size_t in = 0;

	assert_true(n / page <= sizeof(known));
	assert_int_equal(mincore(at, n, known), 0);
	for (size_t i = 0; i < n / page; i++)
		in += known[i] & 1;
	return in;
}

/* Those that are wanted come at once, and no others; what is in them stays. */
static void test_pages_come_at_once(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at =
	        mmap(NULL, 64 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(at != MAP_FAILED);
	if (madvise(at, page, MADV_POPULATE_WRITE) < 0) /* before Linux 5.14 */
		skip();
	memset(at, 'x', page);
	pages_wanted(at + 10, 16 * page);
	assert_int_equal(pages_in(at, 64 * page), 17);
	assert_int_equal(at[page - 1], 'x');
	munmap(at, 64 * page);
}

static void test_grows_one_by_one(void **state)
{
	size_t capacity = 0, moves = 0, before;
	uint32_t *at = NULL;

	(void)state;
	for (uint32_t n = 0; n < 100000; n++) {
		before = capacity;
		assert_int_equal(ARRAY_ROOM(&at, &capacity, n + 1), 0);
		assert_true(capacity > n);
		moves += capacity != before;
		at[n] = n * 3;
	}
	assert_true(moves < 20); /* it doubles */
	for (uint32_t n = 0; n < 100000; n++)
		assert_int_equal(at[n], n * 3);
	free(at);
}

static void test_grows_at_once(void **state)
{
	struct {
		char bytes[3000];
	} *at = NULL;
	size_t capacity = 0, none = 0;

	(void)state;
	assert_int_equal(ARRAY_ROOM(&at, &capacity, none), 0);
	assert_null(at);
	assert_int_equal(ARRAY_ROOM(&at, &capacity, 1), 0);
	assert_int_equal(capacity, 8); /* a few, although they are large */
	assert_int_equal(ARRAY_ROOM(&at, &capacity, 1000), 0);
	assert_int_equal(capacity, 1000); /* more than twice as many: as many as wanted */
	assert_int_equal(ARRAY_ROOM(&at, &capacity, 1000), 0);
	assert_int_equal(capacity, 1000);
	assert_int_equal(array_grow(&at, &capacity, 1000, sizeof(*at)), 0);
	assert_int_equal(array_grow_zeroed(&at, &capacity, 10, sizeof(*at)), 0);
	assert_int_equal(capacity, 1000);
	assert_int_equal(ARRAY_ROOM(&at, &capacity, 1001), 0);
	assert_int_equal(capacity, 2000);
	free(at);
}

static void test_zeroed(void **state)
{
	size_t capacity = 0, filled;
	uint64_t *at = NULL;

	(void)state;
	for (size_t wanted = 1; wanted < 5000; wanted = wanted * 2 + 1) {
		filled = capacity;
		assert_int_equal(ARRAY_ROOM_ZEROED(&at, &capacity, wanted), 0);
		for (size_t i = 0; i < filled; i++)
			assert_int_equal(at[i], UINT64_MAX);
		for (size_t i = filled; i < capacity; i++) {
			assert_int_equal(at[i], 0);
			at[i] = UINT64_MAX;
		}
	}
	free(at);
}

/* Sizes that do not fit an object are refused; nothing wraps around to a small allocation. */
static void test_too_many(void **state)
{
	size_t capacity = 0;
	uint64_t *at = NULL, *same;

	(void)state;
	assert_int_equal(ARRAY_ROOM(&at, &capacity, SIZE_MAX), -ENOMEM);
	assert_int_equal(ARRAY_ROOM(&at, &capacity, SIZE_MAX / 8 + 2), -ENOMEM);
	assert_int_equal(ARRAY_ROOM(&at, &capacity, (size_t)PTRDIFF_MAX / 8 + 1), -ENOMEM);
	assert_null(at);
	assert_int_equal(capacity, 0);
	assert_int_equal(ARRAY_ROOM(&at, &capacity, 3), 0);
	same = at;
	assert_int_equal(ARRAY_ROOM_ZEROED(&at, &capacity, (size_t)PTRDIFF_MAX / 8 + 1), -ENOMEM);
	assert_ptr_equal(at, same);
	assert_int_equal(capacity, 1024 / 8);
	/* One that is so large already that it cannot double. */
	capacity = (size_t)PTRDIFF_MAX / 8;
	assert_int_equal(ARRAY_ROOM(&at, &capacity, capacity + 1), -ENOMEM);
	free(at);
}

/* What is large is of pages of its own: it keeps what is in it, and is freed like all else. */
static void test_large(void **state)
{
	const size_t n = PAGES_LARGE / sizeof(uint64_t);
	uint64_t *at = pages_zeroed(n / 2, sizeof(*at)), *large;

	(void)state;
	assert_non_null(at);
	for (size_t i = 0; i < n / 2; i++)
		assert_int_equal(at[i], 0);
	at[0] = 1;
	at[n / 2 - 1] = 2;
	at = pages_grown(at, n / 2 * sizeof(*at), (3 * n + 1) * sizeof(*at));
	assert_non_null(at);
	assert_int_equal((uintptr_t)at % PAGES_LARGE, 0);
	assert_int_equal(at[0], 1);
	assert_int_equal(at[n / 2 - 1], 2);
	memset(at, 0xff, (3 * n + 1) * sizeof(*at));
	free(at);
	/* Memory that was used before, and is not new to this process. */
	large = pages_zeroed(3 * n + 1, sizeof(*large));
	assert_non_null(large);
	assert_int_equal((uintptr_t)large % PAGES_LARGE, 0);
	for (size_t i = 0; i < 3 * n + 1; i++)
		assert_int_equal(large[i], 0);
	free(large);
	assert_null(pages_zeroed(SIZE_MAX / 4, 8));
	assert_null(pages_zeroed(SIZE_MAX / 8 + 2, 8));
}

/* What is touched here and there is zeroed, too, where memory was freed before. */
static void test_sparse(void **state)
{
	static const size_t sizes[] = { 1, 100, 16383, 16384, 16385, 400000 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const size_t n = sizes[i];
		uint64_t *at = malloc(n * sizeof(*at));

		assert_non_null(at);
		memset(at, 0xff, n * sizeof(*at));
		free(at);
		at = pages_sparse(n, sizeof(*at));
		assert_non_null(at);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(at[k], 0);
		at[n - 1] = 1;
		pages_sparse_free(at, n, sizeof(*at));
	}
	pages_sparse_free(NULL, 400000, 8);
	assert_null(pages_sparse(SIZE_MAX / 8 + 2, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages_come_at_once),
		cmocka_unit_test(test_grows_one_by_one),
		cmocka_unit_test(test_grows_at_once),
		cmocka_unit_test(test_zeroed),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_sparse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
