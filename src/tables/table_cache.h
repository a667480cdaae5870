/* SPDX-License-Identifier: MIT */
/*
 * table_cache.h: blobs by name in a directory of the user's own. Several processes may use it at
 * once: files are written under another name and renamed. What is read is not trusted: its reader
 * checks it. A file says which name it was put under, so that a sound one under another's name is
 * none. Names say what a blob was made from (contents.h), never what a file merely claims to be.
 * Files are read or copied, not mapped: whoever cuts one meanwhile ends nothing.
 */
#ifndef SEAM_TABLES_TABLE_CACHE_H
#define SEAM_TABLES_TABLE_CACHE_H

#include <stdint.h>

#include "base/buf.h"

struct table_cache {
	int dir;          /* file descriptor, or -1: no cache */
	const char *kind; /* "unwind": in no other is a file valid */
	uint64_t most;    /* bytes kept in all */
	uint64_t added;   /* bytes written since the directory was measured last */
};

/* Opens (makes, mode 0700) the directory, dir or $XDG_CACHE_HOME/seam/KIND; without one there is no
 * cache, which is no error. */
void table_cache_open(struct table_cache *c, const char *kind, const char *dir, uint64_t most);
void table_cache_close(struct table_cache *c);
/* 1 and the bytes in *ret, or 0. Only files that belong to this user, and that nobody else may
 * write to, are read. */
int table_cache_get(struct table_cache *c, const char *name, struct buf *ret);
void table_cache_put(struct table_cache *c, const char *name, const void *bytes, size_t n);
/*
 * Writes bytes into a file without a name in the directory and maps it. The kernel may take such
 * pages back at any time, and nobody else can reach or cut the file. munmap frees it. 1, or 0.
 */
int table_cache_spill(struct table_cache *c, const void *bytes, size_t n, const void **ret);
/* What table_cache_get finds, in such pages: the kernel copies it from file to file, which costs
 * much less than memory of our own where page faults are slow. 1, or 0: also where only
 * table_cache_get can have it. */
int table_cache_map(struct table_cache *c, const char *name, const void **ret, size_t *n);
/* A blob: in such pages, or in memory of our own, where that is of large pages (base/heap.h) or the
 * file cannot be copied. */
struct table_cache_bytes {
	const void *bytes; /* at a multiple of 8; NULL: none */
	size_t n;
	bool mapped;
};
/* 1 and the bytes, to be given back, or 0. */
int table_cache_take(struct table_cache *c, const char *name, struct table_cache_bytes *ret);
void table_cache_give_back(struct table_cache_bytes *bytes);

#endif
