// SPDX-License-Identifier: MIT
/* perfdata_corpus.c: the corpus of fuzz/fuzz_reader.c as an ordinary test; its seeds are written by
 * tests/golden/broken/make.py fuzz/corpus/reader. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../fuzz/fuzz_reader.c"

static void run_file(const char *path)
{
	unsigned char bytes[1 << 17], *exact;
	FILE *f = fopen(path, "rb");
	size_t n;

	assert_non_null(f);
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	/* A block of exactly its size, so that a read outside of it is seen. */
	exact = malloc(n ? n : 1);
	assert_non_null(exact);
	memcpy(exact, bytes, n);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
}

static void corpus_runs(void **state)
{
	const char *root = getenv("SEAM_SOURCE_ROOT");
	char path[4096];
	struct dirent *e;
	size_t n = 0;
	DIR *dir;

	(void)state;
	snprintf(path, sizeof(path), "%s/fuzz/corpus/reader", root ? root : ".");
	dir = opendir(path);
	assert_non_null(dir);
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/fuzz/corpus/reader/%s", root ? root : ".",
		         e->d_name);
		run_file(path);
		n++;
	}
	closedir(dir);
	assert_true(n >= 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(corpus_runs) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
