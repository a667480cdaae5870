// SPDX-License-Identifier: MIT
// samples_loop_fold.c: which frames an interpreter's functions take the place of, and that the
// place where a sample hit stands in its chain also when an interpreter runs it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "abi/runtime_code.h"
#include "samples/hit.h"
#include "samples/loop_fold.h"

#define F (RUNTIME_CODE_BASE + 21)
#define G (RUNTIME_CODE_BASE + RUNTIME_CODE_SIZE + 3)

static void folds(const uint64_t *words, size_t n, const uint64_t *want, size_t n_want)
{
	struct callchain chain = { .state = SEAM_STITCH_IMMEDIATE,
		                   .user = { .bytes = (const void *)words, .n = n } };
	struct loop_fold f = { 0 };

	assert_int_equal(loop_fold(&f, &chain), 0);
	assert_int_equal(chain.user.n, n_want);
	for (size_t i = 0; i < n_want; i++)
		assert_int_equal(seam_u64s_at(&chain.user, i), want[i]);
	loop_fold_free(&f);
}

static void test_folds(void **state)
{
	/* malloc, two functions and their loop, C between, a function and its loop, main */
	static const uint64_t both[] = { 10, F, G, 20, 30, G, 21, 40, 50 },
	                      both_want[] = { 10, F, G, 30, G, 40, 50 };
	static const uint64_t first[] = { F, 20, G, 21 }, first_want[] = { F, G };
	static const uint64_t none[] = { 10, 20, 20, 30 };
	static const uint64_t bare[] = { 10, F }; /* its loop is not known */

	folds(both, 9, both_want, 7);
	folds(first, 4, first_want, 2);
	folds(none, 4, none, 4);
	folds(bare, 2, bare, 2);
	folds(NULL, 0, NULL, 0);
}

static void test_hit(void **state)
{
	static const uint64_t words[] = { F, 20, 30 };
	struct seam_event event = { .attr.sample_type = SEAM_SAMPLE_IP };
	struct callchain chain = { .event = &event,
		                   .ip = 20,
		                   .misc = SEAM_MISC_USER,
		                   .state = SEAM_STITCH_IMMEDIATE,
		                   .user = { .bytes = (const void *)words, .n = 3 } };

	assert_false(hit_apart(&chain));
	chain.user.bytes = (const void *)(words + 1);
	chain.user.n = 2;
	assert_false(hit_apart(&chain));
	chain.ip = 10;
	assert_true(hit_apart(&chain));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_folds),
		                            cmocka_unit_test(test_hit) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
