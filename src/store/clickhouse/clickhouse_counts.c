// SPDX-License-Identifier: MIT
/*
 * clickhouse_counts.c: see clickhouse_reading.h: what a span's windows say of themselves, and what
 * was counted in them.
 *
 * Rows come as they are, and are added up here, where that is less than what the server would make
 * of them: a row has its labels once for all of its stacks. Where there are too many, the server
 * adds them up by stack.
 *
 * Nothing that the server says is trusted.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/leb.h"
#include "store/clickhouse/clickhouse_reading.h"
#include "store/found.h"

#define SERVICES_BYTES 50000u /* of a list of services, which a statement may have three times */
/* Counts of rows that come as they are: some 24 bytes each. */
#define ROWS_COUNTS (4u << 20)

/* ---- windows ---- */

int clickhouse_ask(struct clickhouse_reading *r, struct buf *sql,
                   int (*take)(struct clickhouse_reading *r, struct cursor *c))
{
	struct cursor c;
	int rc;

	http_answer_free(&r->answer);
	rc = clickhouse_query(r->c, sql, &r->answer, r->err);
	c = cursor_of(r->answer.body.bytes, r->answer.body.n, false);
	if (rc >= 0)
		rc = take(r, &c);
	if (rc >= 0 && c.failed)
		rc = -EBADMSG;
	buf_free(sql);
	return rc == -EBADMSG && !r->err->code ? clickhouse_bad(r->c, r->err) : rc;
}

/* Adds the values of one list of counts to those that have the names. -ENOMEM, -EBADMSG. */
static int clickhouse_take_values(struct clickhouse_reading *r, struct cursor *names,
                                  struct cursor *c)
{
	uint64_t n = leb_unsigned(names), n_values;
	struct cursor values = *names;

	for (uint64_t i = 0; i < n && !values.failed; i++)
		cursor_bytes(&values, leb_unsigned(&values));
	n_values = leb_unsigned(&values);
	if (values.failed || n_values != n)
		return -EBADMSG;
	for (uint64_t i = 0; i < n; i++) {
		const char *name = clickhouse_text(names, &r->text);

		if (found_add_count(r->found, name, cursor_u64(&values)) < 0)
			return -ENOMEM;
		if (names->failed || values.failed)
			return -EBADMSG;
	}
	*c = values;
	return 0;
}

/* Reads, for each list of names, the windows that have it, and the sums of their values. */
static int clickhouse_take_windows(struct clickhouse_reading *r, struct cursor *c)
{
	struct store_found *f = r->found;

	while (cursor_left(c)) {
		uint64_t n = cursor_u64(c), from = cursor_u64(c), to = cursor_u64(c);
		struct cursor names = *c;
		int rc;

		if (c->failed || from > INT64_MAX || to > INT64_MAX)
			return -EBADMSG;
		f->first_ns = !f->windows || from < f->first_ns ? from : f->first_ns;
		f->last_ns = to > f->last_ns ? to : f->last_ns;
		f->windows += n;
		rc = clickhouse_take_values(r, &names, c);
		if (rc < 0)
			return rc;
	}
	f->held_first_ns = f->first_ns;
	f->held_last_ns = f->last_ns;
	return c->failed ? -EBADMSG : 0;
}

static int clickhouse_take_held(struct clickhouse_reading *r, struct cursor *c)
{
	r->found->held_first_ns = cursor_u64(c);
	r->found->held_last_ns = cursor_u64(c);
	return 0;
}

/* How many series and counts of each service there are. */
static int clickhouse_take_series(struct clickhouse_reading *r, struct cursor *c)
{
	bool fits = true;

	while (cursor_left(c)) {
		const char *service = clickhouse_text(c, &r->text);

		r->found->series += cursor_u64(c);
		r->counts += cursor_u64(c);
		if (c->failed)
			return -EBADMSG;
		if (!fits)
			continue;
		buf_put_text(&r->services, r->services.n ? ", " : "");
		clickhouse_sql_text(&r->services, service);
		fits = r->services.n < SERVICES_BYTES;
	}
	if (!fits)
		buf_clear(&r->services);
	return r->services.failed ? -ENOMEM : 0;
}

/* The windows of the span and what they count: the server adds it up, as a fleet has a window for
 * each host and ten seconds. Most have the same names of counts. Lists of names come in the order
 * in which windows had them first, and so do names. */
static int clickhouse_read_span(struct clickhouse_reading *r)
{
	struct buf sql = { 0 };

	buf_put_text(&sql, "SELECT count(), min(from_ns) AS first, max(to_ns), count_names, "
	                   "sumForEach(count_values) FROM ");
	clickhouse_sql_table(r->c, &sql, "seam_windows");
	buf_put_text(&sql, " FINAL WHERE type = '' AND service = '' AND ");
	clickhouse_span_sql(&sql, r->q);
	buf_put_text(&sql, " GROUP BY count_names ORDER BY first, count_names FORMAT RowBinary");
	return clickhouse_ask(r, &sql, clickhouse_take_windows);
}

/* What the span has, what else the store has where that is nothing, and how many series the filter
 * lets through. */
int clickhouse_read_windows(struct clickhouse_reading *r)
{
	struct buf sql = { 0 };
	int rc = clickhouse_read_span(r);

	if (rc >= 0 && !r->found->windows) {
		buf_put_text(&sql, "SELECT min(from_ns), max(to_ns) FROM ");
		clickhouse_sql_table(r->c, &sql, "seam_windows");
		buf_put_text(&sql, " WHERE type = '' AND service = '' FORMAT RowBinary");
		rc = clickhouse_ask(r, &sql, clickhouse_take_held);
	}
	if (rc < 0)
		return rc;
	buf_put_text(&sql, "SELECT service, uniqExact(" CLICKHOUSE_SERIES
	                   "), toUInt64(sum(length(stacks))) FROM ");
	clickhouse_sql_table(r->c, &sql, "seam_windows");
	buf_printf(&sql, " WHERE %s GROUP BY service ORDER BY service FORMAT RowBinary",
	           buf_text(&r->where));
	rc = clickhouse_ask(r, &sql, clickhouse_take_series);
	/* What the index begins with: a host has few services. */
	if (r->services.n)
		buf_printf(&r->where, " AND service IN (%s)", buf_text(&r->services));
	return rc < 0 || !r->where.failed ? rc : -ENOMEM;
}

/* ---- counts ---- */

/* Reads what a row is counted under. -ENOMEM, -EBADMSG. */
static int clickhouse_take_key(struct clickhouse_reading *r, struct cursor *c, uint32_t *ret)
{
	struct clickhouse_row_key key = { .label = PROFILE_NOT_KEPT, .slice = PROFILE_NOT_KEPT };
	struct buf type = { 0 }, label = { 0 };
	unsigned unit;

	clickhouse_text(c, &type);
	unit = cursor_u8(c);
	key.event = unit > PROFILE_NANOSECONDS ? PROFILE_FAILED
	                                       : profile_event_in(r->into, buf_text(&type), unit);
	if (unit > PROFILE_NANOSECONDS)
		cursor_fail(c);
	key.comm = profile_string(r->into, clickhouse_text(c, &r->text));
	if (r->q->slice_ns)
		key.slice = cursor_u32(c);
	for (size_t i = 0; i < r->n_by && !c->failed; i++) {
		const char *value = clickhouse_text(c, &r->text);

		buf_put_text(&label, i ? ", " : "");
		buf_put_text(&label, *value ? value : "-");
	}
	if (profile_keeps(r->into) & PROFILE_KEEP_LABEL)
		key.label = profile_string(r->into, buf_text(&label));
	buf_free(&type);
	buf_free(&label);
	if (c->failed)
		return -EBADMSG;
	*ret = key.event == PROFILE_FAILED || key.comm == PROFILE_FAILED ? POOL_FAILED
	                                                                 : pool_put(&r->keys, &key);
	return *ret == POOL_FAILED ? -ENOMEM : 0;
}

/* Adds to what a key has of a stack. -ENOMEM. */
static int clickhouse_count(struct clickhouse_reading *r, uint32_t key, const unsigned char *stack,
                            uint64_t samples, uint64_t weight)
{
	struct clickhouse_pair pair = { key, pool_put(&r->stacks, stack) };
	uint32_t id = pair.stack == POOL_FAILED ? POOL_FAILED : pool_put(&r->pairs, &pair);

	if (id == POOL_FAILED || ARRAY_ROOM(&r->sums, &r->sums_capacity, r->n_sums + 1) < 0)
		return -ENOMEM;
	if (id > r->n_sums)
		r->sums[r->n_sums++] = (struct clickhouse_sum){ 0 };
	r->sums[id - 1].samples += samples;
	r->sums[id - 1].weight += weight;
	return 0;
}

/* Reads what the server has added up: a key, a stack, samples and weight. */
static int clickhouse_take_sums(struct clickhouse_reading *r, struct cursor *c)
{
	while (cursor_left(c)) {
		const unsigned char *stack;
		uint64_t samples, weight;
		uint32_t key;
		int rc = clickhouse_take_key(r, c, &key);

		if (rc < 0)
			return rc;
		stack = cursor_bytes(c, CLICKHOUSE_STACK);
		samples = cursor_u64(c);
		weight = cursor_u64(c);
		if (c->failed)
			return -EBADMSG;
		rc = clickhouse_count(r, key, stack, samples, weight);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* An array of numbers, over which the cursor steps; *n is how many the first one of a row has, and
 * each other one has to have. */
static struct cursor clickhouse_take_array(struct cursor *c, uint64_t *n, bool first)
{
	uint64_t has = leb_unsigned(c);
	struct cursor array = *c;

	*n = first ? has : *n;
	if (*n != has)
		cursor_fail(c);
	cursor_array(c, has, 8);
	return array;
}

/* Reads rows as windows have them: a key, what a sample weighs, stacks, samples and weights. */
static int clickhouse_take_rows(struct clickhouse_reading *r, struct cursor *c)
{
	while (cursor_left(c)) {
		struct cursor stacks, samples, weights;
		uint64_t each, n = 0;
		uint32_t key;
		int rc = clickhouse_take_key(r, c, &key);

		if (rc < 0)
			return rc;
		each = cursor_u64(c);
		stacks = clickhouse_take_array(c, &n, true);
		samples = clickhouse_take_array(c, &n, false);
		weights = clickhouse_take_array(c, &n, false);
		if (c->failed)
			return -EBADMSG;
		for (uint64_t i = 0; i < n && rc >= 0; i++) {
			uint64_t taken = cursor_u64(&samples);

			rc = clickhouse_count(r, key, cursor_bytes(&stacks, CLICKHOUSE_STACK),
			                      taken, cursor_u64(&weights) + taken * each);
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int clickhouse_by_column(void *ctx, size_t i, const char *key)
{
	struct buf *sql = ctx;

	clickhouse_label_sql(sql, key);
	return buf_printf(sql, " AS by%zu, ", i);
}

static int clickhouse_by_name(void *ctx, size_t i, const char *key)
{
	(void)key;
	return buf_printf(ctx, "by%zu, ", i);
}

static int clickhouse_by_count(void *ctx, size_t i, const char *key)
{
	(void)key;
	*(size_t *)ctx = i + 1;
	return 0;
}

/* The columns of a row's key. */
static void clickhouse_key_sql(struct clickhouse_reading *r, struct buf *sql)
{
	buf_put_text(sql, "SELECT type, unit, comm, ");
	if (r->q->slice_ns)
		buf_printf(sql, "toUInt32(intDiv(from_ns - %llu, %llu)) AS slice, ",
		           (unsigned long long)r->q->from_ns, (unsigned long long)r->q->slice_ns);
	clickhouse_each_by(r->q->by, clickhouse_by_column, sql);
}

/* Rows as they are, in the order of their own keys, so that an answer is the same each time. */
static int clickhouse_read_rows(struct clickhouse_reading *r)
{
	struct buf sql = { 0 };

	clickhouse_key_sql(r, &sql);
	buf_put_text(&sql, "weight_each, stacks, samples, weights FROM ");
	clickhouse_sql_table(r->c, &sql, "seam_windows");
	buf_printf(&sql,
	           " FINAL WHERE %s ORDER BY type, unit, comm, from_ns, service, version, host, "
	           "instance, label_keys, label_values FORMAT RowBinary",
	           buf_text(&r->where));
	return clickhouse_ask(r, &sql, clickhouse_take_rows);
}

/* What the server adds up, in an order of its own for the same reason. */
static int clickhouse_read_sums(struct clickhouse_reading *r)
{
	const char *const clauses[] = { " GROUP BY", " ORDER BY" };
	struct buf sql = { 0 };

	clickhouse_key_sql(r, &sql);
	buf_put_text(&sql,
	             "one_stack, sum(one_samples), sum(one_weight + one_samples * weight_each) "
	             "FROM ");
	clickhouse_sql_table(r->c, &sql, "seam_windows");
	buf_printf(&sql,
	           " FINAL ARRAY JOIN stacks AS one_stack, samples AS one_samples, weights AS "
	           "one_weight WHERE %s",
	           buf_text(&r->where));
	for (size_t i = 0; i < 2; i++) {
		buf_printf(&sql, "%s type, unit, comm, %s", clauses[i],
		           r->q->slice_ns ? "slice, " : "");
		clickhouse_each_by(r->q->by, clickhouse_by_name, &sql);
		buf_put_text(&sql, "one_stack");
	}
	buf_put_text(&sql, " FORMAT RowBinary");
	return clickhouse_ask(r, &sql, clickhouse_take_sums);
}

int clickhouse_read_counts(struct clickhouse_reading *r)
{
	int rc = clickhouse_each_by(r->q->by, clickhouse_by_count, &r->n_by);

	if (rc < 0)
		return rc;
	return r->counts <= ROWS_COUNTS ? clickhouse_read_rows(r) : clickhouse_read_sums(r);
}
