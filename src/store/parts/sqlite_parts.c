// SPDX-License-Identifier: MIT
// sqlite_parts.c: see sqlite_parts.h: which parts can stand for windows of a span, and what they
// have.
#include "store/parts/sqlite_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/leb.h"

int sqlite_has_parts(const struct sqlite_store *s, struct seam_error *err)
{
	int64_t n;
	int r = sqlite_run(s,
	                   "SELECT (SELECT count(*) FROM sqlite_master WHERE name = 'parts') + "
	                   "(SELECT count(*) FROM pragma_table_info('parts') WHERE name = 'rules')",
	                   NULL, 0, &n, err);

	return r < 0 ? r : (int)n;
}

void sqlite_parts_free(struct sqlite_parts *p)
{
	for (size_t i = 0; p->sums && i < p->n; i++)
		summed_free(&p->sums[i]);
	free(p->sums);
	free(p->of);
	*p = (struct sqlite_parts){ 0 };
}

/* ---- which there are ---- */

/* Where the query tells times apart, all of a part must be in one of its slices. */
static bool parts_one_slice(const struct store_query *q, const struct sqlite_part *part)
{
	const uint64_t first = part->from_ns - q->from_ns;

	return !q->slice_ns || first / q->slice_ns == (first + part->step_ns - 1) / q->slice_ns;
}

/* Takes rows: id, step_ns, from_ns, windows, begun. -errno. */
static int parts_take(struct sqlite_parts *p, const struct sqlite_store *s,
                      const struct store_query *q, sqlite3_stmt *statement, struct seam_error *err)
{
	int r;

	while ((r = sqlite_step(s, statement, err)) > 0) {
		const struct sqlite_part part = {
			.id = sqlite3_column_int64(statement, 0),
			.step_ns = (uint64_t)sqlite3_column_int64(statement, 1),
			.from_ns = (uint64_t)sqlite3_column_int64(statement, 2),
			.of = { (uint64_t)sqlite3_column_int64(statement, 3),
			        (uint64_t)sqlite3_column_int64(statement, 4) },
		};

		if (!parts_one_slice(q, &part))
			continue;
		if (ARRAY_ROOM(&p->of, &p->capacity, p->n + 1) < 0)
			return -ENOMEM;
		p->of[p->n++] = part;
	}
	return r;
}

/* A damaged store may have any numbers: only whole steps are taken, so that none overlap but those
 * of different length. Parts of other rules are none. */
int sqlite_parts_find(struct sqlite_parts *p, const struct sqlite_store *s, int64_t names,
                      const struct store_query *q, struct seam_error *err)
{
	sqlite3_stmt *statement;
	int r = sqlite_has_parts(s, err);

	if (r < 2)
		return r < 0 ? r : 0;
	statement = sqlite_prepare(
	        s,
	        "SELECT id, step_ns, from_ns, windows, begun FROM parts WHERE names = ?3 AND "
	        "rules = ?4 AND from_ns >= ?1 AND from_ns < ?2 AND step_ns IN (600000000000, "
	        "3600000000000) AND "
	        "from_ns % step_ns = 0 AND ?2 - from_ns >= step_ns ORDER BY from_ns, step_ns DESC",
	        err);
	if (!statement)
		return -err->code;
	sqlite_bind_span(statement, q);
	sqlite3_bind_int64(statement, 3, names);
	sqlite3_bind_int64(statement, 4, SUMMED_RULES);
	r = parts_take(p, s, q, statement, err);
	sqlite3_finalize(statement);
	return r;
}

/* The part of this length that begins then; NULL: there is none. */
static struct sqlite_part *parts_at(const struct sqlite_parts *p, uint64_t from_ns,
                                    uint64_t step_ns)
{
	size_t from = 0, to = p->n;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;
		struct sqlite_part *part = &p->of[middle];

		if (part->from_ns == from_ns && part->step_ns == step_ns)
			return part;
		if (part->from_ns < from_ns ||
		    (part->from_ns == from_ns && part->step_ns > step_ns))
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

static struct sqlite_part *parts_of(const struct sqlite_parts *p, uint64_t from_ns,
                                    uint64_t step_ns)
{
	return parts_at(p, from_ns - from_ns % step_ns, step_ns);
}

/* ---- what they stand for ---- */

/* The times of those that became one are told by how far each is behind the one before. */
int sqlite_begun_add(struct sqlite_begun *b, sqlite3_stmt *statement, int from, int begins)
{
	uint64_t at = (uint64_t)sqlite3_column_int64(statement, from);
	const void *bytes;
	struct cursor c;
	size_t n;

	if (sqlite_blob(statement, begins, &bytes, &n) < 0)
		return -ENOMEM;
	c = cursor_of(bytes, n, false);
	b->n++;
	b->sum += at;
	while (cursor_left(&c)) {
		at += leb_unsigned(&c);
		b->n++;
		b->sum += at;
	}
	return c.failed ? -EBADMSG : 0;
}

/* A window is in an hour and in ten minutes. */
int sqlite_parts_check(struct sqlite_parts *p, const struct sqlite_store *s, int64_t epoch,
                       struct seam_error *err)
{
	sqlite3_stmt *statement =
	        sqlite_prepare(s,
	                       "SELECT from_ns, begins FROM windows WHERE epoch = ?3 AND "
	                       "from_ns >= ?1 AND from_ns < ?2",
	                       err);
	int r;

	if (!statement)
		return -err->code;
	sqlite_bind_span(statement,
	                 &(struct store_query){ .from_ns = p->of[0].from_ns,
	                                        .to_ns = p->of[p->n - 1].from_ns + PARTS_LONG_NS });
	sqlite3_bind_int64(statement, 3, epoch);
	while ((r = sqlite_step(s, statement, err)) > 0) {
		const uint64_t from = (uint64_t)sqlite3_column_int64(statement, 0);
		struct sqlite_part *const parts[] = { parts_of(p, from, PARTS_LONG_NS),
			                              parts_of(p, from, PARTS_SHORT_NS) };

		for (size_t i = 0; i < 2 && r >= 0; i++)
			if (parts[i])
				r = sqlite_begun_add(&parts[i]->there, statement, 0, 1);
		if (r < 0)
			break;
	}
	sqlite3_finalize(statement);
	return r;
}

bool sqlite_parts_have(const struct sqlite_parts *p, uint64_t from_ns)
{
	return parts_of(p, from_ns, PARTS_LONG_NS) || parts_of(p, from_ns, PARTS_SHORT_NS);
}

/* ---- what they have ---- */

/* Reads a part. -EBADMSG: it makes no sense, or is of other rules than the table says. */
static int parts_open(struct summed *ret, const struct sqlite_store *s, int64_t id, bool frames,
                      struct seam_error *err)
{
	sqlite3_stmt *statement = sqlite_prepare(s, "SELECT data FROM parts WHERE id = ?1", err);
	const void *bytes;
	size_t n;
	int r;

	if (!statement)
		return -err->code;
	sqlite3_bind_int64(statement, 1, id);
	r = sqlite_step(s, statement, err);
	if (r >= 0)
		r = r ? sqlite_blob(statement, 0, &bytes, &n) : -EBADMSG;
	if (r >= 0)
		r = summed_open(ret, bytes, n, frames);
	sqlite3_finalize(statement);
	return r == -EPROTO ? -EBADMSG : r;
}

/* The longer one of two comes first. */
int sqlite_parts_load(struct sqlite_parts *p, const struct sqlite_store *s, struct seam_error *err)
{
	uint64_t until_ns = 0;
	size_t n = 0;
	int r = 0;

	if (!p->n)
		return 0;
	p->sums = calloc(p->n, sizeof(*p->sums));
	if (!p->sums)
		return -ENOMEM;
	for (size_t i = 0; i < p->n && r >= 0; i++) {
		const struct sqlite_part part = p->of[i];

		if (part.from_ns < until_ns || part.of.n != part.there.n ||
		    part.of.sum != part.there.sum)
			continue;
		r = parts_open(&p->sums[n], s, part.id, !p->heads, err);
		if (r < 0)
			break;
		p->of[n++] = part;
		until_ns = part.from_ns + part.step_ns;
	}
	p->n = n;
	return r;
}
