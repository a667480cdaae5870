// SPDX-License-Identifier: MIT
// dwarf.c: debugging information of this very program, damaged in thousands of ways: answers may be
// missing, nothing may crash or hang. What is right is tests/system/dwarf_truth.py's.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/dwarf.h"

#define ROUNDS 1200
#define QUESTIONS 40

static unsigned char *bytes;
static size_t n_bytes;
static uint64_t text_start, text_end;
static struct {
	size_t at, n;
} sections[3];

static size_t ask(struct image *image, uint64_t seed)
{
	const struct dwarf_frame *frames;
	struct dwarf *d;
	size_t known = 0, n;

	if (dwarf_open(&d, image, NULL, NULL) < 0)
		return 0;
	for (uint64_t i = 0; i < QUESTIONS; i++) {
		uint64_t span = text_end - text_start;
		int r = dwarf_find(d, text_start + (seed * 7919 + i * span / QUESTIONS) % span,
		                   &frames, &n);

		assert_true(r >= 0);
		known += r > 0;
		for (size_t f = 0; f < n; f++)
			known += frames[f].function && !strlen(frames[f].function);
	}
	dwarf_close(d);
	return known;
}

static int read_self(void **state)
{
	static const char *const names[] = { ".debug_info", ".debug_abbrev", ".debug_line" };
	FILE *f = fopen("/proc/self/exe", "rb");
	struct image_section section;
	struct image *image;

	(void)state;
	if (!f || fseek(f, 0, SEEK_END) || (n_bytes = (size_t)ftell(f)) == 0)
		return -1;
	rewind(f);
	bytes = malloc(n_bytes);
	if (!bytes || fread(bytes, 1, n_bytes, f) != n_bytes ||
	    image_open_memory(&image, bytes, n_bytes, "self", NULL) < 0)
		return -1;
	fclose(f);
	text_start = image_segment_at(image, 0)->vaddr;
	text_end = text_start + image_segment_at(image, 0)->memory_size;
	for (int i = 0; i < 3; i++) {
		if (image_section(image, names[i], &section) < 0)
			return -1;
		sections[i].at = section.offset;
		sections[i].n = section.n;
	}
	image_close(image);
	return 0;
}

static int free_self(void **state)
{
	(void)state;
	free(bytes);
	return 0;
}

static void sound_information_answers(void **state)
{
	struct image *image;

	(void)state;
	assert_int_equal(image_open_memory(&image, bytes, n_bytes, "self", NULL), 0);
	assert_true(ask(image, 1) > 0);
	image_close(image);
}

static void damaged_information_ends(void **state)
{
	unsigned char *damaged = malloc(n_bytes);
	uint64_t seed = 12345;
	struct image *image;

	(void)state;
	assert_non_null(damaged);
	for (int round = 0; round < ROUNDS; round++) {
		int which = round % 3;

		memcpy(damaged, bytes, n_bytes);
		for (int i = 0; i < 1 << round % 8; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			damaged[sections[which].at + (seed >> 20) % sections[which].n] =
			        (unsigned char)(seed >> 56);
		}
		if (image_open_memory(&image, damaged, n_bytes, "damaged", NULL) < 0)
			continue;
		ask(image, (uint64_t)round);
		image_close(image);
	}
	free(damaged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_information_answers),
		cmocka_unit_test(damaged_information_ends),
	};

	return cmocka_run_group_tests(tests, read_self, free_self);
}
