// SPDX-License-Identifier: MIT
// clickhouse_list.c: see clickhouse.h: the series that a server has.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/leb.h"
#include "store/clickhouse/clickhouse.h"

/* A label of a row. -ENOMEM, -EBADMSG. */
static int clickhouse_take_label(struct labels *l, const char *key, const char *value)
{
	int r = labels_set(l, key, value);

	return r == -E2BIG || r == -EINVAL ? -EBADMSG : r;
}

/* Reads the labels of a series: four columns, then two arrays. */
static int clickhouse_take_labels(struct cursor *c, struct labels *l)
{
	static const char *const columns[] = { "service", "version", "host", "comm" };
	struct buf key = { 0 }, value = { 0 };
	struct cursor values;
	uint64_t n;
	int r = 0;

	for (size_t i = 0; i < 4 && r >= 0; i++)
		r = clickhouse_take_label(l, columns[i], clickhouse_text(c, &value));
	n = leb_unsigned(c);
	values = *c;
	for (uint64_t i = 0; i < n && !values.failed; i++)
		cursor_bytes(&values, leb_unsigned(&values));
	if (leb_unsigned(&values) != n)
		cursor_fail(&values);
	for (uint64_t i = 0; i < n && !values.failed && r >= 0; i++) {
		clickhouse_text(c, &key);
		r = clickhouse_take_label(l, buf_text(&key), clickhouse_text(&values, &value));
	}
	if (c->failed || values.failed)
		r = -EBADMSG;
	*c = values;
	buf_free(&key);
	buf_free(&value);
	return r;
}

/* Takes the values of the query's `by`, in its order. */
struct list_by {
	struct cursor *at;
	struct labels *into;
};

static int clickhouse_take_by(void *ctx, size_t i, const char *key)
{
	struct list_by *b = ctx;
	struct buf value = { 0 };
	int r;

	(void)i;
	r = clickhouse_take_label(b->into, key, clickhouse_text(b->at, &value));
	buf_free(&value);
	return b->at->failed ? -EBADMSG : r;
}

/* Reads all series, with the values of `by`; NULL: with all of their labels. What is read is in the
 * list before it is whole, and is freed with it. */
static int clickhouse_take_list(struct cursor *c, const char *by, struct store_listing *l)
{
	size_t capacity = 0;

	while (cursor_left(c)) {
		struct store_series *s;
		int r;

		if (ARRAY_ROOM(&l->series, &capacity, l->n + 1) < 0)
			return -ENOMEM;
		s = &l->series[l->n++];
		*s = (struct store_series){ 0 };
		r = by ? clickhouse_each_by(by, clickhouse_take_by,
		                            &(struct list_by){ c, &s->labels })
		       : clickhouse_take_labels(c, &s->labels);
		if (r < 0)
			return r;
		s->windows = cursor_u64(c);
		s->samples = cursor_u64(c);
		s->first_ns = cursor_u64(c);
		s->last_ns = cursor_u64(c);
	}
	return c->failed ? -EBADMSG : 0;
}

static int clickhouse_list_order(const void *a, const void *b)
{
	return labels_order(&((const struct store_series *)a)->labels,
	                    &((const struct store_series *)b)->labels);
}

/* How much the server's parts of the tables take; in a cluster, of this server alone. */
static int clickhouse_list_bytes(struct clickhouse *c, struct store_listing *l,
                                 struct seam_error *err)
{
	struct http_answer answer;
	struct buf sql = { 0 };
	struct cursor at;
	int r;

	buf_put_text(&sql, "SELECT toUInt64(sum(bytes_on_disk)) FROM system.parts WHERE active AND "
	                   "table LIKE 'seam%' AND database = ");
	if (*c->database)
		buf_printf(&sql, "'%.*s'", (int)strlen(c->database) - 1, c->database);
	else
		buf_put_text(&sql, "currentDatabase()");
	buf_put_text(&sql, " FORMAT RowBinary");
	r = clickhouse_query(c, &sql, &answer, err);
	at = cursor_of(answer.body.bytes, answer.body.n, false);
	if (r >= 0)
		l->bytes = cursor_u64(&at);
	http_answer_free(&answer);
	buf_free(&sql);
	/* A user may lack the right to look. */
	return r == -ENOMEM ? r : 0;
}

static int clickhouse_by_place(void *ctx, size_t i, const char *key)
{
	clickhouse_label_sql(ctx, key);
	return buf_printf(ctx, " AS by%zu, ", i);
}

static int clickhouse_by_group(void *ctx, size_t i, const char *key)
{
	(void)key;
	return buf_printf(ctx, "%sby%zu", i ? ", " : "", i);
}

#define LIST_LABELS "service, version, host, comm, label_keys, label_values"
#define LIST_SERIES "uniqExact(" CLICKHOUSE_SERIES ")"

/* What is counted of a group, and of what: of series that are kept, or of windows. */
static void clickhouse_list_sums(struct clickhouse *c, const struct store_query *q, bool by,
                                 const struct clickhouse_series *kept, struct buf *sql)
{
	struct buf series = { 0 };

	if (clickhouse_series_sql(c, kept, q, &series)) {
		buf_put_text(sql, by ? LIST_SERIES : "toUInt64(sum(some))");
		buf_printf(sql, ", toUInt64(sum(taken)), min(first), max(last) FROM %s",
		           buf_text(&series));
	} else {
		buf_put_text(sql, by ? LIST_SERIES : "uniqExact((instance, from_ns))");
		buf_put_text(sql, ", toUInt64(sum(arraySum(samples))), min(from_ns), max(to_ns) "
		                  "FROM ");
		clickhouse_sql_table(c, sql, "seam_windows");
		buf_put_text(sql, " FINAL WHERE ");
		clickhouse_where_sql(sql, q);
	}
	sql->failed |= series.failed;
	buf_free(&series);
}

/* Asks for the series; the server makes one of those with the same values of `by` (NULL: none), and
 * counts them. */
static int clickhouse_list_series(struct clickhouse *c, const struct store_query *q, const char *by,
                                  const struct clickhouse_series *kept, struct store_listing *ret,
                                  struct seam_error *err)
{
	struct http_answer answer;
	struct buf sql = { 0 };
	struct cursor at;
	int r;

	buf_put_text(&sql, "SELECT ");
	if (by)
		clickhouse_each_by(by, clickhouse_by_place, &sql);
	else
		buf_put_text(&sql, LIST_LABELS ", ");
	clickhouse_list_sums(c, q, by, kept, &sql);
	buf_put_text(&sql, " GROUP BY ");
	if (by)
		clickhouse_each_by(by, clickhouse_by_group, &sql);
	else
		buf_put_text(&sql, LIST_LABELS);
	buf_put_text(&sql, " FORMAT RowBinary");
	r = clickhouse_query(c, &sql, &answer, err);
	at = cursor_of(answer.body.bytes, answer.body.n, false);
	if (r >= 0)
		r = clickhouse_take_list(&at, by, ret);
	http_answer_free(&answer);
	buf_free(&sql);
	return r;
}

static int clickhouse_by_nothing(void *ctx, size_t i, const char *key)
{
	(void)key;
	*(size_t *)ctx = i + 1;
	return 0;
}

/* Asks for the windows, then for the series. */
int clickhouse_list(void *store, const struct store_query *q, struct store_listing *ret,
                    struct seam_error *err)
{
	struct clickhouse *c = store;
	struct clickhouse_series kept = { 0 };
	struct seam_error why = { 0 };
	size_t n = 0;
	int r = clickhouse_ready(c, &why);

	/* A list without a key, or of more than a statement takes, is the caller's to join. */
	ret->joined = clickhouse_each_by(q->by, clickhouse_by_nothing, &n) >= 0 && n;
	if (r >= 0)
		r = clickhouse_series_look(c, q, &kept, &why);
	ret->windows = kept.windows;
	ret->first_ns = kept.first_ns;
	ret->last_ns = kept.last_ns;
	if (r >= 0)
		r = clickhouse_list_series(c, q, ret->joined ? q->by : NULL, &kept, ret, &why);
	clickhouse_series_free(&kept);
	if (r >= 0)
		r = clickhouse_list_bytes(c, ret, &why);
	if (r >= 0 && ret->n)
		qsort(ret->series, ret->n, sizeof(*ret->series), clickhouse_list_order);
	if (r == -EBADMSG && !why.code)
		r = clickhouse_bad(c, &why);
	if (r < 0 && err)
		*err = why;
	return r;
}
