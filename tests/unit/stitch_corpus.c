// SPDX-License-Identifier: MIT
/*
 * stitch_corpus.c: the fuzz target over its corpus, and over the corpus with bytes changed: what the
 * fuzzer checks, as an ordinary test.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../fuzz/fuzz_stitch.c"
#include "base/map.h"

static size_t run_file(const char *path)
{
	static uint8_t bytes[1 << 20], changed[1 << 20];
	FILE *f = fopen(path, "rb");
	uint64_t random = 1;
	size_t n;

	assert_non_null(f);
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	LLVMFuzzerTestOneInput(bytes, n);
	for (int i = 0; n && i < 60; i++) {
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
		LLVMFuzzerTestOneInput(changed, n);
	}
	return n;
}

static void test_corpus(void **state)
{
	char directory[2048], path[4096];
	const char *root = getenv("SEAM_SOURCE_ROOT");
	struct dirent *entry;
	size_t files = 0;
	DIR *d;

	snprintf(directory, sizeof(directory), "%s/fuzz/corpus/stitch", root ? root : ".");
	d = opendir(directory);
	assert_non_null(d);
	while ((entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		assert_true(run_file(path) > 0);
		files++;
	}
	closedir(d);
	assert_true(files >= 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_corpus) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
