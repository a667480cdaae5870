/* SPDX-License-Identifier: MIT */
/*
 * sqlite_hours.h: the roll-up by function and hour of an SQLite store: sqlite_hours.c makes it,
 * sqlite_functions.c answers from it. Its tables are there once an hour was rolled up; a seam that
 * does not know them leaves them alone.
 *
 * rolled_hours      hours (since the epoch) that are rolled up. A window that is put makes its hour
 *                   go from here, whoever puts it; one that was merged holds what was there before.
 * rolled_sums       an hour of one event, service and version: what all samples weigh, and the
 *                   functions (sqlite_hours_put)
 * rolled_functions  names in objects (sqlite_called.h)
 *
 * A function counts once for each stack, however often it is in it.
 */
#ifndef SEAM_STORE_SQLITE_HOURS_H
#define SEAM_STORE_SQLITE_HOURS_H

#include "store/sqlite.h"

#define HOURS_S 3600u
#define HOURS_NS (HOURS_S * 1000000000ULL)
#define HOURS_LATE_NS (600 * 1000000000ULL) /* when an hour's last windows have come */

/* Whether there is a roll-up. -errno. */
int sqlite_has_hours(const struct sqlite_store *s, struct seam_error *err);
/* The span of whole hours that a query touches, in hours. */
void sqlite_hours_span(const struct store_query *q, int64_t *from, int64_t *to);
/* Lets go of hours before the oldest window, and of functions that no other hour has. In the
 * transaction of the caller. -errno. */
int sqlite_forget_hours(const struct sqlite_store *s, struct seam_error *err);

/* Functions in bytes: for each, in the order of ids, how far its id is behind the last one's, its
 * self and its total, as LEB128. */
static inline void sqlite_hours_put(struct buf *to, uint64_t id_behind, uint64_t self,
                                    uint64_t total)
{
	blocks_put_number(to, id_behind);
	blocks_put_number(to, self);
	blocks_put_number(to, total);
}

/* Those of backend.h. */
int sqlite_roll_up(void *s, const struct store_query *q, uint64_t now_ns, unsigned most,
                   struct store_rolled *ret, struct seam_error *err);
int sqlite_functions(void *s, const struct store_query *q, unsigned limit,
                     struct store_functions *ret, struct seam_error *err);

#endif
