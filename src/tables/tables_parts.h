/* SPDX-License-Identifier: MIT */
/* tables_parts.h: what tables.c, which objects there are, and tables_make.c, how the table of one is made, share. */
#ifndef SEAM_TABLES_TABLES_PARTS_H
#define SEAM_TABLES_TABLES_PARTS_H

#include <pthread.h>
#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "tables/table_cache.h"
#include "tables/tables.h"

struct tables_entry {
	struct tables_object object;
	struct image_build_id build_id;
	const void *memory; /* the vdso's bytes, else NULL */
	size_t n_memory;
	uint64_t inode; /* of a file without build-id; 0: any */
	bool noted;     /* it was last written then: */
	struct timespec written;
	pthread_mutex_t lock;
	bool made;
	struct frametab table;
	struct buf blob;    /* the table's bytes; or: */
	const void *mapped; /* pages of a file */
	size_t n_mapped;
	struct image_segment *segments;
	char reason[512];
	struct tables_entry *next; /* of all, and with the same hash */
	struct tables_entry *same;
};

struct tables {
	struct tables_opts opts;
	pthread_mutex_t lock; /* of all below */
	struct map by_hash;   /* of path and build-id -> struct tables_entry * */
	/* hash of a build-id -> the object that was read below a process's root */
	struct map inside;
	struct map mapped; /* address -> bytes, of tables that are pages of files */
	struct tables_entry *entries;
	struct arena arena;
	struct table_cache cache;
	struct tables_counts counts;
	unsigned helpers;     /* that are free */
	struct buf kept_vdso; /* bytes of the one that was kept under kept_id */
	struct image_build_id kept_id;
	bool kept_known;
};

/* Makes the table of an entry whose lock is held, or says why there is none. */
void tables_make(struct tables *t, struct tables_entry *e);

#endif
