// SPDX-License-Identifier: MIT
// symbol_corpus.c: the fuzz targets of perf maps, jitdumps and kallsyms over their corpora, as they
// are and with bytes changed, as an ordinary test.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "corpus.h"

#define LLVMFuzzerTestOneInput fuzz_perfmap
int fuzz_perfmap(const uint8_t *data, size_t size);
#include "../../fuzz/fuzz_perfmap.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_jitdump
int fuzz_jitdump(const uint8_t *data, size_t size);
#include "../../fuzz/fuzz_jitdump.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_kallsyms
int fuzz_kallsyms(const uint8_t *data, size_t size);
#include "../../fuzz/fuzz_kallsyms.c"
#undef LLVMFuzzerTestOneInput

static void test_perfmap(void **state)
{
	corpus_run("perfmap", 2, corpus_changed, fuzz_perfmap);
}

static void test_jitdump(void **state)
{
	corpus_run("jitdump", 4, corpus_changed, fuzz_jitdump);
}

static void test_kallsyms(void **state)
{
	corpus_run("kallsyms", 2, corpus_changed, fuzz_kallsyms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfmap),
		cmocka_unit_test(test_jitdump),
		cmocka_unit_test(test_kallsyms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
