/* SPDX-License-Identifier: MIT */
/*
 * sqlite.h: what the files of the SQLite store share. sqlite.c opens, puts and forgets,
 * sqlite_read.c answers, both by statements of sqlite_query.c.
 *
 * epochs   a writer's lists of things (blocks.h): begun when one begins to write, or has enough
 * blocks   of the lists; id: epoch << 26 | kind << 24 | first thing: so one search finds the block
 *          that holds a thing
 * series   labels as bytes, once for each epoch
 * windows  spans of time of an epoch's instance, with their counts
 * counts   a window of one series and event: the stacks and how often they were met
 *
 * An epoch goes when its last window went: nothing of it is named from elsewhere.
 *
 * Every statement is a constant; all values are bound.
 */
#ifndef SEAM_STORE_SQLITE_H
#define SEAM_STORE_SQLITE_H

#include <sqlite3.h>

#include "base/map.h"
#include "store/backend.h"
#include "store/dictionary.h"

#define SQLITE_FORM 1                 /* user_version: what a newer one means is not known */
#define SQLITE_APPLICATION 0x7365616d /* "seam" */

#define SQLITE_BLOCK_ID(epoch, kind, first) \
	((int64_t)(epoch) << 26 | (int64_t)(kind) << 24 | (int64_t)(first))

struct sqlite_store {
	sqlite3 *db;
	char *path;
	int lock; /* of the agent; -1: none */
	bool writes;
	int64_t epoch;  /* of this writer; 0: none yet */
	char *instance; /* that it belongs to */
	struct dictionary dictionary;
};

/* Fills err from what SQLite says of its last failure. -errno. */
int sqlite_fail(const struct sqlite_store *s, struct seam_error *err);
/* NULL after filling err. */
sqlite3_stmt *sqlite_prepare(const struct sqlite_store *s, const char *sql, struct seam_error *err);
/* 1: a row; 0: none; -errno. */
int sqlite_step(const struct sqlite_store *s, sqlite3_stmt *statement, struct seam_error *err);
/* ?1 and ?2 are the ends of the query's span. */
void sqlite_bind_span(sqlite3_stmt *statement, const struct store_query *q);

int sqlite_read(void *s, const struct store_query *q, struct profile *into, struct store_found *ret,
                struct seam_error *err);
int sqlite_list(void *s, const struct store_query *q, struct store_listing *ret,
                struct seam_error *err);

#endif
