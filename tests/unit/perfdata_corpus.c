// SPDX-License-Identifier: MIT
/* perfdata_corpus.c: the corpus of fuzz/fuzz_reader.c as an ordinary test; its seeds are written by
 * tests/golden/broken/make.py fuzz/corpus/reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../fuzz/fuzz_reader.c"
#include "corpus.h"

static void corpus_runs(void **state)
{
	corpus_run("reader", 50, corpus_plain, LLVMFuzzerTestOneInput);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(corpus_runs) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
