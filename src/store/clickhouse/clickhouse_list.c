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

/* Reads all series. What is read is in the list before it is whole, and is freed with it. */
static int clickhouse_take_list(struct cursor *c, struct store_listing *l)
{
	size_t capacity = 0;

	while (cursor_left(c)) {
		struct store_series *s;
		int r;

		if (ARRAY_ROOM(&l->series, &capacity, l->n + 1) < 0)
			return -ENOMEM;
		s = &l->series[l->n++];
		*s = (struct store_series){ 0 };
		r = clickhouse_take_labels(c, &s->labels);
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

/* Asks for the windows, then for the series. */
int clickhouse_list(void *store, const struct store_query *q, struct store_listing *ret,
                    struct seam_error *err)
{
	struct clickhouse *c = store;
	struct seam_error why = { 0 };
	struct http_answer answer = { 0 };
	struct buf sql = { 0 };
	struct cursor at;
	int r = clickhouse_ready(c, &why);

	buf_put_text(&sql, "SELECT count(), min(from_ns), max(to_ns) FROM ");
	clickhouse_sql_table(c, &sql, "seam_windows");
	buf_put_text(&sql, " FINAL WHERE type = '' AND service = '' AND ");
	clickhouse_span_sql(&sql, q);
	buf_put_text(&sql, " FORMAT RowBinary");
	if (r >= 0)
		r = clickhouse_query(c, &sql, &answer, &why);
	if (r >= 0) {
		at = cursor_of(answer.body.bytes, answer.body.n, false);
		ret->windows = cursor_u64(&at);
		ret->first_ns = cursor_u64(&at);
		ret->last_ns = cursor_u64(&at);
		r = at.failed ? -EBADMSG : 0;
	}
	http_answer_free(&answer);
	answer = (struct http_answer){ 0 };
	buf_clear(&sql);
	buf_put_text(&sql, "SELECT service, version, host, comm, label_keys, label_values, "
	                   "uniqExact((instance, from_ns)), toUInt64(sum(arraySum(samples))), "
	                   "min(from_ns), max(to_ns) FROM ");
	clickhouse_sql_table(c, &sql, "seam_windows");
	buf_put_text(&sql, " FINAL WHERE ");
	clickhouse_where_sql(&sql, q);
	buf_put_text(&sql, " GROUP BY service, version, host, comm, label_keys, label_values "
	                   "FORMAT RowBinary");
	if (r >= 0)
		r = clickhouse_query(c, &sql, &answer, &why);
	if (r >= 0) {
		at = cursor_of(answer.body.bytes, answer.body.n, false);
		r = clickhouse_take_list(&at, ret);
	}
	http_answer_free(&answer);
	buf_free(&sql);
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
