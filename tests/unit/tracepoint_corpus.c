// SPDX-License-Identifier: MIT
// tracepoint_corpus.c: the fuzz target of tracepoints over its corpus, as it is and with bytes
// changed, as an ordinary test.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "corpus.h"

#define LLVMFuzzerTestOneInput fuzz_tracepoint
int fuzz_tracepoint(const uint8_t *data, size_t size);
#include "../../fuzz/fuzz_tracepoint.c"
#undef LLVMFuzzerTestOneInput

static void test_tracepoint(void **state)
{
	corpus_run("tracepoint", 2, corpus_changed, fuzz_tracepoint);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tracepoint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
