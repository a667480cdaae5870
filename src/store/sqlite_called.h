/* SPDX-License-Identifier: MIT */
/*
 * sqlite_called.h: what the functions of an SQLite store's roll-up are called. Their names are many
 * and long, and only those of an answer's first rows are looked at: so they lie in blocks, packed.
 *
 * rolled_functions   id: the first function's number; n: how many have numbers from there on; seen:
 *                    for each the hour it was met in, plus 1, as LEB128, packed: of the last hours
 *                    that have it, the others are behind that by at most a day; 0: it was let go
 *                    and has no name any more. data, packed, for each in the order of numbers: how
 *                    many bytes of the last one's name its own begins with, how many follow, these;
 *                    0 where its object is the last one's, else how long that is, plus 1, and it.
 *
 * A number means the same as long as an hour has it.
 */
#ifndef SEAM_STORE_SQLITE_CALLED_H
#define SEAM_STORE_SQLITE_CALLED_H

#include "store/sqlite.h"

#define CALLED_SCHEMA                                                                         \
	"CREATE TABLE IF NOT EXISTS rolled_functions (id INTEGER PRIMARY KEY, n INTEGER NOT " \
	"NULL, "                                                                              \
	"seen BLOB NOT NULL, data BLOB NOT NULL);"

struct called {
	const char *name, *object;
	int64_t id;
};

/* Finds or gives the number of each of n functions, all different, of an hour. In the transaction
 * of the caller. -errno; -EBADMSG, without an err: a block makes no sense. */
int sqlite_called_put(const struct sqlite_store *s, struct called *functions, size_t n,
                      int64_t hour, struct seam_error *err);
/* Names n functions, which are sorted by their numbers; one that is not known stays without.
 * Likewise. */
int sqlite_called_name(const struct sqlite_store *s, struct store_function **functions, size_t n,
                       struct seam_error *err);
/* Lets go of functions that no hour from this one on has. Likewise. */
int sqlite_called_forget(const struct sqlite_store *s, int64_t hour, struct seam_error *err);

#endif
