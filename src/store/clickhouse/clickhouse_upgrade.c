// SPDX-License-Identifier: MIT
/*
 * clickhouse_upgrade.c: see clickhouse.h: tables of versions 1 to 3 become those of version 4.
 *
 * In version 3 windows were in the order of their times, which were of the server's zone. Before it
 * a stack's hash had 16 bytes, of which the first 8 are the hash of now, stacks were kept by
 * service alone, and hours in another order. The old tables get other names, the new ones are made
 * beside them and filled hour by hour, and then the old ones are dropped. What ended half-way is
 * done again: rows that are there already are replaced by themselves.
 *
 * Each server brings its own rows to this version. Replicated tables are not touched.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "store/clickhouse/clickhouse.h"

#define UPGRADE_HOUR_S 3600u
#define UPGRADE_WINDOWS "seam_windows_of_2"
#define UPGRADE_STACKS "seam_stacks_of_2"
#define UPGRADE_HOURS "seam_hours_of_2"
#define UPGRADE_LONG "name = 'stacks' AND type LIKE '%FixedString%'" /* of versions 1 and 2 */
#define UPGRADE_HASH "reinterpretAsUInt64(substring(toString(%s), 1, 8))"

/* 1: the table has a column, or an engine, of which this is true; 0; -errno. */
static int clickhouse_upgrade_is(struct clickhouse *c, const char *system, const char *table,
                                 const char *condition, struct seam_error *err)
{
	struct buf sql = { 0 };

	buf_printf(&sql, "SELECT count() FROM system.%s WHERE %s = ", system,
	           strcmp(system, "tables") ? "table" : "name");
	clickhouse_sql_text(&sql, table);
	buf_put_text(&sql, " AND database = ");
	if (*c->database)
		buf_printf(&sql, "'%.*s'", (int)strlen(c->database) - 1, c->database);
	else
		buf_put_text(&sql, "currentDatabase()");
	buf_printf(&sql, " AND %s FORMAT TabSeparated", condition);
	return clickhouse_is(c, &sql, err);
}

static int clickhouse_upgrade_make(struct clickhouse *c, const struct store_init *o,
                                   const char *before, const char *table, const char *between,
                                   const char *other, struct seam_error *err)
{
	struct buf sql = { 0 };

	buf_put_text(&sql, before);
	clickhouse_sql_table(c, &sql, table);
	buf_put_text(&sql, between);
	if (other)
		clickhouse_sql_table(c, &sql, other);
	return clickhouse_make(c, o, &sql, err);
}

/* Gives an old table another name, if it is there and has not got it yet. Of a cluster the table
 * before it is made anew, too. condition: what is old in it, of its column; NULL: all. */
static int clickhouse_upgrade_rename(struct clickhouse *c, const struct store_init *o, bool local,
                                     const char *table, const char *old, const char *condition,
                                     struct seam_error *err)
{
	char name[40];
	int r, was = clickhouse_upgrade_is(c, "tables", old, "1", err);

	snprintf(name, sizeof(name), "%s%s", table, local ? "_local" : "");
	if (was < 0)
		return was;
	r = clickhouse_upgrade_is(c, condition ? "columns" : "tables", name,
	                          condition ? condition : "1", err);
	if (r > 0 && !was)
		r = clickhouse_upgrade_make(c, o, "RENAME TABLE ", name, " TO ", old, err);
	if (r >= 0 && local)
		r = clickhouse_upgrade_make(c, o, "DROP TABLE IF EXISTS ", table, "", NULL, err);
	return r;
}

/* What old rows are in: times of the server's zone, hashes of 16 bytes, or of hours another
 * order. */
static int clickhouse_upgrade_rename_all(struct clickhouse *c, const struct store_init *o,
                                         bool local, struct seam_error *err)
{
	int r = clickhouse_upgrade_rename(c, o, local, "seam_windows", UPGRADE_WINDOWS,
	                                  "name = 'time' AND type = 'DateTime'", err);

	if (r >= 0)
		r = clickhouse_upgrade_rename(c, o, local, "seam_stacks", UPGRADE_STACKS,
		                              "name = 'stack' AND type LIKE '%FixedString%'", err);
	return r >= 0 ? clickhouse_upgrade_rename(c, o, local, "seam_hours", UPGRADE_HOURS, NULL,
	                                          err)
	              : r;
}

/* Before the tables of this version are made. -EOPNOTSUPP: it cannot be done. */
int clickhouse_upgrade_begin(struct clickhouse *c, const struct store_init *o, bool local,
                             struct seam_error *err)
{
	const char *windows = local ? "seam_windows_local" : "seam_windows";
	int r = clickhouse_upgrade_is(c, "tables", windows, "engine LIKE 'Replicated%'", err);

	if (r > 0 || o->replicated)
		return seam_error_set(
		        err, EOPNOTSUPP, NULL, SEAM_NO_OFFSET, NULL,
		        "%s: replicated tables of an earlier seam cannot be brought to "
		        "version %d: make new ones in another database",
		        c->remote.origin, CLICKHOUSE_SCHEMA);
	if (r >= 0 && local && !o->cluster)
		return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
		                      "%s: tables of a cluster are brought to version %d by 'seam "
		                      "store init --cluster NAME', on each server",
		                      c->remote.origin, CLICKHOUSE_SCHEMA);
	return r < 0 ? r : clickhouse_upgrade_rename_all(c, o, local, err);
}

/* ---- rows ---- */

static void clickhouse_upgrade_span(struct buf *sql, uint32_t hour)
{
	buf_printf(sql, " WHERE time >= toDateTime(%u) AND time < toDateTime(%u)", hour,
	           hour + UPGRADE_HOUR_S);
}

/* The stacks of an hour's windows, beside their services and hosts. */
static int clickhouse_upgrade_stacks(struct clickhouse *c, const struct store_init *o,
                                     const char *suffix, uint32_t hour, struct seam_error *err)
{
	struct buf sql = { 0 };

	buf_put_text(&sql, "INSERT INTO ");
	clickhouse_sql_table(c, &sql, "seam_stacks");
	buf_printf(&sql,
	           "%s (hour, service, host, stack, state, frames) SELECT toDateTime(%u), service, "
	           "host, " UPGRADE_HASH ", state, frames FROM (SELECT DISTINCT service, host, "
	           "one_stack AS stack FROM ",
	           suffix, hour, "stack");
	clickhouse_sql_table(c, &sql, UPGRADE_WINDOWS " ARRAY JOIN stacks AS one_stack");
	clickhouse_upgrade_span(&sql, hour);
	buf_put_text(&sql, ") ANY LEFT JOIN (SELECT service, stack, state, frames FROM ");
	clickhouse_sql_table(c, &sql, UPGRADE_STACKS);
	buf_put_text(&sql, " WHERE (service, stack) IN (SELECT service, one_stack FROM ");
	clickhouse_sql_table(c, &sql, UPGRADE_WINDOWS " ARRAY JOIN stacks AS one_stack");
	clickhouse_upgrade_span(&sql, hour);
	buf_put_text(&sql, ")) USING (service, stack) WHERE state != ''");
	if (c->server >= CLICKHOUSE_MODERN)
		buf_put_text(&sql, " SETTINGS joined_subquery_requires_alias = 0");
	return clickhouse_make(c, o, &sql, err);
}

/* An hour's windows. */
static int clickhouse_upgrade_windows(struct clickhouse *c, const struct store_init *o,
                                      const char *suffix, bool is_long, uint32_t hour,
                                      struct seam_error *err)
{
	static const char before[] = "time, from_ns, to_ns, type, unit, service, version, host, "
	                             "comm, instance, label_keys, label_values, ";
	const char *behind = is_long ? ", samples, weights, count_names, count_values"
	                             : ", samples, weight_each, weights, count_names, count_values";
	struct buf sql = { 0 };

	buf_put_text(&sql, "INSERT INTO ");
	clickhouse_sql_table(c, &sql, "seam_windows");
	buf_printf(&sql, "%s (%sstacks%s) SELECT %s", suffix, before, behind, before);
	if (is_long)
		buf_printf(&sql, "arrayMap(s -> " UPGRADE_HASH ", stacks)", "s");
	else
		buf_put_text(&sql, "stacks");
	buf_printf(&sql, "%s FROM ", behind);
	clickhouse_sql_table(c, &sql, UPGRADE_WINDOWS);
	clickhouse_upgrade_span(&sql, hour);
	return clickhouse_make(c, o, &sql, err);
}

/* The rows of all hours; stacks come before the windows that name them. */
static int clickhouse_upgrade_copy(struct clickhouse *c, const struct store_init *o,
                                   const char *suffix, bool is_long, struct seam_error *err)
{
	struct http_answer answer;
	struct buf sql = { 0 };
	struct cursor at;
	int r;

	buf_put_text(&sql, "SELECT DISTINCT toStartOfHour(time, 'UTC') AS hour FROM ");
	clickhouse_sql_table(c, &sql, UPGRADE_WINDOWS);
	buf_put_text(&sql, " ORDER BY hour FORMAT RowBinary");
	r = clickhouse_query(c, &sql, &answer, err);
	buf_free(&sql);
	at = cursor_of(answer.body.bytes, answer.body.n, false);
	while (r >= 0 && cursor_left(&at)) {
		uint32_t hour = cursor_u32(&at);

		if (at.failed)
			r = clickhouse_bad(c, err);
		if (r >= 0 && is_long)
			r = clickhouse_upgrade_stacks(c, o, suffix, hour, err);
		if (r >= 0)
			r = clickhouse_upgrade_windows(c, o, suffix, is_long, hour, err);
	}
	http_answer_free(&answer);
	return r;
}

static int clickhouse_upgrade_hours(struct clickhouse *c, const struct store_init *o, bool local,
                                    struct seam_error *err)
{
	static const char columns[] = "hour, type, unit, service, version, func, self, total, made";
	char into[160];
	int r = clickhouse_upgrade_is(c, "tables", UPGRADE_HOURS, "1", err);

	snprintf(into, sizeof(into), "%s (%s) SELECT %s FROM ", local ? "_local" : "", columns,
	         columns);
	return r > 0 ? clickhouse_upgrade_make(c, o, "INSERT INTO ", "seam_hours", into,
	                                       UPGRADE_HOURS, err)
	             : r;
}

/* When the tables of this version are there: fills them, and drops the old ones. Where statements
 * are only said, those of rows are left out: which hours there are is seen then. */
int clickhouse_upgrade_end(struct clickhouse *c, const struct store_init *o, bool local,
                           struct seam_error *err)
{
	const char *const olds[] = { UPGRADE_WINDOWS, UPGRADE_STACKS, UPGRADE_HOURS };
	int is_long = clickhouse_upgrade_is(c, "columns", UPGRADE_WINDOWS, UPGRADE_LONG, err);
	int r = is_long < 0 ? is_long
	                    : clickhouse_upgrade_is(c, "tables", UPGRADE_WINDOWS, "1", err);

	if (r > 0 && is_long)
		r = clickhouse_upgrade_is(c, "tables", UPGRADE_STACKS, "1", err);
	if (r > 0)
		r = clickhouse_upgrade_copy(c, o, local ? "_local" : "", is_long, err);
	if (r >= 0)
		r = clickhouse_upgrade_hours(c, o, local, err);
	for (size_t i = 0; i < sizeof(olds) / sizeof(olds[0]) && r >= 0; i++)
		r = clickhouse_upgrade_make(c, o, "DROP TABLE IF EXISTS ", olds[i], "", NULL, err);
	return r;
}
