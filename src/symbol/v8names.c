// SPDX-License-Identifier: MIT
/* v8names.c: see v8names.h. V8 writes into its jitdump names of scripts whose first bytes were
 * overwritten: the string lay in memory that it had freed (facts in v8names.h). What is left of
 * such a name is compared with the paths in the names of functions, which are whole. */
#include "symbol/v8names.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* Two words of the allocator's are written over the string. */
#define SPOILED 16u
#define REST_LEAST 4u /* ".js" is no proof */
#define SPACES_MOST 8u
#define SEVERAL 1u /* in place of a pointer: paths that begin differently */

/* Where a path ends that ":LINE:COLUMN" follows; 0: none does. */
static size_t v8names_path_end(const char *text, size_t n)
{
	for (unsigned number = 0; number < 2; number++) {
		size_t digits = n;

		while (n && text[n - 1] >= '0' && text[n - 1] <= '9')
			n--;
		if (n == digits || !n || text[--n] != ':')
			return 0;
	}
	return n;
}

/* -ENOMEM. */
static int v8names_learn_path(struct v8names *v, const char *path, size_t n)
{
	bool is_new;
	uint64_t *slot =
	        map_slot(&v->by_rest, map_hash_bytes(path + SPOILED, n - SPOILED, n), &is_new);

	if (!slot)
		return -ENOMEM;
	if (is_new)
		*slot = (uintptr_t)path;
	else if (*slot != SEVERAL && (strncmp((const char *)(uintptr_t)*slot, path, n) != 0 ||
	                              ((const char *)(uintptr_t)*slot)[n] != ':'))
		*slot = SEVERAL;
	return 0;
}

/* Keeps the path that stands in a name such as "JS:~fn /path/file.js:1:2". The name must stay where
 * it is: paths point into it. */
int v8names_learn(struct v8names *v, const char *code)
{
	size_t end = strncmp(code, "JS:", 3) ? 0 : v8names_path_end(code, strlen(code));
	const char *at = code;

	/* Names and paths may have spaces in them: whatever follows one may be the path. */
	for (unsigned i = 0; i < SPACES_MOST; i++) {
		size_t n;

		at = strchr(at, ' ');
		if (!at || (size_t)(at - code) >= end)
			break;
		n = end - (size_t)(++at - code);
		if (n < SPOILED + REST_LEAST)
			break;
		if (n < PATH_MAX && v8names_learn_path(v, at, n) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The first 16 bytes of such a name are overwritten. Its length and what is left tell which path it
 * was, if just one path that is known has both. */
const char *v8names_find(const struct v8names *v, const unsigned char *at, size_t n, size_t *ret_n)
{
	const char *rest = (const char *)at + SPOILED, *path;
	size_t length;
	uint64_t known;

	/* The first word is a pointer, mixed with another one, so its upper bytes are 0. */
	if (!v->by_rest.n || n <= SPOILED + REST_LEAST || at[6] || at[7])
		return NULL;
	length = strnlen(rest, n - SPOILED);
	if (length == n - SPOILED || length < REST_LEAST || length >= PATH_MAX ||
	    !map_get(&v->by_rest, map_hash_bytes(rest, length, SPOILED + length), &known) ||
	    known == SEVERAL)
		return NULL;
	path = (const char *)(uintptr_t)known;
	if (strncmp(path + SPOILED, rest, length) != 0 || path[SPOILED + length] != ':')
		return NULL;
	*ret_n = SPOILED + length;
	return path;
}

void v8names_free(struct v8names *v)
{
	map_free(&v->by_rest);
}
