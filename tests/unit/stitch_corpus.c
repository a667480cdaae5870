// SPDX-License-Identifier: MIT
/*
 * stitch_corpus.c: the fuzz target over its corpus, and over the corpus with bytes changed: what
 * the fuzzer checks, as an ordinary test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../fuzz/fuzz_stitch.c"
#include "corpus.h"

/* As they are, then 60 times with bytes changed. */
static void run_bytes(corpus_target *target, const uint8_t *bytes, size_t n)
{
	uint8_t *changed = malloc(n);
	uint64_t random = 1;

	assert_non_null(changed);
	target(bytes, n);
	for (int i = 0; i < 60; i++) {
		memcpy(changed, bytes, n);
		for (int k = 0; k < 1 + i / 4; k++) {
			random = map_mix(random + 0x9e3779b97f4a7c15ULL);
			/* Half of them copy a word, so that cookies, tids and times recur. */
			if (random & 1 && n >= 16)
				memcpy(changed + (random >> 8) % (n / 8) * 8,
				       changed + (random >> 32) % (n / 8) * 8, 8);
			else
				changed[(random >> 8) % n] = (uint8_t)(random >> 48);
		}
		target(changed, n);
	}
	free(changed);
}

static void test_corpus(void **state)
{
	corpus_run("stitch", 8, run_bytes, LLVMFuzzerTestOneInput);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_corpus) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
