/* SPDX-License-Identifier: MIT */
/*
 * table_cache.h: blobs by name in a directory of the user's own. Several processes may use it at once: files are
 * written under another name and renamed. What is read is not trusted: its reader checks it.
 */
#ifndef SEAM_TABLES_TABLE_CACHE_H
#define SEAM_TABLES_TABLE_CACHE_H

#include <stdint.h>

#include "base/buf.h"

struct table_cache {
	int dir;        /* file descriptor, or -1: no cache */
	uint64_t most;  /* bytes kept in all */
	uint64_t added; /* bytes written since the directory was measured last */
};

/* Opens (makes, mode 0700) the directory, dir or $XDG_CACHE_HOME/seam/KIND; without one there is no
 * cache, which is no error. */
void table_cache_open(struct table_cache *c, const char *kind, const char *dir, uint64_t most);
void table_cache_close(struct table_cache *c);
/* 1 and the bytes in *ret, or 0. Only files that belong to this user are read. */
int table_cache_get(struct table_cache *c, const char *name, struct buf *ret);
void table_cache_put(struct table_cache *c, const char *name, const void *bytes, size_t n);

/*
 * The same as table_cache_get, but the file's own pages, read-only, whose memory the kernel may take back at any time: munmap ends it.
 * The file may be removed meanwhile, not cut: nobody but this user can, and seam never does.
 */
int table_cache_map(struct table_cache *c, const char *name, const void **ret, size_t *n);
/* Puts bytes into a file without a name in the directory, which goes with the mapping. */
int table_cache_spill(struct table_cache *c, const void *bytes, size_t n, const void **ret);

#endif
