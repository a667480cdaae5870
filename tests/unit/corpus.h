/* SPDX-License-Identifier: MIT */
/*
 * corpus.h: a fuzz target over the files of fuzz/corpus/NAME, as an ordinary test. An input that is
 * not handled aborts or trips a sanitizer, and a folder with fewer inputs than it had is a failure.
 * Each input is in a block of exactly its size, so that a read outside of it is seen. Included
 * behind cmocka.h.
 */
#ifndef SEAM_TESTS_CORPUS_H
#define SEAM_TESTS_CORPUS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

typedef int corpus_target(const uint8_t *bytes, size_t n);
/* What is done with one file's bytes. */
typedef void corpus_use(corpus_target *target, const uint8_t *bytes, size_t n);

/* As they are. */
static inline void corpus_plain(corpus_target *target, const uint8_t *bytes, size_t n)
{
	assert_int_equal(target(bytes, n), 0);
}

/* As they are, then 40 times with bytes changed, each fifth cut as well. */
static inline void corpus_changed(corpus_target *target, const uint8_t *bytes, size_t n)
{
	uint8_t *changed = malloc(n);
	uint64_t random = n;

	assert_non_null(changed);
	corpus_plain(target, bytes, n);
	for (int i = 0; i < 40; i++) {
		memcpy(changed, bytes, n);
		for (int k = 0; k < 1 + i / 4; k++) {
			random = map_mix(random + 0x9e3779b97f4a7c15ULL);
			changed[(random >> 8) % n] = (uint8_t)(random >> 48);
		}
		target(changed, i % 5 ? n : random % n);
	}
	free(changed);
}

static inline void corpus_file(const char *path, corpus_use *use, corpus_target *target)
{
	static uint8_t bytes[1 << 20];
	FILE *f = fopen(path, "rb");
	uint8_t *exact;
	size_t n;

	assert_non_null(f);
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	assert_true(n > 0);
	exact = malloc(n);
	assert_non_null(exact);
	memcpy(exact, bytes, n);
	use(target, exact, n);
	free(exact);
}

/* All files of fuzz/corpus/NAME, of which there must be at least so many. */
static inline void corpus_run(const char *name, size_t least, corpus_use *use,
                              corpus_target *target)
{
	const char *root = getenv("SEAM_SOURCE_ROOT");
	char directory[2048], path[4096];
	struct dirent *entry;
	size_t files = 0;
	DIR *d;

	snprintf(directory, sizeof(directory), "%s/fuzz/corpus/%s", root ? root : ".", name);
	d = opendir(directory);
	assert_non_null(d);
	while ((entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		corpus_file(path, use, target);
		files++;
	}
	closedir(d);
	assert_true(files >= least);
}

#endif
