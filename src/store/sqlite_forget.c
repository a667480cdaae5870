// SPDX-License-Identifier: MIT
// sqlite_forget.c: see sqlite.h: old windows go, in small transactions, and what only they needed;
// then the file shrinks.
#include "store/sqlite_counts.h"
#include "store/sqlite_hours.h"

#include <stddef.h>

#include "store/parts/sqlite_parts.h"

#define FORGET_AT_ONCE 64                /* windows: so that a writer waits shortly */
#define FORGET_NS (3600ULL * 1000000000) /* by size, where windows are long */

/* Bytes that are in use, without free pages. -errno. */
int64_t sqlite_bytes(const struct sqlite_store *s, struct seam_error *err)
{
	int64_t pages, free_pages, size;

	if (sqlite_run(s, "PRAGMA page_count", NULL, 0, &pages, err) < 0 ||
	    sqlite_run(s, "PRAGMA freelist_count", NULL, 0, &free_pages, err) < 0 ||
	    sqlite_run(s, "PRAGMA page_size", NULL, 0, &size, err) < 0)
		return -err->code;
	return (pages - free_pages) * size;
}

/* Deletes an epoch that no window is of, and its names if they are no other's. */
int sqlite_drop_epoch(const struct sqlite_store *s, int64_t epoch, struct seam_error *err)
{
	int64_t names = 0, others = 0;
	int r = sqlite_run(s, "SELECT names FROM epochs WHERE id = ?1", &epoch, 1, &names, err);
	const int64_t nodes[] = { SQLITE_BLOCK_ID(epoch, BLOCKS_NODES, 0),
		                  SQLITE_BLOCK_ID(epoch + 1, 0, 0) };
	const int64_t rest[] = { SQLITE_BLOCK_ID(names, 0, 0),
		                 SQLITE_BLOCK_ID(names, BLOCKS_NODES, 0) };

	if (r >= 0)
		r = sqlite_run(s, "DELETE FROM blocks WHERE id >= ?1 AND id < ?2", nodes, 2, NULL,
		               err);
	if (r >= 0)
		r = sqlite_run(s, "DELETE FROM epochs WHERE id = ?1", &epoch, 1, NULL, err);
	if (r >= 0)
		r = sqlite_run(s, "SELECT count(*) FROM epochs WHERE names = ?1", &names, 1,
		               &others, err);
	if (r < 0 || others)
		return r;
	r = sqlite_run(s, "DELETE FROM blocks WHERE id >= ?1 AND id < ?2", rest, 2, NULL, err);
	return r < 0 ? r
	             : sqlite_run(s, "DELETE FROM series WHERE epoch = ?1", &names, 1, NULL, err);
}

/* Deletes what no window needs any more: epochs without windows, but for this writer's own. */
static int sqlite_forget_epochs(const struct sqlite_store *s, struct seam_error *err)
{
	int64_t gone = 0;
	int r;

	/* One at a time: there are few. */
	do {
		r = sqlite_run(s,
		               "SELECT id FROM epochs WHERE id <> ?1 AND NOT EXISTS "
		               "(SELECT 1 FROM windows WHERE epoch = epochs.id) LIMIT 1",
		               &s->epoch, 1, &gone, err);
		if (r >= 0 && gone)
			r = sqlite_drop_epoch(s, gone, err);
	} while (r >= 0 && gone);
	return r;
}

/* Deletes the oldest windows, at most FORGET_AT_ONCE of those that begin, and end, before a time.
 * How many. */
static int sqlite_forget_some(const struct sqlite_store *s, uint64_t begin_ns, uint64_t end_ns,
                              struct seam_error *err)
{
	const int64_t numbers[] = { begin_ns > INT64_MAX ? INT64_MAX : (int64_t)begin_ns,
		                    end_ns > INT64_MAX ? INT64_MAX : (int64_t)end_ns,
		                    FORGET_AT_ONCE };
	/* It takes the write lock at once: a transaction that begins by reading could not get it
	 * later. */
	int64_t n;
	int r = sqlite_do(s, "BEGIN IMMEDIATE", err);

	if (r < 0)
		return r;
	r = sqlite_run(s,
	               "DELETE FROM counts WHERE window IN (SELECT id FROM windows WHERE "
	               "from_ns < ?1 AND to_ns <= ?2 ORDER BY from_ns, id LIMIT ?3)",
	               numbers, 3, NULL, err);
	if (r >= 0)
		r = sqlite_run(s,
		               "DELETE FROM counted WHERE id IN (SELECT counted.id FROM (SELECT "
		               "id FROM windows WHERE from_ns < ?1 AND to_ns <= ?2 ORDER BY "
		               "from_ns, id LIMIT ?3) AS w CROSS JOIN counted ON " SQLITE_PIECES_OF(
		                       "w.id") ")",
		               numbers, 3, NULL, err);
	if (r >= 0)
		r = sqlite_run(s,
		               "DELETE FROM windows WHERE id IN (SELECT id FROM windows WHERE "
		               "from_ns < ?1 AND to_ns <= ?2 ORDER BY from_ns, id LIMIT ?3)",
		               numbers, 3, NULL, err);
	n = r < 0 ? 0 : sqlite3_changes(s->db);
	if (r >= 0 && n)
		r = sqlite_forget_epochs(s, err);
	if (r >= 0 && n)
		r = sqlite_forget_hours(s, err);
	if (r >= 0 && n)
		r = sqlite_forget_parts(s, err);
	if (r >= 0)
		r = sqlite_do(s, "COMMIT", err);
	if (r < 0)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return r < 0 ? r : (int)n;
}

/* Deletes the oldest windows, an hour of them at most, until the file is small enough. How many. */
static int64_t sqlite_forget_most(const struct sqlite_store *s, uint64_t bytes,
                                  struct seam_error *err)
{
	int64_t all = 0, now, first, n = 1;

	while (n > 0) {
		now = sqlite_bytes(s, err);
		if (now < 0 || (uint64_t)now <= bytes)
			return now < 0 ? now : all;
		if (sqlite_run(s, "SELECT min(from_ns) FROM windows", NULL, 0, &first, err) < 0)
			return -err->code;
		n = sqlite_forget_some(s, (uint64_t)first + FORGET_NS, UINT64_MAX, err);
		all += n > 0 ? n : 0;
	}
	return n < 0 ? n : all;
}

/* Forgets in small transactions, then gives the pages back to the file system. from_ns: windows
 * that are over before it go; bytes: then the oldest, until the file is that small (0: no bound).
 * How many, or -errno. */
int64_t sqlite_forget(void *store, uint64_t from_ns, uint64_t bytes, struct seam_error *err)
{
	struct sqlite_store *s = store;
	struct seam_error why = { 0 };
	int64_t all = 0, n;

	while ((n = sqlite_forget_some(s, from_ns, from_ns, &why)) > 0)
		all += n;
	if (n >= 0 && bytes)
		n = sqlite_forget_most(s, bytes, &why);
	if (n > 0)
		all += n;
	if (n >= 0 && all && sqlite_do(s, "PRAGMA incremental_vacuum", &why) < 0)
		n = -why.code;
	if (n >= 0 && all)
		sqlite_trim_log(s);
	if (n < 0 && err)
		*err = why;
	return n < 0 ? n : all;
}
