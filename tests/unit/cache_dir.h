/* SPDX-License-Identifier: MIT */
/* cache_dir.h: a directory for a test's cache, which holds files only and is removed with them. */
#ifndef SEAM_TESTS_CACHE_DIR_H
#define SEAM_TESTS_CACHE_DIR_H

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];

/* As a cmocka group's set-up: 0 or -1. */
static inline int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/seam-cache-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	(void)state;
	while (d && (entry = readdir(d)))
		unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	return rmdir(dir);
}

#endif
