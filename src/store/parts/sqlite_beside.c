// SPDX-License-Identifier: MIT
// sqlite_beside.c: see sqlite_beside.h.
#include "store/parts/sqlite_beside.h"

#include <errno.h>

static const char beside_schema[] =
        "CREATE TABLE IF NOT EXISTS beside (id INTEGER PRIMARY KEY, from_ns INTEGER NOT NULL, "
        "data BLOB NOT NULL);"
        "CREATE INDEX IF NOT EXISTS beside_from ON beside (from_ns);"
        "CREATE TRIGGER IF NOT EXISTS beside_windows AFTER DELETE ON windows BEGIN DELETE FROM "
        "beside WHERE id = old.id; END;";

int sqlite_has_beside(const struct sqlite_store *s, struct seam_error *err)
{
	int64_t n;
	int r = sqlite_run(s, "SELECT count(*) FROM sqlite_master WHERE name = 'beside'", NULL, 0,
	                   &n, err);

	return r < 0 ? r : n > 0;
}

/* Lets old ones go. Each time one more comes at most: so two at once are enough where there is too
 * much. -errno. */
static int beside_trim(const struct sqlite_store *s, uint64_t from_ns, struct seam_error *err)
{
	const int64_t old = (int64_t)from_ns - (int64_t)BESIDE_STAY_NS;
	int64_t bytes;
	int r = sqlite_run(s, "DELETE FROM beside WHERE from_ns < ?1", &old, 1, NULL, err);

	if (r >= 0)
		r = sqlite_run(s, "SELECT sum(length(data)) FROM beside", NULL, 0, &bytes, err);
	if (r < 0 || bytes <= BESIDE_BYTES)
		return r;
	return sqlite_run(s,
	                  "DELETE FROM beside WHERE id IN (SELECT id FROM beside ORDER BY from_ns "
	                  "LIMIT 2)",
	                  NULL, 0, NULL, err);
}

/* The table comes with the first of them, so that a store without has none. */
int sqlite_put_beside(const struct sqlite_store *s, int64_t window, uint64_t from_ns,
                      struct summing *sums, struct seam_error *err)
{
	const int64_t numbers[] = { window, (int64_t)from_ns };
	struct buf packed = { 0 };
	int r = sqlite_has_beside(s, err);

	if (!r)
		r = sqlite_do(s, beside_schema, err);
	if (r >= 0)
		r = summing_pack(sums, &packed, BLOCKS_QUICK);
	if (r >= 0)
		r = sqlite_insert_blob(s, "INSERT INTO beside VALUES (?1, ?2, ?3)", numbers, 2,
		                       &packed, err);
	buf_free(&packed);
	return r < 0 ? r : beside_trim(s, from_ns, err);
}

int sqlite_beside_start(struct sqlite_beside *b, const struct sqlite_store *s,
                        struct seam_error *err)
{
	int r = sqlite_has_beside(s, err);

	b->s = s;
	if (r <= 0)
		return r;
	b->find = sqlite_prepare(s, "SELECT data FROM beside WHERE id = ?1", err);
	return b->find ? 0 : -err->code;
}

/* Sums that were made by other rules are none. */
int sqlite_beside_open(struct sqlite_beside *b, int64_t window, struct summed *ret,
                       struct seam_error *err)
{
	const void *bytes;
	size_t n;
	int r;

	if (!b->find)
		return 0;
	sqlite3_reset(b->find);
	sqlite3_bind_int64(b->find, 1, window);
	r = sqlite_step(b->s, b->find, err);
	if (r <= 0)
		return r;
	r = sqlite_blob(b->find, 0, &bytes, &n);
	if (r >= 0)
		r = summed_open(ret, bytes, n, !b->heads);
	return r == -EPROTO ? 0 : r < 0 ? r : 1;
}

void sqlite_beside_end(struct sqlite_beside *b)
{
	sqlite3_finalize(b->find);
	*b = (struct sqlite_beside){ 0 };
}
