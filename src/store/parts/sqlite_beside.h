/* SPDX-License-Identifier: MIT */
/*
 * sqlite_beside.h: sums by frame (summed.h) beside the windows of the last hour, each written with
 * its window: so that what is too new for a part, and what is at the edges of a span, needs no
 * stacks either. Their table is there once a window was put with them; a seam that does not know it
 * leaves it alone, and a trigger lets sums go with their windows, whoever lets these go.
 *
 * beside   id: the window's; from_ns: when that begins
 */
#ifndef SEAM_STORE_SQLITE_BESIDE_H
#define SEAM_STORE_SQLITE_BESIDE_H

#include "store/parts/summing.h"
#include "store/sqlite.h"

/* How long they stay: an hour that ends now has its first ten minutes at an edge. And how much all
 * may take: two CPUs have half of it, 64 the last quarter of an hour, which has no parts yet. */
#define BESIDE_STAY_NS (4500ULL * 1000000000)
#define BESIDE_BYTES (4u << 20)

/* Whether there is such a table. -errno. */
int sqlite_has_beside(const struct sqlite_store *s, struct seam_error *err);
/* Writes sums beside a window, and lets those go that are too old or too much then. In the
 * transaction of the caller; the sums are of no use behind that. -errno. */
int sqlite_put_beside(const struct sqlite_store *s, int64_t window, uint64_t from_ns,
                      struct summing *sums, struct seam_error *err);
/* Reads windows' sums. Zero-initialise; sqlite_beside_end. */
struct sqlite_beside {
	const struct sqlite_store *s;
	sqlite3_stmt *find; /* NULL: there is no such table */
	bool heads;         /* no frames are asked for: summed_open */
};

int sqlite_beside_start(struct sqlite_beside *b, const struct sqlite_store *s,
                        struct seam_error *err);
/* The sums of a window. 1; 0: it has none that are of use; -errno; -EBADMSG, without an err. */
int sqlite_beside_open(struct sqlite_beside *b, int64_t window, struct summed *ret,
                       struct seam_error *err);
void sqlite_beside_end(struct sqlite_beside *b);

#endif
