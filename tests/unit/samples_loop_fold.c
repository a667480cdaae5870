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
#include "proc/proc.h"
#include "samples/hit.h"
#include "samples/loop_fold.h"

#define F (RUNTIME_CODE_BASE + 21)
#define G (RUNTIME_CODE_BASE + RUNTIME_CODE_SIZE + 3)

#define PID 7

/* procs: what is mapped; NULL: nothing is known of that. */
static void folds_where(const struct proc_table *procs, const uint64_t *words, size_t n,
                        const uint64_t *want, size_t n_want)
{
	struct callchain chain = { .state = SEAM_STITCH_IMMEDIATE,
		                   .user = { .bytes = (const void *)words, .n = n } };
	struct loop_fold f = { .procs = procs };
	uint32_t space = procs ? proc_space(procs, PID, 100) : 0;

	assert_int_equal(loop_fold(&f, space, &chain), 0);
	assert_int_equal(chain.user.n, n_want);
	for (size_t i = 0; i < n_want; i++)
		assert_int_equal(seam_u64s_at(&chain.user, i), want[i]);
	loop_fold_free(&f);
}

static void folds(const uint64_t *words, size_t n, const uint64_t *want, size_t n_want)
{
	folds_where(NULL, words, n, want, n_want);
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

static void learn(struct proc_table *t, uint32_t type, uint16_t misc, struct seam_decoded decoded)
{
	static uint64_t index;
	struct seam_record record = { .type = type, .misc = misc, .index = index++ };

	decoded.record = &record;
	decoded.id.has = SEAM_SAMPLE_TIME | SEAM_SAMPLE_TID;
	decoded.id.time_ns = 1;
	assert_int_equal(proc_learn(t, &decoded), 1);
}

static void learn_mapping(struct proc_table *t, uint64_t addr, const char *name)
{
	learn(t, SEAM_RECORD_MMAP2, SEAM_MISC_USER,
	      (struct seam_decoded){ .mmap = { .pid = PID,
	                                       .tid = PID,
	                                       .addr = addr,
	                                       .len = 0x1000,
	                                       .has_prot = true,
	                                       .prot = 5,
	                                       .filename = name } });
}

static void learn_function(struct proc_table *t, uint64_t address, const char *name)
{
	learn(t, SEAM_RECORD_KSYMBOL, SEAM_MISC_USER,
	      (struct seam_decoded){ .ksymbol = { .addr = address & ~(RUNTIME_CODE_SIZE - 1),
	                                          .len = RUNTIME_CODE_SIZE,
	                                          .name = name } });
}

/* Code that Python made for -X perf calls the loop. */
static void test_trampolines(void **state)
{
	const uint64_t jit = 0x10010, lib = 0x20010, other = 0x20020;
	const uint64_t python[] = { F, lib, jit, other, F, lib, jit, other },
	               python_want[] = { F, other, F, other };
	const uint64_t files[] = { F, lib, other, jit, F, jit },
	               files_want[] = { F, other, jit, F };
	const uint64_t perl[] = { G, lib, jit, other }, perl_want[] = { G, jit, other };
	const uint64_t inner[] = { jit, other, F, lib, jit, jit },
	               inner_want[] = { jit, other, F, jit };
	struct proc_table *t;

	assert_int_equal(proc_new(&t, NULL), 0);
	learn_mapping(t, 0x10000, "//anon");
	learn_mapping(t, 0x20000, "/usr/lib/libpython3.12.so.1.0");
	learn_function(t, F, "py::f:/x.py");
	learn_function(t, G, "pl::g:/x.pl");
	assert_int_equal(proc_seal(t), 0);
	folds_where(t, python, 8, python_want, 4);
	folds_where(t, files, 6, files_want, 4);
	folds_where(t, perl, 4, perl_want, 3); /* it has no such code: it may be anything */
	folds_where(t, inner, 6, inner_want, 4);
	folds_where(NULL, perl, 4, perl_want, 3);
	proc_free(t);
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
		                            cmocka_unit_test(test_trampolines),
		                            cmocka_unit_test(test_hit) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
