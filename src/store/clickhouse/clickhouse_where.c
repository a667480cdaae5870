// SPDX-License-Identifier: MIT
// clickhouse_where.c: see clickhouse.h: which rows a query is about, as a condition.
#include <errno.h>
#include <string.h>

#include "store/clickhouse/clickhouse.h"

#define HOUR_S 3600u

void clickhouse_label_sql(struct buf *sql, const char *key)
{
	if (!strcmp(key, "service") || !strcmp(key, "version") || !strcmp(key, "host") ||
	    !strcmp(key, "comm")) {
		buf_put_text(sql, key);
		return;
	}
	/* Behind the array is ''. */
	buf_put_text(sql, "label_values[indexOf(label_keys, ");
	clickhouse_sql_text(sql, key);
	buf_put_text(sql, ")]");
}

int clickhouse_each_by(const char *by, int (*each)(void *ctx, size_t i, const char *key), void *ctx)
{
	char key[LABELS_VALUE_MAX];
	size_t i = 0;
	int r = 0;

	for (size_t n; by && *by && r >= 0; by += n + (by[n] == ',')) {
		n = strcspn(by, ",");
		if (n >= sizeof(key))
			continue;
		memcpy(key, by, n);
		key[n] = 0;
		r = i < LABELS_MAX ? each(ctx, i++, key) : -E2BIG;
	}
	return r;
}

/* Whether a term's key stood in front of it already. */
static bool clickhouse_key_was(const struct labels *terms, const char *key, size_t until)
{
	const char *k, *value;

	for (size_t at = 0; labels_next(terms, &at, &k, &value) && at < until;)
		if (!strcmp(k, key))
			return true;
	return false;
}

static bool clickhouse_is_place(const char *key)
{
	return !strcmp(key, "service") || !strcmp(key, "host");
}

bool clickhouse_filter_is_places(const struct labels_filter *f)
{
	const char *key, *value;
	bool is = true;

	for (size_t at = 0; f && labels_next(&(struct labels){ f->terms }, &at, &key, &value);)
		is &= clickhouse_is_place(key);
	return is;
}

/* A key that is named twice has one condition, with all of its values. */
static void clickhouse_terms_sql(struct buf *sql, const struct labels_filter *f, bool places)
{
	const struct labels_filter none = { 0 };
	const struct labels terms = { f ? f->terms : none.terms };
	const char *key, *value, *k, *v;

	for (size_t at = 0; labels_next(&terms, &at, &key, &value);) {
		const char *separator = " IN (";

		if (clickhouse_key_was(&terms, key, at) || (places && !clickhouse_is_place(key)))
			continue;
		buf_put_text(sql, " AND ");
		clickhouse_label_sql(sql, key);
		for (size_t i = 0; labels_next(&terms, &i, &k, &v);)
			if (!strcmp(k, key)) {
				buf_put_text(sql, separator);
				clickhouse_sql_text(sql, v);
				separator = ", ";
			}
		buf_put_text(sql, ")");
	}
}

void clickhouse_filter_sql(struct buf *sql, const struct labels_filter *f)
{
	clickhouse_terms_sql(sql, f, false);
}

void clickhouse_filter_places_sql(struct buf *sql, const struct labels_filter *f)
{
	clickhouse_terms_sql(sql, f, true);
}

void clickhouse_hours_sql(struct buf *sql, const struct store_query *q)
{
	uint64_t from_s = q->from_ns / 1000000000 / HOUR_S * HOUR_S;
	uint64_t to_s = q->to_ns / 1000000000 + (q->to_ns % 1000000000 != 0);

	buf_printf(sql, "hour >= toDateTime(%llu) AND hour < toDateTime(%llu)",
	           (unsigned long long)(from_s > UINT32_MAX ? UINT32_MAX : from_s),
	           (unsigned long long)(to_s > UINT32_MAX ? UINT32_MAX : to_s));
}

void clickhouse_span_sql(struct buf *sql, const struct store_query *q)
{
	uint64_t last_s = q->to_ns / 1000000000;

	buf_printf(sql, "time >= toDateTime(%llu) AND time <= toDateTime(%llu)",
	           (unsigned long long)(q->from_ns / 1000000000 > UINT32_MAX
	                                        ? UINT32_MAX
	                                        : q->from_ns / 1000000000),
	           (unsigned long long)(last_s > UINT32_MAX ? UINT32_MAX : last_s));
	buf_printf(sql, " AND from_ns >= %llu AND from_ns < %llu", (unsigned long long)q->from_ns,
	           (unsigned long long)q->to_ns);
}

void clickhouse_where_sql(struct buf *sql, const struct store_query *q)
{
	buf_put_text(sql, "type != '' AND ");
	clickhouse_span_sql(sql, q);
	clickhouse_filter_sql(sql, q->where);
}
