// SPDX-License-Identifier: MIT
/*
 * sqlite_counts.c: see sqlite_counts.h.
 *
 * Rows with an integer as their key that come in order fill SQLite's pages, and small ones leave
 * little at a page's end. A row for each series and event, by these, took twice the bytes that were
 * in it.
 */
#include "store/sqlite_counts.h"

#include <errno.h>

/* Bytes of a piece. */
#define PIECE 500u
#define MINUTE_NS (60 * 1000000000ULL)
/* Of counts as they are stored, at once: of them some twelve megabytes of memory. Names are looked
 * up anew for each piece. */
#define AT_ONCE_BYTES (192 << 10)

/* A window that could not have so many pieces is of a store that is damaged. */
static bool counts_window_fits(int64_t window)
{
	return window >= 0 && window < (int64_t)1 << (62 - SQLITE_PIECES);
}

/* Writes what was packed, piece by piece. -errno. */
static int counts_put_pieces(const struct sqlite_store *s, int64_t window, const struct buf *packed,
                             struct seam_error *err)
{
	sqlite3_stmt *statement =
	        sqlite_prepare(s, "INSERT INTO counted (id, data) VALUES (?1, ?2)", err);
	int r = statement ? 0 : -err->code;

	for (size_t at = 0; at < packed->n && r >= 0; at += PIECE) {
		const size_t n = packed->n - at < PIECE ? packed->n - at : PIECE;

		sqlite3_bind_int64(statement, 1, window << SQLITE_PIECES | (int64_t)(at / PIECE));
		sqlite3_bind_blob(statement, 2, packed->bytes + at, (int)n, SQLITE_STATIC);
		r = sqlite_step(s, statement, err);
		sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
	return r;
}

/* A window in which nothing was counted has no pieces. */
int sqlite_put_counts(const struct sqlite_store *s, int64_t window, struct counted_group *groups,
                      size_t n, enum blocks_level level, struct seam_error *err)
{
	struct buf packed = { 0 };
	int r;

	if (!n)
		return 0;
	r = counted_put(&packed, groups, n, level);
	if (r >= 0 && (packed.n > BLOCKS_BYTES_MAX || !counts_window_fits(window)))
		r = seam_error_set(err, EFBIG, s->path, SEAM_NO_OFFSET, NULL,
		                   "the store has no room for so many counts in a window");
	if (r >= 0)
		r = counts_put_pieces(s, window, &packed, err);
	buf_free(&packed);
	return r;
}

/* ---- reading ---- */

uint64_t sqlite_counts_piece(const struct sqlite_store *s, uint64_t from_ns, uint64_t to_ns,
                             struct seam_error *err)
{
	const int64_t span[] = { (int64_t)from_ns, (int64_t)to_ns };
	int64_t bytes, minutes = (int64_t)((to_ns - from_ns) / MINUTE_NS);

	if (sqlite_run(s,
	               "SELECT ifnull(sum(length(counted.data)), 0) + (SELECT "
	               "ifnull(sum(length(counts.data)), 0) FROM windows CROSS JOIN counts ON "
	               "counts.window = windows.id WHERE windows.from_ns >= ?1 AND "
	               "windows.from_ns < ?2) FROM windows CROSS JOIN counted ON " SQLITE_PIECES_OF(
	                       "windows.id") " WHERE windows.from_ns >= ?1 AND "
	                                     "windows.from_ns < ?2",
	               span, 2, &bytes, err) < 0)
		return 0;
	if (bytes > AT_ONCE_BYTES)
		minutes = minutes * (int64_t)AT_ONCE_BYTES / bytes;
	return (uint64_t)(minutes > 1 ? minutes : 1) * MINUTE_NS;
}

int sqlite_counts_start(struct sqlite_counts *c, const struct sqlite_store *s,
                        struct seam_error *err)
{
	c->s = s;
	c->pieces = sqlite_prepare(s, "SELECT id, data FROM counted WHERE " SQLITE_PIECES_OF("?1"),
	                           err);
	c->rows = c->pieces ? sqlite_prepare(s,
	                                     "SELECT series, event, samples, data FROM counts "
	                                     "WHERE window = ?1",
	                                     err)
	                    : NULL;
	return c->rows ? 0 : -err->code;
}

void sqlite_counts_end(struct sqlite_counts *c)
{
	sqlite3_finalize(c->pieces);
	sqlite3_finalize(c->rows);
	buf_free(&c->packed);
}

/* Puts the pieces of a window together. -EBADMSG: one is missing; -errno. */
static int counts_take_pieces(struct sqlite_counts *c, int64_t window, struct seam_error *err)
{
	int64_t next = window << SQLITE_PIECES;
	const void *bytes;
	size_t n;
	int r;

	buf_clear(&c->packed);
	while ((r = sqlite_step(c->s, c->pieces, err)) > 0) {
		r = sqlite_blob(c->pieces, 1, &bytes, &n);
		if (r < 0)
			return r;
		if (sqlite3_column_int64(c->pieces, 0) != next++ ||
		    n > BLOCKS_BYTES_MAX - c->packed.n)
			return -EBADMSG;
		r = buf_put(&c->packed, bytes, n);
		if (r < 0)
			return r;
	}
	return r;
}

/* Hands the rows that a store of version 3 has of a window to the reader. */
static int counts_each_row(struct sqlite_counts *c, const struct counted_reader *to,
                           struct seam_error *err)
{
	int r;

	while ((r = sqlite_step(c->s, c->rows, err)) > 0) {
		const struct counted_head head = {
			.series = (uint64_t)sqlite3_column_int64(c->rows, 0),
			.event = (uint64_t)sqlite3_column_int64(c->rows, 1),
			.samples = (uint64_t)sqlite3_column_int64(c->rows, 2),
		};
		const void *bytes;
		unsigned unit;
		size_t n;

		r = to->group(to->ctx, &head);
		if (r <= 0) {
			if (r < 0)
				return r;
			continue;
		}
		r = sqlite_blob(c->rows, 3, &bytes, &n);
		if (r >= 0)
			r = blocks_each_count(bytes, n, &unit, to->each, to->ctx);
		if (r >= 0 && unit != (unsigned)(head.event & 1))
			r = -EBADMSG;
		if (r < 0)
			return r;
	}
	return r;
}

/* What is in either table. */
int sqlite_counts_each(struct sqlite_counts *c, int64_t window, const struct counted_reader *to,
                       struct seam_error *err)
{
	int r = counts_window_fits(window) ? 0 : -EBADMSG;

	if (r < 0)
		return r;
	sqlite3_bind_int64(c->pieces, 1, window);
	r = counts_take_pieces(c, window, err);
	/* A statement that was used holds its rows until it is reset. */
	sqlite3_reset(c->pieces);
	if (r >= 0 && c->packed.n)
		r = counted_each(c->packed.bytes, c->packed.n, to);
	if (r < 0)
		return r;
	sqlite3_bind_int64(c->rows, 1, window);
	r = counts_each_row(c, to, err);
	sqlite3_reset(c->rows);
	return r;
}
