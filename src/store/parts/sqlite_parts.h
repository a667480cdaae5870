/* SPDX-License-Identifier: MIT */
/*
 * sqlite_parts.h: parts of an SQLite store's time summed up by frame (summed.h): whole hours, and
 * of the last ones ten minutes each. sqlite_parts.c answers from them, sqlite_sum_up.c makes them.
 * Their table is there once a part was made; a seam that does not know it leaves it alone.
 *
 * parts    names: the list of names that a part is of; step_ns, from_ns: its time; windows, begun:
 *          how many windows it is made of, as they were put, and the sum of when they began;
 *          rules: by which it was made (SUMMED_RULES)
 *
 * A part stands for the windows of its names that begin in its time, as long as these are the same
 * ones by that count and sum: whoever puts, merges or forgets windows need not know of parts. Where
 * stacks are folded, what parts say is no longer what stacks say: a trigger lets them go.
 */
#ifndef SEAM_STORE_SQLITE_PARTS_H
#define SEAM_STORE_SQLITE_PARTS_H

#include "store/parts/summing.h"
#include "store/sqlite.h"

#define PARTS_SHORT_NS (600ULL * 1000000000)
#define PARTS_LONG_NS (3600ULL * 1000000000)

/* Which windows these are: how many were put, and when they began, added up. */
struct sqlite_begun {
	uint64_t n, sum;
};

struct sqlite_part {
	int64_t id;
	uint64_t from_ns, step_ns;
	struct sqlite_begun of, there; /* as it was made; as the store has them now */
};

/* Zero-initialise; sqlite_parts_free. */
struct sqlite_parts {
	struct sqlite_part *of; /* by time, the longest first */
	struct summed *sums;
	size_t n, capacity;
	bool heads; /* no frames are asked for: summed_open */
};

/* Whether there is such a table. 2: parts say by which rules they were made; -errno. */
int sqlite_has_parts(const struct sqlite_store *s, struct seam_error *err);
/* Finds parts in the query's span; nothing is known of what they stand for. -errno. */
int sqlite_parts_find(struct sqlite_parts *p, const struct sqlite_store *s, int64_t names,
                      const struct store_query *q, struct seam_error *err);
/* Looks which windows an epoch has: to be called for all epochs of the names. -errno. */
int sqlite_parts_check(struct sqlite_parts *p, const struct sqlite_store *s, int64_t epoch,
                       struct seam_error *err);
/* Keeps those that are what the store has, of two about the same time the longer one, and reads
 * them. -errno; -EBADMSG: one makes no sense. */
int sqlite_parts_load(struct sqlite_parts *p, const struct sqlite_store *s, struct seam_error *err);
/* Whether a window that begins then is in one. */
bool sqlite_parts_have(const struct sqlite_parts *p, uint64_t from_ns);
void sqlite_parts_free(struct sqlite_parts *p);

/* Adds a window, or those that became this one. -EBADMSG. */
int sqlite_begun_add(struct sqlite_begun *b, sqlite3_stmt *statement, int from, int begins);

/* Makes the parts of the query's span that are missing and over at now_ns, at most so many; 0: all
 * of them. Frames are what q->flat says. How many, or -errno. */
int64_t sqlite_sum_up(const struct sqlite_store *s, const struct store_query *q, uint64_t now_ns,
                      unsigned most, struct seam_error *err);
/* Lets go of parts that are older than all windows, and of those of names that are gone. In the
 * transaction of the caller. -errno. */
int sqlite_forget_parts(const struct sqlite_store *s, struct seam_error *err);

#endif
