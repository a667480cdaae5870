// SPDX-License-Identifier: MIT
// unwind_corpus.c: the unwinder's fuzz targets over their corpora, as they are and with bytes
// changed, as an ordinary test.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "corpus.h"

#define LLVMFuzzerTestOneInput fuzz_ehframe
#include "../../fuzz/fuzz_ehframe.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_debugframe
int fuzz_debugframe(const uint8_t *data, size_t size);
#include "../../fuzz/fuzz_debugframe.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_sframe
int fuzz_sframe(const uint8_t *data, size_t size);
#include "../../fuzz/fuzz_sframe.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_frametab
int fuzz_frametab(const uint8_t *data, size_t size);
#include "../../fuzz/fuzz_frametab.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_walk
int fuzz_walk(const uint8_t *data, size_t size);
#include "../../fuzz/fuzz_walk.c"
#undef LLVMFuzzerTestOneInput

static void test_ehframe(void **state)
{
	corpus_run("ehframe", 2, corpus_changed, fuzz_ehframe);
}

static void test_debugframe(void **state)
{
	corpus_run("debugframe", 2, corpus_changed, fuzz_debugframe);
}

static void test_sframe(void **state)
{
	corpus_run("sframe", 2, corpus_changed, fuzz_sframe);
}

static void test_frametab(void **state)
{
	corpus_run("frametab", 2, corpus_changed, fuzz_frametab);
}

static void test_walk(void **state)
{
	corpus_run("walk", 2, corpus_changed, fuzz_walk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ehframe), cmocka_unit_test(test_debugframe),
		cmocka_unit_test(test_sframe),  cmocka_unit_test(test_frametab),
		cmocka_unit_test(test_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
