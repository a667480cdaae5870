/* SPDX-License-Identifier: MIT */
/*
 * sqlite_counts.h: what was counted in a window, as the SQLite store keeps it: the bytes of
 * counted.h in pieces, which are rows of the table `counted` next to each other. In stores of
 * version 3 it was a row of the table `counts` for each series and event; such rows are still read,
 * and compaction writes them anew.
 */
#ifndef SEAM_STORE_SQLITE_COUNTS_H
#define SEAM_STORE_SQLITE_COUNTS_H

#include "store/sqlite.h"
#include "store/stacks/counted.h"

/* Of a window's id in that of its pieces. A window has fewer pieces: blocks_unpack's limit. */
#define SQLITE_PIECES 20
/* What pieces' ids are compared with, as SQL: of the window `window`. */
#define SQLITE_PIECES_OF(window) \
	"counted.id >= " window " << 20 AND counted.id < (" window " + 1) << 20"

/* -errno. */
int sqlite_put_counts(const struct sqlite_store *s, int64_t window, struct counted_group *groups,
                      size_t n, enum blocks_level level, struct seam_error *err);

/* How long a piece of a span of whole minutes may be, so that its stacks take bounded memory. 0:
 * err says why. */
uint64_t sqlite_counts_piece(const struct sqlite_store *s, uint64_t from_ns, uint64_t to_ns,
                             struct seam_error *err);

/* Reads windows' counts, with statements of its own. Zero-initialise; sqlite_counts_end. */
struct sqlite_counts {
	const struct sqlite_store *s;
	sqlite3_stmt *pieces, *rows;
	struct buf packed;
};

int sqlite_counts_start(struct sqlite_counts *c, const struct sqlite_store *s,
                        struct seam_error *err);
/* As counted_each. -EBADMSG, without an err: what the store has makes no sense. */
int sqlite_counts_each(struct sqlite_counts *c, int64_t window, const struct counted_reader *to,
                       struct seam_error *err);
void sqlite_counts_end(struct sqlite_counts *c);

#endif
