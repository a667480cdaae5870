// SPDX-License-Identifier: MIT
// symbol_corpus.c: the fuzz targets of perf maps and kallsyms over their corpora, as they are and with bytes
// changed, as an ordinary test.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/map.h"

#define LLVMFuzzerTestOneInput fuzz_perfmap
int fuzz_perfmap(const uint8_t *data, size_t size);
#include "../../fuzz/fuzz_perfmap.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_kallsyms
int fuzz_kallsyms(const uint8_t *data, size_t size);
#include "../../fuzz/fuzz_kallsyms.c"
#undef LLVMFuzzerTestOneInput

#define CHANGES 40

static void run_bytes(int (*target)(const uint8_t *, size_t), const uint8_t *bytes, size_t n)
{
	uint8_t *changed = malloc(n + 1);
	uint64_t random = n;

	assert_non_null(changed);
	target(bytes, n);
	for (int i = 0; i < CHANGES; i++) {
		memcpy(changed, bytes, n);
		for (int k = 0; k < 1 + i / 4; k++) {
			random = map_mix(random + 0x9e3779b97f4a7c15ULL);
			changed[(random >> 8) % n] = (uint8_t)(random >> 48);
		}
		target(changed, i % 5 ? n : random % n);
	}
	free(changed);
}

static void run_corpus(const char *name, int (*target)(const uint8_t *, size_t))
{
	static uint8_t bytes[1 << 20];
	const char *root = getenv("SEAM_SOURCE_ROOT");
	char directory[2048], path[4096];
	struct dirent *entry;
	size_t files = 0, n;
	DIR *d;
	FILE *f;

	snprintf(directory, sizeof(directory), "%s/fuzz/corpus/%s", root ? root : ".", name);
	d = opendir(directory);
	assert_non_null(d);
	while ((entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		f = fopen(path, "rb");
		assert_non_null(f);
		n = fread(bytes, 1, sizeof(bytes), f);
		fclose(f);
		assert_true(n > 0);
		run_bytes(target, bytes, n);
		files++;
	}
	closedir(d);
	assert_true(files >= 2);
}

static void test_perfmap(void **state)
{
	run_corpus("perfmap", fuzz_perfmap);
}

static void test_kallsyms(void **state)
{
	run_corpus("kallsyms", fuzz_kallsyms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfmap),
		cmocka_unit_test(test_kallsyms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
