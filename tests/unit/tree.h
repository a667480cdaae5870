/* SPDX-License-Identifier: MIT */
/* tree.h: files below a test's own directory, with the directories on their way. */
#ifndef SEAM_TESTS_TREE_H
#define SEAM_TESTS_TREE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static inline void tree_put(const char *root, const char *name, const void *bytes, size_t n)
{
	char path[256];
	FILE *f;

	assert_true(snprintf(path, sizeof(path), "%s/%s", root, name) < (int)sizeof(path));
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static inline void tree_put_text(const char *root, const char *name, const char *text)
{
	tree_put(root, name, text, strlen(text));
}

#endif
