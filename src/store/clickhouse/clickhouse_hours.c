// SPDX-License-Identifier: MIT
/*
 * clickhouse_hours.c: see clickhouse.h: the roll-up by function and hour, made by the server of its
 * own rows, and asked for the functions of a long span.
 *
 * An hour has a row for each event, service, version and function; one with function 0 for all of
 * an event's samples; the same once more of the whole fleet, whose unit has HOURS_FLEET added, so
 * that what it costs to ask for them does not grow with services; and one with type '', which is
 * put last and says how many windows the hour had. An hour without that row is not rolled up. Rows
 * replace those of an earlier roll-up of the same hour, so it can be made again, and by two at
 * once.
 *
 * A function is a name in an object. It counts once for each stack, however often it is in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "store/clickhouse/clickhouse.h"

#define HOUR_S 3600u
#define HOUR_NS (HOUR_S * 1000000000ULL)
/* An hour is rolled up when windows that were taken in it have come: later ones make it anew. */
#define HOUR_LATE_S 600u
#define HOURS_ROWS 1000000u /* of windows that are rolled up at once: some 500 MB of the server's */
#define HOURS_MAX 18000u    /* two years: their list must fit into a statement */
#define HOURS_FLEET 128u    /* added to the unit of rows that are of the whole fleet */
/* What `self` is in the row that is put last, where the hour has rows of the fleet: those of
 * earlier seams have none, and 0. */
#define HOURS_WHOLE 1

/* Asks, and hands the answer to take until it is at its end. The statement is given up. */
static int hours_ask(struct clickhouse *c, struct buf *sql, struct seam_error *err,
                     int (*take)(void *ctx, struct cursor *at), void *ctx)
{
	struct http_answer answer;
	int r = clickhouse_query(c, sql, &answer, err);
	struct cursor at = cursor_of(answer.body.bytes, answer.body.n, false);

	while (r >= 0 && cursor_left(&at)) {
		r = take(ctx, &at);
		if (r >= 0 && at.failed)
			r = -EBADMSG;
	}
	http_answer_free(&answer);
	buf_free(sql);
	if (r == -E2BIG)
		return seam_error_set(err, E2BIG, NULL, SEAM_NO_OFFSET, NULL,
		                      "more than %u hours: ask for a shorter span", HOURS_MAX);
	return r == -EBADMSG && !err->code ? clickhouse_bad(c, err) : r;
}

/* ---- making ---- */

/* A part of an hour: services are divided, so that a part fits into memory. */
struct hours_part {
	uint32_t hour;
	uint64_t part, parts;
};

/* The rows of windows of an hour: FROM and what is behind it. */
static void hours_windows_sql(const struct clickhouse *c, struct buf *sql, uint32_t hour,
                              const char *more)
{
	clickhouse_sql_table(c, sql, "seam_windows");
	buf_printf(sql, "%s WHERE type != '' AND time >= toDateTime(%u) AND time < toDateTime(%u)",
	           more, hour, hour + HOUR_S);
}

static void hours_services_sql(struct buf *sql, const struct hours_part *p)
{
	if (p->parts > 1)
		buf_printf(sql, " AND cityHash64(service) %% %llu = %llu",
		           (unsigned long long)p->parts, (unsigned long long)p->part);
}

#define HOURS_INTO "seam_hours (hour, type, unit, service, version, func, self, total, made)"
#define HOURS_JOINED \
	" ARRAY JOIN stacks AS one_stack, samples AS one_samples, weights AS one_weight"
/* A number for what rows are added up by: many texts cost more. */
#define HOURS_SERIES                                                           \
	"sipHash64(concat(toString(length(type)), type, toString(unit), ' ', " \
	"toString(length(service)), service, version))"

/* The functions of each stack of an hour, each once, and which of them is its leaf. Of frames only
 * numbers are joined; a frame that is not there has no name. */
static void hours_stacks_sql(const struct clickhouse *c, struct buf *sql,
                             const struct hours_part *p)
{
	buf_put_text(sql, "SELECT stack, groupUniqArray(func) AS funcs, max(if(place = 1, func, "
	                  "toUInt64(0))) AS own FROM (SELECT stack, place, if(id = 0, "
	                  "cityHash64('', ''), id) AS func FROM (SELECT stack, frame, place FROM "
	                  "(SELECT stack, frames AS path FROM ");
	clickhouse_sql_table(c, sql, "seam_stacks");
	buf_printf(sql, " WHERE hour = toDateTime(%u)", p->hour);
	hours_services_sql(sql, p);
	buf_put_text(sql, " LIMIT 1 BY stack) ARRAY JOIN path AS frame, arrayEnumerate(path) AS "
	                  "place) ANY LEFT JOIN (SELECT frame, cityHash64(name, "
	                  "toString(object)) AS id FROM ");
	clickhouse_sql_table(c, sql, "seam_frames");
	buf_put_text(sql, ") USING (frame)) GROUP BY stack");
}

/* What each function has of each series, as numbers. */
static void hours_sums_sql(const struct clickhouse *c, struct buf *sql, const struct hours_part *p)
{
	buf_put_text(sql,
	             "SELECT series, func, sum(if(func = own, weight, toUInt64(0))) AS self, "
	             "sum(weight) AS total FROM (SELECT series, weight, own, funcs FROM "
	             "(SELECT " HOURS_SERIES " AS series, one_stack AS stack, sum(one_weight + "
	             "one_samples * weight_each) AS weight FROM ");
	hours_windows_sql(c, sql, p->hour, " FINAL" HOURS_JOINED);
	hours_services_sql(sql, p);
	buf_put_text(sql, " GROUP BY series, one_stack) ANY LEFT JOIN (");
	hours_stacks_sql(c, sql, p);
	buf_put_text(sql, ") USING (stack)) ARRAY JOIN funcs AS func GROUP BY series, func");
}

/* All functions of a part of an hour. Stacks are added up first, and each is taken apart into its
 * functions once; the texts of a series come last. */
static int hours_put_functions(struct clickhouse *c, const struct hours_part *p,
                               struct seam_error *err)
{
	struct buf sql = { 0 };

	buf_put_text(&sql, "INSERT INTO ");
	clickhouse_sql_table(c, &sql, HOURS_INTO);
	buf_printf(&sql,
	           " SELECT toDateTime(%u), type, unit, service, version, func, self, total, now() "
	           "FROM (",
	           p->hour);
	hours_sums_sql(c, &sql, p);
	buf_put_text(&sql, ") ANY LEFT JOIN (SELECT DISTINCT " HOURS_SERIES
	                   " AS series, type, unit, service, version FROM ");
	hours_windows_sql(c, &sql, p->hour, "");
	hours_services_sql(&sql, p);
	buf_put_text(&sql, ") USING (series) SETTINGS distributed_product_mode = 'global'");
	/* The others know no such setting, and want no alias. */
	if (c->server >= CLICKHOUSE_MODERN)
		buf_put_text(&sql, ", joined_subquery_requires_alias = 0");
	return clickhouse_do(c, &sql, err);
}

static int hours_take_rows(void *ctx, struct cursor *c)
{
	*(uint64_t *)ctx = cursor_u64(c);
	return 0;
}

/* The functions of an hour, in parts of some HOURS_ROWS rows. */
static int hours_put_parts(struct clickhouse *c, uint32_t hour, struct seam_error *err)
{
	struct hours_part p = { .hour = hour };
	struct buf sql = { 0 };
	uint64_t rows = 0;
	int r;

	buf_put_text(&sql, "SELECT toUInt64(sum(length(stacks))) FROM ");
	hours_windows_sql(c, &sql, hour, "");
	buf_put_text(&sql, " FORMAT RowBinary");
	r = hours_ask(c, &sql, err, hours_take_rows, &rows);
	p.parts = 1 + rows / HOURS_ROWS;
	for (; p.part < p.parts && r >= 0; p.part++)
		r = hours_put_functions(c, &p, err);
	return r;
}

/* What all samples of an hour weigh, also those whose stacks are empty. */
static int hours_put_all(struct clickhouse *c, uint32_t hour, struct seam_error *err)
{
	struct buf sql = { 0 };

	buf_put_text(&sql, "INSERT INTO ");
	clickhouse_sql_table(c, &sql, HOURS_INTO);
	buf_printf(
	        &sql,
	        " SELECT toDateTime(%u), type, unit, service, version, toUInt64(0), toUInt64(0), "
	        "sum(arraySum(weights) + arraySum(samples) * weight_each), now() FROM ",
	        hour);
	hours_windows_sql(c, &sql, hour, " FINAL");
	buf_put_text(&sql, " GROUP BY type, unit, service, version");
	return clickhouse_do(c, &sql, err);
}

/* The fleet's rows of an hour, by those of its services. */
static int hours_put_fleet(struct clickhouse *c, uint32_t hour, struct seam_error *err)
{
	struct buf sql = { 0 };

	buf_put_text(&sql, "INSERT INTO ");
	clickhouse_sql_table(c, &sql, HOURS_INTO);
	buf_printf(&sql,
	           " SELECT toDateTime(%u), type, toUInt8(unit + %u), '', '', func, sum(self), "
	           "sum(total), now() FROM ",
	           hour, HOURS_FLEET);
	clickhouse_sql_table(c, &sql, "seam_hours");
	buf_printf(&sql,
	           " FINAL WHERE hour = toDateTime(%u) AND type != '' AND unit < %u GROUP BY type, "
	           "unit, func",
	           hour, HOURS_FLEET);
	return clickhouse_do(c, &sql, err);
}

static int hours_put_done(struct clickhouse *c, uint32_t hour, uint64_t windows,
                          struct seam_error *err)
{
	struct buf sql = { 0 };

	buf_put_text(&sql, "INSERT INTO ");
	clickhouse_sql_table(c, &sql, HOURS_INTO);
	buf_printf(&sql, " VALUES (toDateTime(%u), '', 0, '', '', 0, %d, %llu, now())", hour,
	           HOURS_WHOLE, (unsigned long long)windows);
	return clickhouse_do(c, &sql, err);
}

struct hours_hour {
	uint32_t hour;
	uint64_t windows;
	bool missing; /* its functions are not rolled up, or of fewer windows */
};

/* Hours with how many windows they have. */
struct hours_list {
	struct hours_hour *at;
	size_t n, capacity;
};

static int hours_take_hour(void *ctx, struct cursor *c)
{
	struct hours_list *l = ctx;
	uint32_t hour = cursor_u32(c);

	if (l->n == HOURS_MAX || ARRAY_ROOM(&l->at, &l->capacity, l->n + 1) < 0)
		return l->n == HOURS_MAX ? -E2BIG : -ENOMEM;
	l->at[l->n++] = (struct hours_hour){ .hour = hour, .windows = cursor_u64(c) };
	return 0;
}

/* The hours of the span whose windows are there. */
static int hours_of_windows(struct clickhouse *c, const struct store_query *q,
                            struct hours_list *ret, struct seam_error *err)
{
	struct buf sql = { 0 };

	buf_put_text(&sql, "SELECT toStartOfHour(time, 'UTC') AS hour, count() FROM ");
	clickhouse_sql_table(c, &sql, "seam_windows");
	buf_put_text(&sql, " FINAL WHERE type = '' AND service = '' AND ");
	clickhouse_span_sql(&sql, q);
	buf_put_text(&sql, " GROUP BY hour ORDER BY hour FORMAT RowBinary");
	return hours_ask(c, &sql, err, hours_take_hour, ret);
}

/* The hours of the span that are rolled up. */
static int hours_rolled(struct clickhouse *c, const struct store_query *q, struct hours_list *ret,
                        struct seam_error *err)
{
	struct buf sql = { 0 };

	buf_put_text(&sql, "SELECT hour, total FROM ");
	clickhouse_sql_table(c, &sql, "seam_hours");
	buf_printf(&sql, " FINAL WHERE type = '' AND self = %d AND ", HOURS_WHOLE);
	clickhouse_hours_sql(&sql, q);
	buf_put_text(&sql, " ORDER BY hour FORMAT RowBinary");
	return hours_ask(c, &sql, err, hours_take_hour, ret);
}

/* Finds the hours of `all` that `rolled` lacks, or has with fewer windows; both are in order.
 * Returns how many. */
static size_t hours_missing(struct hours_list *all, const struct hours_list *rolled)
{
	size_t n = 0;

	for (size_t i = 0, j = 0; i < all->n; i++) {
		while (j < rolled->n && rolled->at[j].hour < all->at[i].hour)
			j++;
		all->at[i].missing = j == rolled->n || rolled->at[j].hour != all->at[i].hour ||
		                     rolled->at[j].windows < all->at[i].windows;
		n += all->at[i].missing;
	}
	return n;
}

static int hours_look(struct clickhouse *c, const struct store_query *q, struct hours_list *all,
                      struct hours_list *rolled, struct seam_error *err)
{
	int r = clickhouse_ready(c, err);

	if (r >= 0)
		r = hours_of_windows(c, q, all, err);
	return r >= 0 ? hours_rolled(c, q, rolled, err) : r;
}

/* An hour's functions, and the row that says that they are all there. */
static int hours_put(struct clickhouse *c, const struct hours_hour *h, struct seam_error *err)
{
	int r = hours_put_parts(c, h->hour, err);

	if (r >= 0)
		r = hours_put_all(c, h->hour, err);
	if (r >= 0)
		r = hours_put_fleet(c, h->hour, err);
	return r >= 0 ? hours_put_done(c, h->hour, h->windows, err) : r;
}

/* Rolls up the hours that are over, if their functions or their series are not there. */
static int hours_roll(struct clickhouse *c, const struct hours_list *all,
                      const struct clickhouse_series *series, uint64_t now_ns, unsigned most,
                      struct store_rolled *ret, struct seam_error *err)
{
	int r = 0;

	for (size_t i = 0; i < all->n && r >= 0 && (!most || ret->made < most); i++) {
		const struct hours_hour *h = &all->at[i];
		bool lists = series->has_table && !clickhouse_series_has(series, h->hour);

		if (!h->missing && !lists) {
			ret->there++;
			continue;
		}
		if (((uint64_t)h->hour + HOUR_S + HOUR_LATE_S) * 1000000000 > now_ns) {
			ret->open++;
			continue;
		}
		if (h->missing)
			r = hours_put(c, h, err);
		if (r >= 0 && lists)
			r = clickhouse_series_put(c, h->hour, h->windows, err);
		ret->made += r >= 0;
	}
	return r;
}

/* Rolls up the hours of the query's span that are over and not rolled up, each as a whole. */
int clickhouse_roll_up(void *store, const struct store_query *q, uint64_t now_ns, unsigned most,
                       struct store_rolled *ret, struct seam_error *err)
{
	struct clickhouse *c = store;
	struct store_query whole = *q;
	struct hours_list all = { 0 }, rolled = { 0 };
	struct clickhouse_series series = { 0 };
	struct seam_error why = { 0 };
	int r;

	/* Also where it begins or ends in one: an hour's windows are counted. */
	whole.from_ns -= whole.from_ns % HOUR_NS;
	if (whole.to_ns % HOUR_NS && whole.to_ns <= UINT64_MAX - HOUR_NS)
		whole.to_ns += HOUR_NS - whole.to_ns % HOUR_NS;
	r = hours_look(c, &whole, &all, &rolled, &why);
	if (r >= 0)
		r = clickhouse_series_look(c, &whole, &series, &why);
	if (r >= 0) {
		hours_missing(&all, &rolled);
		r = hours_roll(c, &all, &series, now_ns, most, ret, &why);
	}
	free(all.at);
	free(rolled.at);
	clickhouse_series_free(&series);
	if (r < 0 && err)
		*err = why;
	return r < 0 ? r : 0;
}

/* ---- asking ---- */

/* What a query adds to the unit of the rows that it is about. */
static unsigned hours_offset(const struct store_query *q)
{
	const struct labels_filter none = { 0 };
	const struct labels terms = { q->where ? q->where->terms : none.terms };
	const char *key, *value;
	size_t at = 0;

	return labels_next(&terms, &at, &key, &value) ? 0 : HOURS_FLEET;
}

/* The rows of seam_hours that a query is about: of hours that are whole. */
static void hours_where_sql(const struct clickhouse *c, struct buf *sql,
                            const struct store_query *q, const struct hours_list *rolled)
{
	clickhouse_sql_table(c, sql, "seam_hours");
	buf_put_text(sql, " FINAL WHERE ");
	clickhouse_hours_sql(sql, q);
	clickhouse_filter_sql(sql, q->where);
	buf_put_text(sql, " AND toUInt32(hour) IN (");
	for (size_t i = 0; i < rolled->n; i++)
		buf_printf(sql, "%s%u", i ? "," : "", rolled->at[i].hour);
	buf_put_text(sql, ")");
}

/* Adds an event of the answer, without functions yet. -ENOMEM, -EBADMSG. */
static int hours_take_event(void *ctx, struct cursor *c)
{
	struct store_functions *f = ctx;
	struct store_event event = { 0 };
	struct store_event *events;
	struct buf text = { 0 };

	event.type = strdup(clickhouse_text(c, &text));
	buf_free(&text);
	event.unit = cursor_u8(c) % HOURS_FLEET;
	event.all = cursor_u64(c);
	events = event.type ? realloc(f->events, (f->n + 1) * sizeof(*events)) : NULL;
	if (!events) {
		free(event.type);
		return -ENOMEM;
	}
	f->events = events;
	f->events[f->n++] = event;
	return event.unit > PROFILE_NANOSECONDS ? -EBADMSG : 0;
}

static int hours_take_function(void *ctx, struct cursor *c)
{
	struct store_event *e = ctx;
	struct store_function *functions =
	        realloc(e->functions, (e->n + 1) * sizeof(*e->functions));

	if (!functions)
		return -ENOMEM;
	e->functions = functions;
	e->functions[e->n] = (struct store_function){ .id = cursor_u64(c) };
	e->functions[e->n].self = cursor_u64(c);
	e->functions[e->n++].total = cursor_u64(c);
	return 0;
}

/* The name of a function of the event; one that was not asked for is passed over. */
static int hours_take_name(void *ctx, struct cursor *c)
{
	struct store_event *e = ctx;
	struct buf name = { 0 }, object = { 0 };
	uint64_t id = cursor_u64(c);
	int r = 0;

	clickhouse_text(c, &name);
	clickhouse_text(c, &object);
	for (size_t i = 0; i < e->n && !c->failed; i++) {
		struct store_function *f = &e->functions[i];

		if (f->id != id || f->name)
			continue;
		f->name = strdup(buf_text(&name));
		f->object = strdup(buf_text(&object));
		if (!f->name || !f->object)
			r = -ENOMEM;
	}
	buf_free(&name);
	buf_free(&object);
	return r;
}

/* Asks for the first functions of an event, then for their names. */
static int hours_read_event(struct clickhouse *c, const struct store_query *q,
                            const struct hours_list *rolled, unsigned limit, struct store_event *e,
                            struct seam_error *err)
{
	struct buf sql = { 0 };
	int r;

	buf_put_text(&sql, "SELECT func, sum(self) AS own, sum(total) AS whole FROM ");
	hours_where_sql(c, &sql, q, rolled);
	buf_put_text(&sql, " AND func != 0 AND type = ");
	clickhouse_sql_text(&sql, e->type);
	buf_printf(&sql,
	           " AND unit = %u GROUP BY func ORDER BY own DESC, whole DESC, func LIMIT %u "
	           "FORMAT RowBinary",
	           e->unit + hours_offset(q), limit);
	r = hours_ask(c, &sql, err, hours_take_function, e);
	if (r < 0 || !e->n)
		return r;
	buf_put_text(&sql, "SELECT cityHash64(name, toString(object)) AS func, any(name), "
	                   "any(toString(object)) FROM ");
	clickhouse_sql_table(c, &sql, "seam_frames");
	buf_put_text(&sql, " WHERE func IN (");
	for (size_t i = 0; i < e->n; i++)
		buf_printf(&sql, "%s%llu", i ? ", " : "", (unsigned long long)e->functions[i].id);
	buf_put_text(&sql, ") GROUP BY func FORMAT RowBinary");
	return hours_ask(c, &sql, err, hours_take_name, e);
}

/* The functions of an event that have most of it, of the hours of the span that are rolled up. */
int clickhouse_functions(void *store, const struct store_query *q, unsigned limit,
                         struct store_functions *ret, struct seam_error *err)
{
	struct clickhouse *c = store;
	struct hours_list all = { 0 }, rolled = { 0 };
	struct seam_error why = { 0 };
	struct buf sql = { 0 };
	int r = hours_look(c, q, &all, &rolled, &why);

	ret->hours = rolled.n;
	ret->missing = r < 0 ? 0 : hours_missing(&all, &rolled);
	if (r >= 0 && rolled.n) {
		buf_put_text(&sql, "SELECT type, unit, sum(total) FROM ");
		hours_where_sql(c, &sql, q, &rolled);
		buf_printf(&sql,
		           " AND func = 0 AND type != '' AND bitAnd(unit, %u) = %u GROUP BY type, "
		           "unit ORDER BY type, unit FORMAT RowBinary",
		           HOURS_FLEET, hours_offset(q));
		r = hours_ask(c, &sql, &why, hours_take_event, ret);
	}
	for (size_t i = 0; i < ret->n && r >= 0; i++)
		r = hours_read_event(c, q, &rolled, limit, &ret->events[i], &why);
	free(all.at);
	free(rolled.at);
	if (r < 0 && err)
		*err = why;
	return r < 0 ? r : 0;
}
