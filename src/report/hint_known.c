// SPDX-License-Identifier: MIT
// hint_known.c: see hint_known.h. The bytes: path, NUL, package, NUL, and so on; a file that is in
// no package has an empty one. Invariant: an answer is what hint_packages would say now.
#include "report/hint_known.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tables/table_cache.h"

#define KEEP_BYTES (1ULL << 20)
/* When that many bytes of answers are known, what is found from then on is not added. */
#define KNOWN_MOST (64u << 10)
/* A folder that changed so lately may change again without another time. */
#define SETTLED_S 2
#define KNOWN_VERSION 1u
#define KNOWN_NAME 96

/* The name of the answers: by what the folder of the lists is. False: it may be changing. */
static bool hint_known_name(const char *info, char name[KNOWN_NAME])
{
	struct stat st;

	if (stat(info, &st) < 0 || time(NULL) - st.st_mtim.tv_sec < SETTLED_S)
		return false;
	snprintf(name, KNOWN_NAME, "dpkg-%llx-%llx-%llx-%lx.packages%u",
	         (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
	         (unsigned long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, KNOWN_VERSION);
	return true;
}

/* Whether the bytes are pairs of texts that end inside. */
static bool hint_known_sound(const struct buf *known)
{
	size_t texts = 0;

	for (size_t i = 0; i < known->n; i++)
		texts += !known->bytes[i];
	return known->n && !known->bytes[known->n - 1] && texts % 2 == 0;
}

/* The package of a path, "" for none; NULL: it is not known. */
static const char *hint_known_find(const struct buf *known, const char *path)
{
	const char *at = (const char *)known->bytes, *end = at + known->n;

	while (at < end) {
		const char *package = at + strlen(at) + 1;

		if (!strcmp(at, path))
			return package;
		at = package + strlen(package) + 1;
	}
	return NULL;
}

/* Looks for n files in the lists, and adds what was found to what is known. False: nothing was. */
static bool hint_known_search(const char *info, struct hint_package *const *files, size_t n,
                              struct buf *known)
{
	struct hint_package open[HINTS_MAX] = { 0 };

	for (size_t i = 0; i < n; i++)
		open[i].path = files[i]->path;
	hint_packages(info, open, n);
	for (size_t i = 0; i < n; i++) {
		*files[i] = open[i];
		if (known->n >= KNOWN_MOST)
			continue;
		buf_put(known, files[i]->path, strlen(files[i]->path) + 1);
		buf_put(known, buf_text(&files[i]->name), files[i]->name.n + 1);
	}
	return n && known->n < KNOWN_MOST && !known->failed;
}

/* Files behind HINTS_MAX get no answer. */
void hint_known_packages(const char *info, const char *cache_dir, struct hint_package *files,
                         size_t n)
{
	struct hint_package *open[HINTS_MAX];
	char name[KNOWN_NAME], after[KNOWN_NAME];
	const bool settled = hint_known_name(info, name);
	struct buf known = { 0 };
	struct table_cache cache;
	size_t n_open = 0;

	if (!n)
		return;
	table_cache_open(&cache, "packages", cache_dir, KEEP_BYTES);
	if (settled && (!table_cache_get(&cache, name, &known) || !hint_known_sound(&known)))
		buf_clear(&known);
	for (size_t i = 0; i < n && i < HINTS_MAX; i++) {
		const char *package = hint_known_find(&known, files[i].path);

		if (!package)
			open[n_open++] = &files[i];
		else if (*package)
			buf_put_text(&files[i].name, package);
	}
	if (hint_known_search(info, open, n_open, &known) && settled &&
	    hint_known_name(info, after) && !strcmp(name, after))
		table_cache_put(&cache, name, known.bytes, known.n);
	table_cache_close(&cache);
	buf_free(&known);
}
