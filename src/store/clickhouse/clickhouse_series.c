// SPDX-License-Identifier: MIT
/*
 * clickhouse_series.c: see clickhouse.h: the series of hours that are over, with their windows and
 * samples, so that a list of them need not read a row of each window.
 *
 * They are put by the roll-up, of windows that FINAL has made one of each. An hour has a row for
 * each series, and one with whole = 1, which is put last and says how many windows the hour had.
 * While it has as many, its windows are what its rows say; when windows go (TTL), lists are made of
 * what is left. Rows replace those of an earlier roll-up. Stores of an earlier seam lack the table
 * until init makes it.
 */
#include "store/clickhouse/clickhouse.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define HOUR_S 3600u
#define HOUR_NS (HOUR_S * 1000000000ULL)
#define SERIES_GAPS 200u /* between hours that are kept: their list must fit into a statement */
#define SERIES_LABELS "service, version, host, comm, label_keys, label_values"
#define SERIES_INTO                                                                 \
	"seam_series (hour, whole, " SERIES_LABELS ", windows, samples, first_ns, " \
	"last_ns, made)"

/* ---- putting ---- */

/* The row that says that all are there goes last. */
int clickhouse_series_put(struct clickhouse *c, uint32_t hour, uint64_t windows,
                          struct seam_error *err)
{
	struct buf sql = { 0 };
	int r;

	buf_put_text(&sql, "INSERT INTO ");
	clickhouse_sql_table(c, &sql, SERIES_INTO);
	buf_printf(&sql,
	           " SELECT toDateTime(%u), 0, " SERIES_LABELS ", uniqExact((instance, from_ns)), "
	           "toUInt64(sum(arraySum(samples))), min(from_ns), max(to_ns), now() FROM ",
	           hour);
	clickhouse_sql_table(c, &sql, "seam_windows");
	buf_printf(&sql,
	           " FINAL WHERE type != '' AND time >= toDateTime(%u) AND time < toDateTime(%u) "
	           "GROUP BY " SERIES_LABELS,
	           hour, hour + HOUR_S);
	r = clickhouse_do(c, &sql, err);
	if (r < 0)
		return r;
	buf_put_text(&sql, "INSERT INTO ");
	clickhouse_sql_table(c, &sql, SERIES_INTO);
	buf_printf(&sql,
	           " VALUES (toDateTime(%u), 1, '', '', '', '', [], [], %llu, 0, 0, 0, now())",
	           hour, (unsigned long long)windows);
	return clickhouse_do(c, &sql, err);
}

/* ---- which hours are kept ---- */

/* Reads how many windows each hour of the span has, and when they are. -ENOMEM, -EBADMSG. */
static int series_take_windows(struct clickhouse_series *s, struct cursor *at)
{
	while (cursor_left(at)) {
		struct clickhouse_series_hour h = { .hour = cursor_u32(at) };
		uint64_t first, last;

		h.windows = cursor_u64(at);
		first = cursor_u64(at);
		last = cursor_u64(at);
		if (at->failed)
			return -EBADMSG;
		if (ARRAY_ROOM(&s->hours, &s->capacity, s->n + 1) < 0)
			return -ENOMEM;
		s->windows += h.windows;
		s->first_ns = !s->n || first < s->first_ns ? first : s->first_ns;
		s->last_ns = last > s->last_ns ? last : s->last_ns;
		s->hours[s->n++] = h;
	}
	return 0;
}

/* Both are in order. Of an hour that the span has in part there are other windows. */
static int series_take_kept(struct clickhouse_series *s, struct cursor *at)
{
	size_t i = 0;

	while (cursor_left(at)) {
		uint32_t hour = cursor_u32(at);
		uint64_t windows = cursor_u64(at);

		if (at->failed)
			return -EBADMSG;
		while (i < s->n && s->hours[i].hour < hour)
			i++;
		if (i == s->n || s->hours[i].hour != hour)
			continue;
		s->hours[i].put = windows;
		s->hours[i].kept = s->hours[i].windows == windows &&
		                   (uint64_t)hour * 1000000000 >= s->from_ns &&
		                   ((uint64_t)hour + HOUR_S) * 1000000000 <= s->to_ns;
	}
	return 0;
}

/* Asks, and takes the answer. The statement is given up. */
static int series_ask(struct clickhouse *c, struct buf *sql, struct clickhouse_series *s,
                      int (*take)(struct clickhouse_series *s, struct cursor *at),
                      struct seam_error *err)
{
	struct http_answer answer;
	int r = clickhouse_query(c, sql, &answer, err);
	struct cursor at = cursor_of(answer.body.bytes, answer.body.n, false);

	if (r >= 0)
		r = take(s, &at);
	http_answer_free(&answer);
	buf_free(sql);
	return r == -EBADMSG && !err->code ? clickhouse_bad(c, err) : r;
}

/* Which hours of the span have windows, and which of these are kept. */
int clickhouse_series_look(struct clickhouse *c, const struct store_query *q,
                           struct clickhouse_series *ret, struct seam_error *err)
{
	struct buf sql = { 0 };
	int r;

	*ret = (struct clickhouse_series){ .from_ns = q->from_ns, .to_ns = q->to_ns };
	buf_put_text(&sql, "SELECT toStartOfHour(time, 'UTC') AS hour, count(), min(from_ns), "
	                   "max(to_ns) FROM ");
	clickhouse_sql_table(c, &sql, "seam_windows");
	buf_put_text(&sql, " FINAL WHERE type = '' AND service = '' AND ");
	clickhouse_span_sql(&sql, q);
	buf_put_text(&sql, " GROUP BY hour ORDER BY hour FORMAT RowBinary");
	r = series_ask(c, &sql, ret, series_take_windows, err);
	if (r < 0)
		return r;
	buf_put_text(&sql, "EXISTS TABLE ");
	clickhouse_sql_table(c, &sql, "seam_series FORMAT TabSeparated");
	r = clickhouse_is(c, &sql, err);
	if (r <= 0)
		return r;
	ret->has_table = true;
	buf_put_text(&sql, "SELECT hour, windows FROM ");
	clickhouse_sql_table(c, &sql, "seam_series");
	buf_put_text(&sql, " FINAL WHERE whole = 1 AND ");
	clickhouse_hours_sql(&sql, q);
	buf_put_text(&sql, " ORDER BY hour FORMAT RowBinary");
	return series_ask(c, &sql, ret, series_take_kept, err);
}

bool clickhouse_series_has(const struct clickhouse_series *s, uint32_t hour)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->hours[i].hour == hour)
			return s->hours[i].put >= s->hours[i].windows;
	return false;
}

void clickhouse_series_free(struct clickhouse_series *s)
{
	free(s->hours);
	*s = (struct clickhouse_series){ 0 };
}

/* ---- asking ---- */

/* Hours that are kept or not, one behind the other, as conditions of a column. How many. */
static size_t series_runs_sql(const struct clickhouse_series *s, bool kept, const char *column,
                              struct buf *sql)
{
	size_t runs = 0;

	for (size_t i = 0, j; i < s->n; i = j) {
		for (j = i + 1; j < s->n && s->hours[j].kept == s->hours[i].kept; j++)
			;
		if (s->hours[i].kept != kept)
			continue;
		buf_printf(sql, "%s(%s >= toDateTime(%u) AND %s < toDateTime(%llu))",
		           runs++ ? " OR " : "", column, s->hours[i].hour, column,
		           (unsigned long long)s->hours[j - 1].hour + HOUR_S);
	}
	return runs;
}

/* Rows of series that are kept, and of windows of the other hours, of both kinds as the same
 * columns. False: nothing is kept, or too little in one piece. */
bool clickhouse_series_sql(const struct clickhouse *c, const struct clickhouse_series *s,
                           const struct store_query *q, struct buf *sql)
{
	struct buf kept = { 0 }, others = { 0 };
	size_t n = series_runs_sql(s, true, "hour", &kept);
	size_t gaps = series_runs_sql(s, false, "time", &others);

	if (n && n <= SERIES_GAPS && gaps <= SERIES_GAPS) {
		buf_put_text(sql, "(SELECT " SERIES_LABELS ", windows AS some, samples AS taken, "
		                  "first_ns AS first, last_ns AS last FROM ");
		clickhouse_sql_table(c, sql, "seam_series");
		buf_printf(sql, " FINAL WHERE whole = 0 AND (%s)", buf_text(&kept));
		clickhouse_filter_sql(sql, q->where);
		if (gaps) {
			buf_put_text(sql,
			             " UNION ALL SELECT " SERIES_LABELS ", uniqExact((instance, "
			             "from_ns)) AS some, toUInt64(sum(arraySum(samples))) AS "
			             "taken, min(from_ns) AS first, max(to_ns) AS last FROM ");
			clickhouse_sql_table(c, sql, "seam_windows");
			buf_printf(sql, " FINAL WHERE (%s) AND ", buf_text(&others));
			clickhouse_where_sql(sql, q);
			buf_put_text(sql, " GROUP BY " SERIES_LABELS);
		}
		buf_put_text(sql, ")");
	}
	sql->failed |= kept.failed || others.failed;
	buf_free(&kept);
	buf_free(&others);
	return n && n <= SERIES_GAPS && gaps <= SERIES_GAPS;
}
