// SPDX-License-Identifier: MIT
// image_hostile.c: the fuzz target over its corpus, and over thousands of damaged copies of each
// file. Nothing may crash; under ASan nothing may be read outside.
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fuzz/fuzz_image.c"

static unsigned char *slurp(const char *path, size_t *ret_n)
{
	FILE *f = fopen(path, "rb");
	unsigned char *bytes = malloc(1 << 20);

	assert_non_null(f);
	assert_non_null(bytes);
	*ret_n = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	return bytes;
}

/* Values that lengths and offsets go wrong with. */
static uint64_t bad_number(size_t n)
{
	const uint64_t table[] = { 0,          1,         n,          n - 1,     n + 1,
		                   UINT32_MAX, INT32_MAX, UINT64_MAX, INT64_MAX, UINT64_MAX - n,
		                   1ULL << 32, 0x8000,    0xffff,     7 };

	return random() % 3 ? table[(size_t)random() % (sizeof(table) / sizeof(table[0]))]
	                    : (uint64_t)random() << 16 ^ (uint64_t)random();
}

static void damage(unsigned char *bytes, size_t n)
{
	/* Headers are at the start and at the end: half of the damage goes there. */
	for (long i = 1 + random() % 6; i > 0; i--) {
		size_t width = 1u << (random() % 4);
		size_t at = (size_t)random() % (n - 8);
		uint64_t v = bad_number(n);

		if (random() % 4 == 0)
			at = (size_t)random() % 120;
		else if (random() % 3 == 0 && n > 2000)
			at = n - 8 - (size_t)random() % 1900;
		memcpy(bytes + (at & ~(width - 1)), &v, width);
	}
	memcpy(bytes, "\177ELF", 4);
}

static void run_file(const char *path, int rounds)
{
	size_t n, cut;
	unsigned char *bytes = slurp(path, &n), *copy = malloc(n + 1);

	assert_true(n > 128);
	assert_non_null(copy);
	LLVMFuzzerTestOneInput(bytes, n);
	for (int i = 0; i < rounds; i++) {
		memcpy(copy, bytes, n);
		damage(copy, n);
		cut = random() % 4 ? n : 64 + (size_t)random() % (n - 64);
		/* its own block, so that the sanitizer knows its end */
		unsigned char *exact = malloc(cut);

		assert_non_null(exact);
		memcpy(exact, copy, cut);
		LLVMFuzzerTestOneInput(exact, cut);
		free(exact);
	}
	free(copy);
	free(bytes);
}

static void test_corpus(void **state)
{
	const char *root = getenv("SEAM_SOURCE_ROOT");
	char dir[4096], path[8192];
	size_t files = 0;
	struct dirent *entry;
	DIR *d;

	snprintf(dir, sizeof(dir), "%s/fuzz/corpus/image", root ? root : ".");
	d = opendir(dir);
	assert_non_null(d);
	srandom(1);
	while ((entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		run_file(path, 3000);
		files++;
	}
	closedir(d);
	assert_true(files >= 5);
}

static void test_no_elf(void **state)
{
	struct image *image;

	assert_int_equal(image_open_memory(&image, "", 0, NULL, NULL), -ENOEXEC);
	assert_int_equal(image_open_memory(&image, "\177ELFxxxxxxxxxxxxxxxxxxxx", 20, NULL, NULL),
	                 -EBADMSG);
	assert_int_equal(image_open(&image, "/dev/zero", NULL), -ENOEXEC);
	assert_int_equal(image_open(&image, "/proc", NULL), -ENOEXEC);
	assert_int_equal(image_open(&image, "/nonexistent", NULL), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corpus),
		cmocka_unit_test(test_no_elf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
