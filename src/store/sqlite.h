/* SPDX-License-Identifier: MIT */
/*
 * sqlite.h: what the files of the SQLite store share. sqlite.c opens, sqlite_put.c puts,
 * sqlite_forget.c forgets, sqlite_compact.c makes less of what is old, sqlite_read.c and
 * sqlite_list.c answer, all by statements of sqlite_query.c. The roll-up by hour has tables of its
 * own: sqlite_hours.h; so have sums by frame: parts/sqlite_parts.h, parts/sqlite_beside.h.
 *
 * epochs   a writer's list of nodes (blocks.h): begun when one begins to write, or has enough;
 *          names: the epoch with the strings, objects and frames that these have, mostly an
 *          earlier one; step_ns: 0: as it was written; else it is compacted: its nodes are sorted
 *          (sorted.h), and windows that begin in the same step are one; folded: samples whose
 *          stacks lost their innermost functions then
 * blocks   of the lists; id: epoch << 26 | kind << 24 | first thing: so one search finds the block
 *          that holds a thing
 * series   labels as bytes, once for each list of names
 * windows  spans of time of an epoch's instance, with their counts; begins: of one that was merged,
 *          how far the second one began behind the first, the third behind the second ...
 * counted  of windows: the stacks and how often they were met (sqlite_counts.h)
 * counts   the same as version 3 had it: a row for each window, series and event
 *
 * An epoch goes when its last window went, and names when the last epoch went that has them:
 * nothing of them is named from elsewhere.
 *
 * Every statement is a constant; all values are bound.
 */
#ifndef SEAM_STORE_SQLITE_H
#define SEAM_STORE_SQLITE_H

#include <sqlite3.h>
#include <sys/stat.h>

#include "base/map.h"
#include "store/backend.h"
#include "store/stacks/dictionary.h"

#define SQLITE_FORM 4                 /* user_version: what a newer one means is not known */
#define SQLITE_APPLICATION 0x7365616d /* "seam" */

#define SQLITE_BLOCK_ID(epoch, kind, first) \
	((int64_t)((uint64_t)(epoch) << 26 | (uint64_t)(kind) << 24 | (uint64_t)(first)))

/* How long a statement waits for another writer. */
#define SQLITE_BUSY_MS 10000
/* No window is merged into a longer one than this. */
#define SQLITE_STEP_MOST_NS (3600ULL * 1000000000)

struct sqlite_store {
	sqlite3 *db;
	char *path;
	int lock; /* of the agent; -1: none */
	bool writes;
	bool fixed;           /* it is read without locks, as nobody seems to write to it */
	struct stat was;      /* of the file then */
	int64_t log_was;      /* bytes of the log when readers were waited for in vain */
	int64_t epoch, names; /* of this writer; 0: none yet */
	uint64_t epoch_from_ns, names_from_ns;
	char *instance; /* that they belong to */
	struct dictionary dictionary;
};

/* Fills err from what SQLite says of its last failure. -errno. */
int sqlite_fail(const struct sqlite_store *s, struct seam_error *err);
/* NULL after filling err. */
sqlite3_stmt *sqlite_prepare(const struct sqlite_store *s, const char *sql, struct seam_error *err);
/* 1: a row; 0: none; -errno. */
int sqlite_step(const struct sqlite_store *s, sqlite3_stmt *statement, struct seam_error *err);
/* The bytes of a column of the row, which live until the next step; there may be none. -ENOMEM:
 * SQLite copies bytes that do not lie in one piece, and had no memory for that. */
int sqlite_blob(sqlite3_stmt *statement, int column, const void **bytes, size_t *n);
/* ?1 and ?2 are the ends of the query's span. */
void sqlite_bind_span(sqlite3_stmt *statement, const struct store_query *q);

/* A statement, or several, without values. -errno. */
int sqlite_do(const struct sqlite_store *s, const char *sql, struct seam_error *err);
/* Runs a statement of up to three numbers, and forgets it; first: of its first row, 0: none. The
 * error is in err, too. */
int sqlite_run(const struct sqlite_store *s, const char *sql, const int64_t *numbers, int n,
               int64_t *first, struct seam_error *err);
/* Inserts a row of numbers and, as its last column, bytes. -errno. */
int sqlite_insert_blob(const struct sqlite_store *s, const char *sql, const int64_t *numbers, int n,
                       const struct buf *data, struct seam_error *err);
/* names 0: its own. */
int sqlite_add_epoch(const struct sqlite_store *s, const char *instance, uint64_t from_ns,
                     int64_t names, uint64_t step_ns, int64_t *ret, struct seam_error *err);
int sqlite_drop_epoch(const struct sqlite_store *s, int64_t epoch, struct seam_error *err);
/* To be called after a transaction: what was written is bounded, whoever reads. */
void sqlite_trim_log(struct sqlite_store *s);
/* Bytes that are in use, without free pages. -errno. */
int64_t sqlite_bytes(const struct sqlite_store *s, struct seam_error *err);

/* As sqlite_read, but what a row's label is, where the query has `by`, is put by `label`. */
int sqlite_read_by(const struct sqlite_store *s, const struct store_query *q,
                   void (*label)(const struct labels *l, const char *by, struct buf *out),
                   struct profile *into, struct store_found *ret, struct seam_error *err);

/* Adds up what the query's span has of these names: q->flat says what frames are. In a transaction
 * of the caller's. -errno. */
struct summing;
int sqlite_read_sums(const struct sqlite_store *s, const struct store_query *q, int64_t names,
                     struct summing *to, struct seam_error *err);

/* Those of backend.h. */
int sqlite_put(void *s, const struct store_window *w, struct seam_error *err);
int64_t sqlite_forget(void *s, uint64_t from_ns, uint64_t bytes, struct seam_error *err);
int sqlite_compact(void *s, uint64_t now_ns, uint64_t day_bytes, struct store_compacted *ret,
                   struct seam_error *err);
int sqlite_read(void *s, const struct store_query *q, struct profile *into, struct store_found *ret,
                struct seam_error *err);
int sqlite_list(void *s, const struct store_query *q, struct store_listing *ret,
                struct seam_error *err);

#endif
