/* SPDX-License-Identifier: MIT */
/* tables_parts.h: what tables.c, which objects there are, tables_contents.c, what they hold, and
 * tables_make.c, how the table of one is made, share. */
#ifndef SEAM_TABLES_TABLES_PARTS_H
#define SEAM_TABLES_TABLES_PARTS_H

#include <pthread.h>
#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "tables/stamp.h"
#include "tables/table_cache.h"
#include "symbol/symbol.h"
#include "tables/tables.h"
#include "unwind/compile.h"

#define TABLES_NAME 96u /* of a file in the cache */

/* Counts up when more is read from a file than before: then what it was found to hold is read
 * anew. */
#define TABLES_READ 1u

/* What a table is made from; sections are the image's, or its debug file's, or made. */
struct tables_input {
	struct image *image, *debug;
	struct image_section text;
	/* The piece of code that was looked at last. Gaps between functions are many, and lie close
	 * together. */
	unsigned char piece[4096];
	uint64_t piece_at;
	size_t n_piece;
	struct buf made; /* the .debug_frame that was made of Go's table */
	struct buf eh;   /* .eh_frame, where it is large; gone when the table's rows are known */
	struct compile_input in;
};

void tables_input_read(const struct tables *t, struct image *image, struct tables_input *ret);
/* Whether the object's file alone decides what the table is made from. A debug file counts as part
 * of it only if nobody but root and this user can change it. */
bool tables_input_is_own(const struct tables_input *in);
/* Lets go of a large .eh_frame: what it says was collected. */
void tables_input_spent(struct tables_input *in);
void tables_input_free(struct tables_input *in);

/* A digest of all that a table is made from. */
struct tables_contents {
	bool known;
	bool by_stamp; /* the digest is of the file's stamp (tables_opts.fresh_s) */
	bool alone;    /* the table is for this run, not for the disk */
	unsigned char digest[BLAKE2_BYTES];
	/* The stamp of the object's file before it was read. */
	bool stamped, lasts;
	struct stamp stamp;
};

void tables_input_contents(const struct tables_input *input, struct tables_contents *ret);
/* In its place, where files are known by their stamp. When the table was made, check looks whether
 * the stamp stands for what was read; else the digest is one that nothing else has. */
void tables_contents_by_stamp(struct tables *t, const struct image *image,
                              struct tables_contents *ret);
void tables_contents_check(struct tables *t, const struct tables_input *in,
                           struct tables_contents *contents);
/* What the file was found to hold before, if that may be believed: ret->known. Begins with the
 * file's stamp. */
void tables_recall(struct tables *t, int fd, struct tables_contents *ret);
void tables_remember(struct tables *t, int fd, const struct tables_contents *contents);

/* One table, of all objects with these contents. */
struct tables_blob {
	unsigned char digest[BLAKE2_BYTES];
	struct frametab table;
	struct table_cache_bytes bytes;
	struct tables_blob *next, *same; /* of all, and with the same key */
};

struct tables_entry {
	struct tables_object object; /* first: tables_code finds the entry by it */
	struct image_build_id build_id;
	const void *memory; /* the vdso's bytes, else NULL */
	size_t n_memory;
	uint64_t inode; /* of a file without build-id; 0: any */
	uint64_t state; /* of a file that was looked at; 0: any */
	bool noted;     /* it was last written then: */
	struct timespec written;
	pthread_mutex_t lock;
	bool made;
	struct image_segment *segments;
	char reason[512];
	struct tables_entry *next; /* of all, and with the same hash */
	struct tables_entry *same;
};

struct tables {
	struct tables_opts opts;
	pthread_mutex_t lock; /* of all below */
	struct map by_hash;   /* of path and build-id -> struct tables_entry * */
	struct map inside;    /* a file below a process's root -> the object that was read there */
	struct map ended;     /* hash of a build-id -> struct tables_inside * (tables.c) */
	struct map mapped;    /* address -> bytes, of tables that are pages of files */
	struct map by_contents; /* beginning of a digest -> struct tables_blob * */
	struct map by_stamp;    /* beginning of a stamp -> what tables_contents.c remembers */
	struct tables_entry *entries;
	struct tables_blob *blobs;
	struct arena arena;
	struct table_cache cache;
	struct tables_counts counts;
	struct symbol_opts jit_where;
	struct jit_tables *jit;
	unsigned helpers;     /* that are free */
	uint64_t alone;       /* digests that are of nothing */
	struct buf kept_vdso; /* bytes of the one that was kept under kept_id */
	struct image_build_id kept_id;
	bool kept_known;
};

/* Makes the table of an entry whose lock is held, or says why there is none. */
void tables_make(struct tables *t, struct tables_entry *e);

#endif
