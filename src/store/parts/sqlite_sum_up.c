// SPDX-License-Identifier: MIT
/*
 * sqlite_sum_up.c: see sqlite_parts.h: parts are made, each in one transaction, and so from one
 * state of the store. An hour is that of its six short ones, as far as they are there: then no
 * stack is read again. Short ones stay for some hours, as the last hour that is asked for hardly
 * begins with one.
 */
#include "store/parts/sqlite_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "store/sqlite_counts.h"

/* When a part's last windows have come: one that comes later makes it be made anew. */
#define LATE_NS (60ULL * 1000000000)
/* How long short parts stay. */
#define SHORT_STAY_NS (3 * PARTS_LONG_NS)

static const char parts_schema[] =
        "CREATE TABLE IF NOT EXISTS parts (id INTEGER PRIMARY KEY, names INTEGER NOT NULL, "
        "step_ns INTEGER NOT NULL, from_ns INTEGER NOT NULL, windows INTEGER NOT NULL, "
        "begun INTEGER NOT NULL, data BLOB NOT NULL, rules INTEGER NOT NULL DEFAULT 1);"
        "CREATE UNIQUE INDEX IF NOT EXISTS parts_from ON parts (names, from_ns, step_ns);"
        "CREATE TRIGGER IF NOT EXISTS parts_folded AFTER UPDATE OF folded ON epochs WHEN "
        "old.folded >= 0 AND new.folded > 0 BEGIN DELETE FROM parts WHERE names = new.names AND "
        "from_ns + step_ns > (SELECT min(from_ns) FROM windows WHERE epoch = new.id) AND from_ns "
        "<= (SELECT max(from_ns) FROM windows WHERE epoch = new.id); END;";

/* Ten minutes of some names, or a part. */
struct sum_up_cell {
	int64_t names;
	uint64_t from_ns, step_ns;
	struct sqlite_begun begun;
};

struct sum_up_cells {
	struct sum_up_cell *of; /* by names, then by time, then the longest first */
	size_t n, capacity;
};

/* ---- what is missing ---- */

/* What the span has of each list of names, by ten minutes. -errno. */
static int sum_up_find_windows(struct sum_up_cells *c, const struct sqlite_store *s,
                               const struct store_query *q, struct seam_error *err)
{
	sqlite3_stmt *statement = sqlite_prepare(
	        s,
	        "SELECT names, windows.from_ns, begins FROM windows JOIN epochs ON epochs.id = "
	        "windows.epoch WHERE windows.from_ns >= ?1 AND windows.from_ns < ?2 ORDER BY "
	        "names, windows.from_ns",
	        err);
	int r;

	if (!statement)
		return -err->code;
	sqlite_bind_span(statement, q);
	while ((r = sqlite_step(s, statement, err)) > 0) {
		const uint64_t from = (uint64_t)sqlite3_column_int64(statement, 1);
		const struct sum_up_cell cell = { sqlite3_column_int64(statement, 0),
			                          from - from % PARTS_SHORT_NS,
			                          PARTS_SHORT_NS,
			                          { 0 } };
		const struct sum_up_cell *last = c->n ? &c->of[c->n - 1] : NULL;

		if (!last || last->names != cell.names || last->from_ns != cell.from_ns) {
			r = ARRAY_ROOM(&c->of, &c->capacity, c->n + 1);
			if (r < 0)
				break;
			c->of[c->n++] = cell;
		}
		r = sqlite_begun_add(&c->of[c->n - 1].begun, statement, 1, 2);
		if (r < 0)
			break;
	}
	sqlite3_finalize(statement);
	return r;
}

/* The parts of the span that are of use. -errno. */
static int sum_up_find_parts(struct sum_up_cells *c, const struct sqlite_store *s,
                             const struct store_query *q, struct seam_error *err)
{
	sqlite3_stmt *statement =
	        sqlite_prepare(s,
	                       "SELECT names, from_ns, step_ns, windows, begun FROM parts WHERE "
	                       "from_ns >= ?1 AND from_ns < ?2 AND rules = ?3 ORDER BY names, "
	                       "from_ns, step_ns DESC",
	                       err);
	int r;

	if (!statement)
		return -err->code;
	sqlite_bind_span(statement, q);
	sqlite3_bind_int64(statement, 3, SUMMED_RULES);
	while ((r = sqlite_step(s, statement, err)) > 0) {
		r = ARRAY_ROOM(&c->of, &c->capacity, c->n + 1);
		if (r < 0)
			break;
		c->of[c->n++] = (struct sum_up_cell){
			sqlite3_column_int64(statement, 0),
			(uint64_t)sqlite3_column_int64(statement, 1),
			(uint64_t)sqlite3_column_int64(statement, 2),
			{ (uint64_t)sqlite3_column_int64(statement, 3),
			  (uint64_t)sqlite3_column_int64(statement, 4) },
		};
	}
	sqlite3_finalize(statement);
	return r;
}

static int sum_up_order(const void *pa, const void *pb)
{
	const struct sum_up_cell *a = pa, *b = pb;

	if (a->names != b->names)
		return a->names < b->names ? -1 : 1;
	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	return (a->step_ns < b->step_ns) - (a->step_ns > b->step_ns);
}

/* Whether there is such a part. */
static bool sum_up_has(const struct sum_up_cells *parts, const struct sum_up_cell *cell)
{
	const struct sum_up_cell *part =
	        parts->n ? bsearch(cell, parts->of, parts->n, sizeof(*cell), sum_up_order) : NULL;

	return part && part->begun.n == cell->begun.n && part->begun.sum == cell->begun.sum;
}

/* Adds to the list of those that are to be made, unless it is there or not over yet. -ENOMEM. */
static int sum_up_want(struct sum_up_cells *wanted, const struct sum_up_cells *parts,
                       const struct sum_up_cell *cell, uint64_t now_ns)
{
	if (cell->from_ns + cell->step_ns + LATE_NS > now_ns || sum_up_has(parts, cell))
		return 0;
	if (ARRAY_ROOM(&wanted->of, &wanted->capacity, wanted->n + 1) < 0)
		return -ENOMEM;
	wanted->of[wanted->n++] = *cell;
	return 0;
}

/* Finds what is missing: hours that are over, and of the last ones ten minutes. -ENOMEM. */
static int sum_up_choose(struct sum_up_cells *wanted, const struct sum_up_cells *windows,
                         const struct sum_up_cells *parts, uint64_t now_ns)
{
	int r = 0;

	for (size_t from = 0, to; from < windows->n && r >= 0; from = to) {
		const struct sum_up_cell *first = &windows->of[from];
		struct sum_up_cell hour = { first->names,
			                    first->from_ns - first->from_ns % PARTS_LONG_NS,
			                    PARTS_LONG_NS,
			                    { 0 } };

		for (to = from; to < windows->n; to++) {
			const struct sum_up_cell *cell = &windows->of[to];

			if (cell->names != hour.names ||
			    cell->from_ns - hour.from_ns >= PARTS_LONG_NS)
				break;
			hour.begun.n += cell->begun.n;
			hour.begun.sum += cell->begun.sum;
			if (cell->from_ns + SHORT_STAY_NS > now_ns && r >= 0)
				r = sum_up_want(wanted, parts, cell, now_ns);
		}
		if (r >= 0)
			r = sum_up_want(wanted, parts, &hour, now_ns);
	}
	return r;
}

/* ---- making ---- */

/* The part that is made. */
struct sum_up {
	const struct sqlite_store *s;
	const struct store_query *q;
	struct seam_error *err;
	const struct sum_up_cell *cell;
	struct summing sums;
};

/* Adds a shorter part, if there is one that is what the store has. 1; 0: there is none; -errno. */
static int sum_up_short(struct sum_up *u, const struct store_query *q)
{
	struct sqlite_parts p = { 0 };
	sqlite3_stmt *epochs;
	int r = sqlite_parts_find(&p, u->s, u->cell->names, q, u->err);

	epochs = r < 0 || !p.n
	                 ? NULL
	                 : sqlite_prepare(u->s, "SELECT id FROM epochs WHERE names = ?1", u->err);
	if (epochs)
		sqlite3_bind_int64(epochs, 1, u->cell->names);
	while (epochs && (r = sqlite_step(u->s, epochs, u->err)) > 0) {
		r = sqlite_parts_check(&p, u->s, sqlite3_column_int64(epochs, 0), u->err);
		if (r < 0)
			break;
	}
	sqlite3_finalize(epochs);
	if (r >= 0 && p.n && !epochs)
		r = -u->err->code;
	if (r >= 0)
		r = sqlite_parts_load(&p, u->s, u->err);
	for (size_t i = 0; i < p.n && r >= 0; i++)
		r = summing_add(&u->sums, &p.sums[i]);
	r = r < 0 ? r : p.n > 0;
	sqlite_parts_free(&p);
	return r;
}

/* Adds up ten minutes of stacks, in pieces, so that memory is bounded. -errno. */
static int sum_up_stacks(struct sum_up *u, uint64_t from_ns)
{
	const uint64_t to_ns = from_ns + PARTS_SHORT_NS;
	const uint64_t piece = sqlite_counts_piece(u->s, from_ns, to_ns, u->err);
	int r = piece ? 0 : -u->err->code;

	for (uint64_t at = from_ns; at < to_ns && r >= 0; at += piece) {
		const struct store_query q = { .from_ns = at,
			                       .to_ns = at + piece < to_ns ? at + piece : to_ns,
			                       .flat = u->q->flat };

		r = sqlite_read_sums(u->s, &q, u->cell->names, &u->sums, u->err);
	}
	return r;
}

/* Adds up all of the part's time. -errno. */
static int sum_up_read(struct sum_up *u)
{
	const uint64_t end = u->cell->from_ns + u->cell->step_ns;
	int r = 0;

	for (uint64_t at = u->cell->from_ns; at < end && r >= 0; at += PARTS_SHORT_NS) {
		const struct store_query q = { .from_ns = at, .to_ns = at + PARTS_SHORT_NS };

		r = u->cell->step_ns > PARTS_SHORT_NS ? sum_up_short(u, &q) : 0;
		if (!r)
			r = sum_up_stacks(u, at);
	}
	return r;
}

/* What the part is made of, as the store has it now. -errno. */
static int sum_up_begun(const struct sum_up *u, struct sqlite_begun *ret)
{
	struct sum_up_cells windows = { 0 };
	const struct store_query q = { .from_ns = u->cell->from_ns,
		                       .to_ns = u->cell->from_ns + u->cell->step_ns };
	int r = sum_up_find_windows(&windows, u->s, &q, u->err);

	*ret = (struct sqlite_begun){ 0 };
	for (size_t i = 0; i < windows.n && r >= 0; i++)
		if (windows.of[i].names == u->cell->names) {
			ret->n += windows.of[i].begun.n;
			ret->sum += windows.of[i].begun.sum;
		}
	free(windows.of);
	return r;
}

/* Writes the part. Short ones go that are old. -errno. */
static int sum_up_put(struct sum_up *u, uint64_t now_ns)
{
	const uint64_t old_ns = now_ns > SHORT_STAY_NS ? now_ns - SHORT_STAY_NS : 0;
	struct buf packed = { 0 };
	struct sqlite_begun begun;
	int r = sum_up_begun(u, &begun);

	if (r >= 0)
		r = summing_pack(&u->sums, &packed, BLOCKS_WELL);
	if (r >= 0) {
		sqlite3_stmt *insert = sqlite_prepare(
		        u->s,
		        "INSERT OR REPLACE INTO parts (names, step_ns, from_ns, windows, begun, "
		        "data, rules) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
		        u->err);

		r = insert ? 0 : -u->err->code;
		if (r >= 0) {
			sqlite3_bind_int64(insert, 1, u->cell->names);
			sqlite3_bind_int64(insert, 2, (int64_t)u->cell->step_ns);
			sqlite3_bind_int64(insert, 3, (int64_t)u->cell->from_ns);
			sqlite3_bind_int64(insert, 4, (int64_t)begun.n);
			sqlite3_bind_int64(insert, 5, (int64_t)begun.sum);
			sqlite3_bind_blob(insert, 6, packed.bytes, (int)packed.n, SQLITE_STATIC);
			sqlite3_bind_int64(insert, 7, SUMMED_RULES);
			r = sqlite_step(u->s, insert, u->err);
		}
		sqlite3_finalize(insert);
	}
	buf_free(&packed);
	return r < 0 ? r
	             : sqlite_run(u->s, "DELETE FROM parts WHERE step_ns < ?1 AND from_ns < ?2",
	                          (int64_t[]){ PARTS_LONG_NS, (int64_t)old_ns }, 2, NULL, u->err);
}

/* Makes one part in one transaction. -errno. */
static int sum_up_make(const struct sqlite_store *s, const struct store_query *q,
                       const struct sum_up_cell *cell, uint64_t now_ns, struct seam_error *err)
{
	struct sum_up u = { .s = s, .q = q, .err = err, .cell = cell };
	int r = sqlite_do(s, "BEGIN IMMEDIATE", err);

	if (r < 0)
		return r;
	r = sum_up_read(&u);
	if (r >= 0)
		r = sum_up_put(&u, now_ns);
	if (r >= 0)
		r = sqlite_do(s, "COMMIT", err);
	if (r < 0)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	summing_free(&u.sums);
	return r;
}

/* The span is that of whole hours. */
int64_t sqlite_sum_up(const struct sqlite_store *s, const struct store_query *q, uint64_t now_ns,
                      unsigned most, struct seam_error *err)
{
	const uint64_t to_ns = q->to_ns < now_ns ? q->to_ns : now_ns;
	const struct store_query hours = { .from_ns = q->from_ns - q->from_ns % PARTS_LONG_NS,
		                           .to_ns = to_ns - to_ns % PARTS_SHORT_NS };
	struct sum_up_cells windows = { 0 }, parts = { 0 }, wanted = { 0 };
	int64_t made = 0;
	int r = sqlite_has_parts(s, err);

	/* Of an older seam, parts do not say by which rules they were made: the first ones. */
	if (r == 1)
		r = sqlite_do(s, "ALTER TABLE parts ADD COLUMN rules INTEGER NOT NULL DEFAULT 1",
		              err);
	else if (!r)
		r = sqlite_do(s, parts_schema, err);
	if (r >= 0)
		r = sum_up_find_windows(&windows, s, &hours, err);
	if (r >= 0)
		r = sum_up_find_parts(&parts, s, &hours, err);
	if (r >= 0)
		r = sum_up_choose(&wanted, &windows, &parts, now_ns);
	for (size_t i = 0; i < wanted.n && r >= 0 && (!most || (uint64_t)made < most); i++) {
		r = sum_up_make(s, q, &wanted.of[i], now_ns, err);
		made += r >= 0;
	}
	free(windows.of);
	free(parts.of);
	free(wanted.of);
	if (r == -EBADMSG && !err->code)
		seam_error_set(err, EBADMSG, s->path, SEAM_NO_OFFSET, NULL,
		               "the store is damaged: what it says of its stacks makes no sense");
	return r < 0 ? r : made;
}

/* Few, and looked for by an index. */
int sqlite_forget_parts(const struct sqlite_store *s, struct seam_error *err)
{
	int r = sqlite_has_parts(s, err);

	return r <= 0 ? r
	              : sqlite_run(s,
	                           "DELETE FROM parts WHERE from_ns + step_ns <= ifnull((SELECT "
	                           "min(from_ns) FROM windows), 9223372036854775807) OR names NOT "
	                           "IN (SELECT names FROM epochs)",
	                           NULL, 0, NULL, err);
}
