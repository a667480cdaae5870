// SPDX-License-Identifier: MIT
// names_cache.c: see names_cache.h. Several processes may write and prune at the same time. Links
// are not followed: nothing outside of the directory is removed.
#include "convert/names_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "convert/names_elf.h"

#define CACHE_DAY_S 86400
#define CACHE_YOUNG_S 3600 /* a stream that names it may still be read */
#define CACHE_FILES_MAX 65536u

struct names_cached {
	char id[2 * NAMES_ELF_ID + 1];
	uint64_t bytes;
	time_t written;
};

struct names_cache {
	int dir;
	struct names_cached *at;
	size_t n, capacity;
	uint64_t bytes;
};

/* Whether a directory's name is a build-id. */
static bool cache_is_id(const char *name)
{
	return strlen(name) == 2 * NAMES_ELF_ID &&
	       strspn(name, "0123456789abcdef") == 2 * NAMES_ELF_ID;
}

static int cache_order(const void *pa, const void *pb)
{
	const struct names_cached *a = pa, *b = pb;

	return (a->written > b->written) - (a->written < b->written);
}

/* Notes what is in one directory. */
static void cache_look(struct names_cache *c, const char *id, const char *file)
{
	int fd = openat(c->dir, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct names_cached *one;
	struct stat st;

	if (fd < 0)
		return;
	if (!fstatat(fd, file, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid() && c->n < CACHE_FILES_MAX &&
	    ARRAY_ROOM(&c->at, &c->capacity, c->n + 1) >= 0) {
		one = &c->at[c->n++];
		*one = (struct names_cached){ .bytes = (uint64_t)st.st_size,
			                      .written = st.st_mtime };
		memcpy(one->id, id, sizeof(one->id));
		c->bytes += one->bytes;
	}
	close(fd);
}

/* A directory that holds anything else stays. */
static void cache_remove(struct names_cache *c, const struct names_cached *one, const char *file)
{
	int fd = openat(c->dir, one->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	if (!unlinkat(fd, file, 0))
		unlinkat(c->dir, one->id, AT_REMOVEDIR);
	close(fd);
}

/* The oldest first, up to the first that may stay. A directory of another user is left alone. */
void names_cache_prune(const char *dir, const char *file)
{
	struct names_cache c = { .dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	DIR *list = c.dir < 0 ? NULL : fdopendir(c.dir);
	time_t now = time(NULL);
	struct dirent *entry;
	struct stat st;

	if (!list) {
		if (c.dir >= 0)
			close(c.dir);
		return;
	}
	if (!fstat(c.dir, &st) && st.st_uid == geteuid())
		while ((entry = readdir(list)))
			if (cache_is_id(entry->d_name))
				cache_look(&c, entry->d_name, file);
	if (c.n)
		qsort(c.at, c.n, sizeof(*c.at), cache_order);
	for (size_t i = 0; i < c.n; i++) {
		time_t age = now - c.at[i].written;

		if (age < CACHE_YOUNG_S || (age < NAMES_CACHE_DAYS * CACHE_DAY_S &&
		                            c.bytes <= (uint64_t)NAMES_CACHE_MIB << 20))
			break;
		cache_remove(&c, &c.at[i], file);
		c.bytes -= c.at[i].bytes;
	}
	free(c.at);
	closedir(list);
}
