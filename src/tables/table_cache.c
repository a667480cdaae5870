// SPDX-License-Identifier: MIT
/*
 * table_cache.c: see table_cache.h. Every failure is as if the cache were empty: a table can always
 * be made again. A file is a header, which says under which name and in which kind of cache it was
 * put, and the bytes.
 *
 * The directory is below $XDG_CACHE_HOME or ~/.cache, with an upper bound of bytes in all. Whoever
 * can write into it decides what tables say: so it must be this user's, writable by nobody else,
 * and so must each file. Several seams may use it at once: files appear by rename and are never
 * changed.
 */
#include "tables/table_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/blake2.h"
#include "base/pages.h"

#define FILE_MAX (1ULL << 30) /* bytes of one file; libLLVM's table is 4 MB */
#define TOUCH_S (24 * 3600)   /* a file's time of use is written at most daily */

#define FORM_VERSION 1u
#define NAME_MAX_BYTES 128u

/* In front of the bytes, whose alignment it keeps. */
struct cache_header {
	char magic[8];
	uint32_t version, zero;
	uint64_t n, zeros; /* bytes that follow */
	unsigned char name[BLAKE2_BYTES];
};
_Static_assert(sizeof(struct cache_header) == 64, "no padding");

static void cache_header_of(const struct table_cache *c, const char *name, size_t n,
                            struct cache_header *ret)
{
	struct blake2 b;

	/* The digest of kind and name: a file that was renamed or moved from another kind is not
	 * taken. */
	*ret = (struct cache_header){ .magic = "seamkept", .version = FORM_VERSION, .n = n };
	blake2_start(&b);
	blake2_add(&b, c->kind, strlen(c->kind) + 1);
	blake2_add(&b, name, strlen(name));
	blake2_end(&b, ret->name);
}

/* Like mkdir -p; nobody else may look into what is made. */
static int cache_make_path(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

/* Takes over a descriptor of a directory; -1 unless it belongs to this user and nobody else may
 * write to it. */
static int cache_own(int fd)
{
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Opens, or makes, a directory below an open one, which is closed. */
static int cache_below(int parent, const char *name, bool follow)
{
	int fd = -1;

	if (mkdirat(parent, name, 0700) == 0 || errno == EEXIST)
		fd = openat(parent, name,
		            O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
	close(parent);
	return cache_own(fd);
}

/*
 * Opens seam/KIND below a path. Under sudo, HOME may belong to another user, who could lead us by a
 * link into any directory of ours, where the oldest files would then be removed. So links are not
 * followed in a directory that everybody may write to.
 */
static int cache_at(char *base, const char *kind)
{
	struct stat st;
	bool mine;
	int fd;

	if (cache_make_path(base) < 0)
		return -1;
	fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	/* A base that is neither ours nor root's: of another user's nothing is taken. */
	if (fstat(fd, &st) < 0 || (st.st_uid != geteuid() && st.st_uid)) {
		close(fd);
		return -1;
	}
	mine = st.st_uid == geteuid() && !(st.st_mode & 022);
	fd = cache_below(fd, "seam", mine);
	return fd < 0 ? -1 : cache_below(fd, kind, true);
}

/* A directory that others could write to is refused, and c->dir is then -1: every later call finds
 * nothing and keeps nothing. */
void table_cache_open(struct table_cache *c, const char *kind, const char *dir, uint64_t most)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char path[4096];
	int n;

	*c = (struct table_cache){ .dir = -1, .kind = kind, .most = most, .added = UINT64_MAX };
	if (dir)
		n = snprintf(path, sizeof(path), "%s", dir);
	else if (base && base[0] == '/')
		n = snprintf(path, sizeof(path), "%s", base);
	else if (home && home[0] == '/')
		n = snprintf(path, sizeof(path), "%s/.cache", home);
	else
		return;
	if (n < 0 || (size_t)n >= sizeof(path))
		return;
	if (!dir)
		c->dir = cache_at(path, kind);
	else if (cache_make_path(path) >= 0)
		c->dir = cache_own(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void table_cache_close(struct table_cache *c)
{
	if (c->dir >= 0)
		close(c->dir);
	c->dir = -1;
}

/* mtime is the time of use, by which cache_shrink removes; reading times may be off (noatime). */
static void cache_touch(int fd, const struct stat *st)
{
	if (time(NULL) - st->st_mtime > TOUCH_S)
		futimens(fd, NULL);
}

/*
 * Opens a file that belongs to this user and has a possible size; -1: there is none. O_NONBLOCK: a
 * FIFO of that name would never answer open(2).
 */
static int cache_open_file(struct table_cache *c, const char *name, struct stat *st)
{
	int fd = c->dir < 0 ? -1
	                    : openat(c->dir, name,
	                             O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -1;
	if (!fstat(fd, st) && S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
	    !(st->st_mode & 022) && st->st_size > (off_t)sizeof(struct cache_header) &&
	    (uint64_t)st->st_size <= FILE_MAX)
		return fd;
	close(fd);
	return -1;
}

/* All n bytes, or false. */
static bool cache_read(int fd, void *to, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t got = read(fd, (char *)to + at, n - at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += (size_t)got;
	}
	return true;
}

static bool cache_write(int fd, const void *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t put = write(fd, (const char *)bytes + at, n - at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		at += (size_t)put;
	}
	return true;
}

/* A file is taken only if its header says that it was written under this name, for this kind of
 * cache, and in full: then it is at the first of *n bytes. -1: there is none. */
static int cache_open_bytes(struct table_cache *c, const char *name, struct stat *st, size_t *n)
{
	struct cache_header is, want;
	int fd = cache_open_file(c, name, st);

	if (fd < 0)
		return -1;
	*n = (size_t)st->st_size - sizeof(is);
	cache_header_of(c, name, *n, &want);
	if (cache_read(fd, &is, sizeof(is)) && !memcmp(&is, &want, sizeof(is)))
		return fd;
	close(fd);
	return -1;
}

int table_cache_get(struct table_cache *c, const char *name, struct buf *ret)
{
	struct stat st;
	size_t n;
	int fd = cache_open_bytes(c, name, &st, &n);

	if (fd < 0)
		return 0;
	buf_clear(ret);
	if (buf_reserve(ret, n) && cache_read(fd, ret->bytes, n)) {
		ret->n = n;
		cache_touch(fd, &st);
	}
	close(fd);
	return ret->n != 0;
}

/* A file without a name in the directory; -1. */
static int cache_nameless(const struct table_cache *c)
{
	return c->dir < 0 ? -1 : openat(c->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* Pages of a file without a name, which is closed: under pressure the kernel writes them out, where
 * memory of our own would have to stay. 1 and *ret (to be unmapped by the caller), or 0. */
static int cache_pages(int fd, bool written, size_t n, const void **ret)
{
	void *pages = written ? mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

	close(fd);
	if (pages == MAP_FAILED)
		return 0;
	*ret = pages;
	return 1;
}

int table_cache_spill(struct table_cache *c, const void *bytes, size_t n, const void **ret)
{
	int fd = n && n <= FILE_MAX ? cache_nameless(c) : -1;

	return fd < 0 ? 0 : cache_pages(fd, cache_write(fd, bytes, n), n, ret);
}

/* All n bytes from one file's position to the other's, or false. */
static bool cache_copy(int from, int to, size_t n)
{
	while (n) {
		ssize_t copied = copy_file_range(from, NULL, to, NULL, n, 0);

		if (copied < 0 && errno == EINTR)
			continue;
		if (copied <= 0)
			return false;
		n -= (size_t)copied;
	}
	return true;
}

int table_cache_map(struct table_cache *c, const char *name, const void **ret, size_t *n)
{
	struct stat st;
	int from = cache_open_bytes(c, name, &st, n), to, r = 0;

	if (from < 0)
		return 0;
	to = cache_nameless(c);
	if (to >= 0)
		r = cache_pages(to, cache_copy(from, to, *n), *n, ret);
	if (r)
		cache_touch(from, &st);
	close(from);
	return r;
}

/* Into memory of our own; 1, or 0. */
static int cache_take_own(struct table_cache *c, const char *name, struct table_cache_bytes *ret)
{
	struct buf own = { 0 };

	if (!table_cache_get(c, name, &own)) {
		buf_free(&own);
		return 0;
	}
	*ret = (struct table_cache_bytes){ own.bytes, own.n, false };
	return 1;
}

int table_cache_take(struct table_cache *c, const char *name, struct table_cache_bytes *ret)
{
	*ret = (struct table_cache_bytes){ 0 };
	/* Pages of a file are made, filled and let go one by one. */
	if (pages_all_large())
		return cache_take_own(c, name, ret);
	if (!table_cache_map(c, name, &ret->bytes, &ret->n))
		return cache_take_own(c, name, ret);
	ret->mapped = true;
	return 1;
}

void table_cache_give_back(struct table_cache_bytes *bytes)
{
	if (bytes->mapped)
		munmap((void *)(uintptr_t)bytes->bytes, bytes->n);
	else
		free((void *)(uintptr_t)bytes->bytes);
	*bytes = (struct table_cache_bytes){ 0 };
}

struct cache_file {
	char name[NAME_MAX_BYTES];
	uint64_t bytes;
	time_t used;
};

static int cache_by_use(const void *a, const void *b)
{
	const struct cache_file *x = a, *y = b;

	return x->used < y->used ? -1 : x->used > y->used;
}

/* Removes the files used least recently until a quarter below the limit is free again. */
static void cache_shrink(struct table_cache *c)
{
	struct buf files = { 0 };
	struct cache_file *list;
	struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;
	size_t n;
	DIR *dir;
	int fd = openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		struct cache_file file = { 0 };

		if (strlen(entry->d_name) >= sizeof(file.name) ||
		    fstatat(c->dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		strcpy(file.name, entry->d_name);
		file.bytes = (uint64_t)st.st_size;
		file.used = st.st_mtime;
		bytes += file.bytes;
		buf_put(&files, &file, sizeof(file));
	}
	closedir(dir);
	list = (struct cache_file *)(void *)files.bytes;
	n = files.failed ? 0 : files.n / sizeof(*list);
	/* What is there now is what later writes are added to. */
	c->added = bytes;
	if (bytes > c->most && n) {
		qsort(list, n, sizeof(*list), cache_by_use);
		for (size_t i = 0; i < n && c->added > c->most / 4 * 3; i++) {
			if (!unlinkat(c->dir, list[i].name, 0))
				c->added -= list[i].bytes;
		}
	}
	buf_free(&files);
}

/* Writes a temporary file and renames it, so that no reader ever sees half a file. Failures are
 * silent: the cache is only a cache. */
void table_cache_put(struct table_cache *c, const char *name, const void *bytes, size_t n)
{
	char temporary[NAME_MAX_BYTES];
	struct cache_header header;
	bool put;
	int fd;

	/* One that takes half of the room would only drive the others out. */
	if (c->dir < 0 || n > c->most / 2 || strlen(name) >= sizeof(temporary))
		return;
	snprintf(temporary, sizeof(temporary), ".%ld.%.80s", (long)getpid(), name);
	fd = openat(c->dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	cache_header_of(c, name, n, &header);
	put = cache_write(fd, &header, sizeof(header)) && cache_write(fd, bytes, n);
	close(fd);
	if (!put || renameat(c->dir, temporary, c->dir, name) < 0) {
		unlinkat(c->dir, temporary, 0);
		return;
	}
	/* The first write of a run looks at what is there; later ones count on from that. */
	if (c->added == UINT64_MAX || (c->added += n + sizeof(header)) > c->most)
		cache_shrink(c);
}
