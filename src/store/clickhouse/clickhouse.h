/* SPDX-License-Identifier: MIT */
/*
 * clickhouse.h: what the files of the ClickHouse store share. clickhouse.c opens,
 * clickhouse_schema.c makes the tables, clickhouse_upgrade.c brings older ones to their form,
 * clickhouse_put.c writes, clickhouse_counts.c and clickhouse_read.c answer, clickhouse_list.c
 * lists, clickhouse_hours.c and clickhouse_series.c roll hours up, all by clickhouse_sql.c.
 *
 * seam_windows   a row for each window, series and event: arrays of stacks (hashes) and their
 *                counts, whose weight is weights + samples * weight_each (modulo 2^64); and one for
 *                each window itself, with type '' and service '', which has the counts of the
 *                window
 * seam_stacks    a stack by its hash, beside the hour, service and host whose samples have it: its
 *                frames' hashes. A window's stacks are found by what the window itself says, so
 *                that a question reads those of its span, however many there are; they go with
 *                their day
 * seam_frames    a frame by its hash
 * seam_hours     the weight of each function by hour, event, service and version: the roll-up
 * seam_series    the windows and samples of each series by hour: the roll-up that lists read
 * seam_schema    which version of these tables it is
 *
 * A row's natural key has all of its labels, the instance and the time: the tables replace rows of
 * one key, and are read with FINAL, so what is sent twice counts once. A window is one insert into
 * one partition, whole or not there; its stacks and frames are sent before it.
 *
 * A stack's hash has 64 bits, as it is looked for among those of a span: of 100 million stacks two
 * have the same with odds of 1 to 3,700.
 *
 * In SQL there are constants and numbers, and texts only through clickhouse_sql_text.
 */
#ifndef SEAM_STORE_CLICKHOUSE_H
#define SEAM_STORE_CLICKHOUSE_H

#include "base/cursor.h"
#include "base/map.h"
#include "net/http.h"
#include "store/backend.h"

#define CLICKHOUSE_SCHEMA 4 /* what a newer one means is not known */
#define CLICKHOUSE_STACK 8u /* bytes of a stack's hash, as a number */
#define CLICKHOUSE_ANSWER ((size_t)1 << 30)
/* Servers from here on have codecs, TTL and the settings that are used (they are all older). */
#define CLICKHOUSE_MODERN 2200u
/* And these merge a partition that is at rest (min_age_to_force_merge_on_partition_only). */
#define CLICKHOUSE_SETTLES 2300u

struct clickhouse {
	struct remote remote;
	struct http *http;
	char *database;  /* "name." or "" */
	unsigned server; /* major * 100 + minor; 0: not asked yet */
	bool known;      /* the schema was looked at */
	bool looks;      /* before it puts a window, it looks whether that is there */
	struct map sent; /* frames that the server has, and */
	uint64_t sent_day;
	struct map sent_stacks; /* stacks that it has for an hour */
	uint64_t sent_hour;
};

/* ---- clickhouse_sql.c ---- */

/* Appends a text as SQL has it. */
void clickhouse_sql_text(struct buf *sql, const char *text);
/* Appends a table's name with its database: "seam_windows". */
void clickhouse_sql_table(const struct clickhouse *c, struct buf *sql, const char *table);
/* Runs a statement; what it answers is in *ret, http_answer_free's, also on failure. */
int clickhouse_query(struct clickhouse *c, struct buf *sql, struct http_answer *ret,
                     struct seam_error *err);
/* 1: the answer, as text, is another number than 0; 0; -errno. The statement is given up. */
int clickhouse_is(struct clickhouse *c, struct buf *sql, struct seam_error *err);
/* The same without an answer; the statement is given up. */
int clickhouse_do(struct clickhouse *c, struct buf *sql, struct seam_error *err);
/* Runs, or says, a statement that makes tables; it is given up. */
int clickhouse_make(struct clickhouse *c, const struct store_init *o, struct buf *sql,
                    struct seam_error *err);
/* Inserts rows, in RowBinary. what: "seam_frames (frame, name)"; token: a name for the rows, NULL:
 * none. */
int clickhouse_insert(struct clickhouse *c, const char *what, const char *token,
                      const struct buf *rows, struct seam_error *err);
/* RowBinary. */
void clickhouse_put_text(struct buf *row, const char *text);
/* A text without NUL, which is valid as long as the answer; the cursor fails. */
const char *clickhouse_text(struct cursor *c, struct buf *room);
/* The server's answer makes no sense. */
int clickhouse_bad(const struct clickhouse *c, struct seam_error *err);

/* ---- clickhouse_upgrade.c: before and behind the making of tables ---- */

int clickhouse_upgrade_begin(struct clickhouse *c, const struct store_init *o, bool local,
                             struct seam_error *err);
int clickhouse_upgrade_end(struct clickhouse *c, const struct store_init *o, bool local,
                           struct seam_error *err);

/* ---- clickhouse_schema.c ---- */

/* Asks which server it is. */
int clickhouse_server(struct clickhouse *c, struct seam_error *err);
/* Looks once whether the tables are there, and ours. -ENOENT, -EPROTO. */
int clickhouse_ready(struct clickhouse *c, struct seam_error *err);
int clickhouse_migrate(struct clickhouse *c, const struct store_init *o, struct seam_error *err);

int clickhouse_put(void *store, const struct store_window *w, struct seam_error *err);
int clickhouse_read(void *store, const struct store_query *q, struct profile *into,
                    struct store_found *ret, struct seam_error *err);
int clickhouse_list(void *store, const struct store_query *q, struct store_listing *ret,
                    struct seam_error *err);
int clickhouse_roll_up(void *store, const struct store_query *q, uint64_t now_ns, unsigned most,
                       struct store_rolled *ret, struct seam_error *err);
int clickhouse_functions(void *store, const struct store_query *q, unsigned limit,
                         struct store_functions *ret, struct seam_error *err);

/* ---- clickhouse_series.c ---- */

struct clickhouse_series_hour {
	uint32_t hour;
	uint64_t windows; /* that it has, of the span */
	uint64_t put;     /* and that its series had, when they were put; 0: never */
	bool kept;        /* it is in the span as a whole, and seam_series has all of it */
};

/* The windows of a span, by hour. clickhouse_series_free. */
struct clickhouse_series {
	uint64_t from_ns, to_ns; /* the span */
	uint64_t windows, first_ns, last_ns;
	bool has_table;
	struct clickhouse_series_hour *hours; /* those that have windows, in order */
	size_t n, capacity;
};

/* Puts the series of an hour, which has so many windows. */
int clickhouse_series_put(struct clickhouse *c, uint32_t hour, uint64_t windows,
                          struct seam_error *err);
int clickhouse_series_look(struct clickhouse *c, const struct store_query *q,
                           struct clickhouse_series *ret, struct seam_error *err);
/* Whether an hour's series were put, of all its windows. */
bool clickhouse_series_has(const struct clickhouse_series *s, uint32_t hour);
void clickhouse_series_free(struct clickhouse_series *s);
/* A table for FROM: the series of the span that the filter lets through, in parts: their labels,
 * some (windows), taken (samples), first and last. False, and nothing is put: ask windows. */
bool clickhouse_series_sql(const struct clickhouse *c, const struct clickhouse_series *s,
                           const struct store_query *q, struct buf *sql);

/* ---- clickhouse_where.c ---- */

/* A number for a series: all of its labels. */
#define CLICKHOUSE_SERIES "cityHash64(service, version, host, comm, label_keys, label_values)"

/* Calls each for every key of a list "host,comm" (NULL: none), until one fails. */
int clickhouse_each_by(const char *by, int (*each)(void *ctx, size_t i, const char *key),
                       void *ctx);
/* A label as an expression. */
void clickhouse_label_sql(struct buf *sql, const char *key);
/* What a filter (NULL: none) lets through, as labels_match: AND each key has one of its values. */
void clickhouse_filter_sql(struct buf *sql, const struct labels_filter *f);
/* The same, of its terms about the service and the host alone. */
void clickhouse_filter_places_sql(struct buf *sql, const struct labels_filter *f);
/* Whether it has no other terms. */
bool clickhouse_filter_is_places(const struct labels_filter *f);
/* The query's span as hours, which it may cover in part. */
void clickhouse_hours_sql(struct buf *sql, const struct store_query *q);
/* The query's span, as a condition: of the index (seconds), and exactly. */
void clickhouse_span_sql(struct buf *sql, const struct store_query *q);
/* Of rows of series: the span and the filter. */
void clickhouse_where_sql(struct buf *sql, const struct store_query *q);

#endif
