// SPDX-License-Identifier: MIT
// sqlite_names.c: see sqlite_merge.h: the small blocks of names that windows brought one by one
// become larger ones, which pack better and are fewer to fetch. Numbers stay; the writer goes on
// behind the last.
#include "store/sqlite_merge.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* A block is made of small ones until it has so many bytes, unpacked. It is then large enough to be
 * left alone, unless it packs very well. */
#define NAMES_PLAIN (256u << 10)
#define NAMES_LARGE (24u << 10) /* packed */

struct names_block {
	int64_t id, n, size;
};

struct sqlite_names {
	const struct sqlite_store *s;
	struct seam_error *err;
	struct names_block *blocks; /* of one kind, ascending */
	size_t n, capacity;
};

/* Finds the blocks of a kind. -errno. */
static int names_find(struct sqlite_names *l, int64_t names, int kind)
{
	sqlite3_stmt *statement = sqlite_prepare(l->s,
	                                         "SELECT id, n, length(data) FROM blocks WHERE "
	                                         "id >= ?1 AND id < ?2 ORDER BY id",
	                                         l->err);
	int r;

	if (!statement)
		return -l->err->code;
	l->n = 0;
	sqlite3_bind_int64(statement, 1, SQLITE_BLOCK_ID(names, kind, 0));
	sqlite3_bind_int64(statement, 2, SQLITE_BLOCK_ID(names, kind + 1, 0));
	while ((r = sqlite_step(l->s, statement, l->err)) > 0) {
		r = ARRAY_ROOM(&l->blocks, &l->capacity, l->n + 1);
		if (r < 0)
			break;
		l->blocks[l->n++] = (struct names_block){ sqlite3_column_int64(statement, 0),
			                                  sqlite3_column_int64(statement, 1),
			                                  sqlite3_column_int64(statement, 2) };
	}
	sqlite3_finalize(statement);
	return r;
}

/* Appends what is in a block. -errno. */
static int names_unpack(const struct sqlite_names *l, int64_t id, struct buf *plain)
{
	sqlite3_stmt *statement =
	        sqlite_prepare(l->s, "SELECT data FROM blocks WHERE id = ?1", l->err);
	const void *bytes;
	size_t n;
	int r;

	if (!statement)
		return -l->err->code;
	sqlite3_bind_int64(statement, 1, id);
	r = sqlite_step(l->s, statement, l->err);
	if (r > 0) {
		r = sqlite_blob(statement, 0, &bytes, &n);
		r = r < 0 ? r : blocks_unpack(plain, bytes, n);
	}
	sqlite3_finalize(statement);
	return r;
}

/* Puts one block in the place of some that follow on each other. -errno. */
static int names_replace(const struct sqlite_names *l, const struct names_block *first,
                         const struct names_block *last, struct buf *plain)
{
	const int64_t ends[] = { first->id, last->id };
	const int64_t numbers[] = { first->id, last->id + last->n - first->id };
	struct buf packed = { 0 };
	int r = blocks_pack(&packed, plain, BLOCKS_WELL);

	if (r >= 0)
		r = sqlite_run(l->s, "DELETE FROM blocks WHERE id >= ?1 AND id <= ?2", ends, 2,
		               NULL, l->err);
	if (r >= 0)
		r = sqlite_insert_blob(l->s, "INSERT INTO blocks (id, n, data) VALUES (?1, ?2, ?3)",
		                       numbers, 2, &packed, l->err);
	buf_free(&packed);
	return r;
}

/* Makes one block of the small ones from number `at` on, and sets *next to what is behind them. */
static int names_join(const struct sqlite_names *l, size_t at, size_t *next)
{
	const struct names_block *b = &l->blocks[at];
	struct buf plain = { 0 };
	size_t n = 0;
	int r = 0;

	while (at + n < l->n && r >= 0 && b[n].size < NAMES_LARGE && plain.n < NAMES_PLAIN &&
	       (!n || b[n].id == b[n - 1].id + b[n - 1].n)) {
		r = names_unpack(l, b[n].id, &plain);
		n++;
	}
	if (r >= 0 && n > 1)
		r = names_replace(l, b, &b[n - 1], &plain);
	buf_free(&plain);
	*next = at + (n ? n : 1);
	return r;
}

/* Of all kinds. */
int sqlite_join_names(const struct sqlite_store *s, int64_t names, struct seam_error *err)
{
	struct sqlite_names l = { .s = s, .err = err };
	int r = 0;

	for (int kind = 0; kind < BLOCKS_NODES && r >= 0; kind++) {
		r = names_find(&l, names, kind);
		for (size_t at = 0; at < l.n && r >= 0;)
			r = names_join(&l, at, &at);
	}
	free(l.blocks);
	return r;
}
