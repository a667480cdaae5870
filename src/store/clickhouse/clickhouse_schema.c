// SPDX-License-Identifier: MIT
/*
 * clickhouse_schema.c: see clickhouse.h: the tables, and which version of them a server has.
 * seam store init --dry-run prints what this makes.
 *
 * On one server the tables have their names. In a cluster these are Distributed tables over others
 * that end in _local, so that whoever reads and writes need not know.
 */
#include "store/clickhouse/clickhouse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A table: its columns, with a codec where servers know codecs. */
static const struct clickhouse_table {
	const char *name, *columns;
	const char *engine; /* and what is in its parentheses */
	const char *version;
	const char *rest;  /* behind the engine */
	const char *shard; /* what a cluster is divided by */
	const char *ttl;   /* the column that TTL counts from */
	/* Rows that the index tells apart; 0: as the server likes. Where a row has arrays, fewer
	 * than for numbers. */
	unsigned granularity;
	/* A day to which nothing has come for an hour becomes one part, whose rows FINAL need not
	 * compare. */
	bool settles;
} clickhouse_tables[] = {
	/* By hour, then by host: so what a host has of a service's hour lies together. */
	{ "seam_windows",
	  "time DateTime('UTC'){Delta(4), ZSTD(1)}, from_ns UInt64{Delta(8), ZSTD(1)}, "
	  "to_ns UInt64{Delta(8), ZSTD(1)}, type LowCardinality(String), unit UInt8, "
	  "service LowCardinality(String), version LowCardinality(String), "
	  "host LowCardinality(String), comm LowCardinality(String), "
	  "instance LowCardinality(String), label_keys Array(String){ZSTD(1)}, "
	  "label_values Array(String){ZSTD(1)}, stacks Array(UInt64){ZSTD(3)}, "
	  "samples Array(UInt64){T64, ZSTD(1)}, weight_each UInt64{ZSTD(1)}, "
	  "weights Array(UInt64){ZSTD(1)}, count_names Array(String){ZSTD(1)}, count_values "
	  "Array(UInt64){T64, ZSTD(1)}",
	  "ReplacingMergeTree", "",
	  "PARTITION BY toDate(time) ORDER BY (type, service, toStartOfHour(time), host, time, "
	  "version, comm, instance, from_ns, unit, label_keys, label_values)",
	  "cityHash64(if(type = '', instance, service))", "time", 256, true },
	{ "seam_stacks",
	  "hour DateTime{Delta(4), ZSTD(1)}, service LowCardinality(String), "
	  "host LowCardinality(String), stack UInt64{ZSTD(1)}, state LowCardinality(String), "
	  "frames Array(UInt64){ZSTD(1)}",
	  "ReplacingMergeTree", "",
	  "PARTITION BY toDate(hour) ORDER BY (hour, service, host, stack)", "cityHash64(service)",
	  "hour", 1024, true },
	{ "seam_frames",
	  "frame UInt64, name String{LZ4}, file LowCardinality(String), line UInt32, "
	  "object LowCardinality(String), build_id LowCardinality(String), kind UInt8, "
	  "depth UInt32, seen DateTime",
	  "ReplacingMergeTree", "seen", "ORDER BY frame", "frame", "seen" },
	{ "seam_hours",
	  "hour DateTime{Delta(4), ZSTD(1)}, type LowCardinality(String), unit UInt8, "
	  "service LowCardinality(String), version LowCardinality(String), func UInt64{ZSTD(1)}, "
	  "self UInt64{T64, ZSTD(1)}, total UInt64{T64, ZSTD(1)}, made DateTime",
	  "ReplacingMergeTree", "made",
	  "PARTITION BY toDate(hour) ORDER BY (hour, type, unit, service, version, func)",
	  "cityHash64(service)", "hour", 0, true },
	{ "seam_series",
	  "hour DateTime{Delta(4), ZSTD(1)}, whole UInt8, service LowCardinality(String), "
	  "version LowCardinality(String), host LowCardinality(String), "
	  "comm LowCardinality(String), label_keys Array(String){ZSTD(1)}, "
	  "label_values Array(String){ZSTD(1)}, windows UInt64{T64, ZSTD(1)}, "
	  "samples UInt64{T64, ZSTD(1)}, first_ns UInt64{Delta(8), ZSTD(1)}, "
	  "last_ns UInt64{Delta(8), ZSTD(1)}, made DateTime",
	  "ReplacingMergeTree", "made",
	  "PARTITION BY toDate(hour) ORDER BY (hour, whole, service, host, version, comm, "
	  "label_keys, label_values)",
	  "cityHash64(service)", "hour", 0, true },
	{ "seam_schema", "version UInt32, made DateTime", "ReplacingMergeTree", "made",
	  "ORDER BY version", NULL, NULL },
};

#define CLICKHOUSE_TABLES (sizeof(clickhouse_tables) / sizeof(clickhouse_tables[0]))

/* Asks for the version, once: "26.5.1.1". */
int clickhouse_server(struct clickhouse *c, struct seam_error *err)
{
	struct http_answer answer;
	struct buf sql = { 0 };
	unsigned major, minor;
	int r;

	if (c->server)
		return 0;
	buf_put_text(&sql, "SELECT version() FORMAT TabSeparated");
	r = clickhouse_query(c, &sql, &answer, err);
	if (r >= 0 && (sscanf(buf_text(&answer.body), "%4u.%2u", &major, &minor) != 2 || !major))
		r = seam_error_set(err, EBADMSG, NULL, SEAM_NO_OFFSET, NULL,
		                   "%s does not answer as ClickHouse does", c->remote.origin);
	if (r >= 0)
		c->server = major * 100 + minor;
	http_answer_free(&answer);
	buf_free(&sql);
	return r;
}

/* 1: there is a table of this name; 0; -errno. */
static int clickhouse_exists(struct clickhouse *c, const char *table, struct seam_error *err)
{
	struct buf sql = { 0 };

	buf_put_text(&sql, "EXISTS TABLE ");
	clickhouse_sql_table(c, &sql, table);
	buf_put_text(&sql, " FORMAT TabSeparated");
	return clickhouse_is(c, &sql, err);
}

/* The version of the tables; 0: there are none. */
static int clickhouse_version(struct clickhouse *c, unsigned *ret, struct seam_error *err)
{
	struct http_answer answer;
	struct buf sql = { 0 };
	int r = clickhouse_exists(c, "seam_schema", err);

	*ret = 0;
	if (r <= 0)
		return r;
	buf_put_text(&sql, "SELECT max(version) FROM ");
	clickhouse_sql_table(c, &sql, "seam_schema FORMAT TabSeparated");
	r = clickhouse_query(c, &sql, &answer, err);
	if (r >= 0 && sscanf(buf_text(&answer.body), "%9u", ret) != 1)
		r = clickhouse_bad(c, err);
	http_answer_free(&answer);
	buf_free(&sql);
	return r;
}

static int clickhouse_newer(const struct clickhouse *c, unsigned version, struct seam_error *err)
{
	return seam_error_set(err, EPROTO, NULL, SEAM_NO_OFFSET, NULL,
	                      "%s: the store is of version %u, of a newer seam: this one knows "
	                      "version %d",
	                      c->remote.origin, version, CLICKHOUSE_SCHEMA);
}

/* Asks until the server has said that all is well. */
int clickhouse_ready(struct clickhouse *c, struct seam_error *err)
{
	unsigned version;
	int r = c->known ? 0 : clickhouse_server(c, err);

	if (c->known || r < 0)
		return r;
	r = clickhouse_version(c, &version, err);
	if (r < 0)
		return r;
	if (!version)
		return seam_error_set(err, ENOENT, NULL, SEAM_NO_OFFSET, NULL,
		                      "%s has no tables of seam: 'seam store init' makes them",
		                      c->remote.origin);
	if (version > CLICKHOUSE_SCHEMA)
		return clickhouse_newer(c, version, err);
	if (version < CLICKHOUSE_SCHEMA)
		return seam_error_set(err, EPROTO, NULL, SEAM_NO_OFFSET, NULL,
		                      "%s: the store is of version %u, of an earlier seam: 'seam "
		                      "store init' brings it to version %d, on each server",
		                      c->remote.origin, version, CLICKHOUSE_SCHEMA);
	c->known = true;
	return 0;
}

/* ---- making ---- */

/* Columns, with their codecs or without. */
static void clickhouse_columns(struct buf *sql, const char *columns, bool codecs)
{
	for (size_t n; *columns; columns += n) {
		n = strcspn(columns, "{}");
		buf_put(sql, columns, n);
		if (columns[n] == '{' && codecs) {
			buf_put_text(sql, " CODEC(");
		} else if (columns[n] == '}' && codecs) {
			buf_put_text(sql, ")");
		} else if (columns[n] == '{') {
			n += strcspn(columns + n, "}");
		}
		n += columns[n] != 0;
	}
}

/* What is set for a table, where its server knows that. */
static void clickhouse_settings(const struct clickhouse *c, const struct clickhouse_table *t,
                                bool replicated, struct buf *sql)
{
	const char *separator = " SETTINGS ";

	if (t->granularity) {
		buf_printf(sql, "%sindex_granularity = %u", separator, t->granularity);
		separator = ", ";
	}
	if (c->server >= CLICKHOUSE_MODERN && !replicated) {
		buf_printf(sql, "%snon_replicated_deduplication_window = 10000", separator);
		separator = ", ";
	}
	if (c->server >= CLICKHOUSE_SETTLES && t->settles)
		buf_printf(sql,
		           "%smin_age_to_force_merge_seconds = 3600, "
		           "min_age_to_force_merge_on_partition_only = 1",
		           separator);
}

/* CREATE TABLE of one table where its rows are. */
static void clickhouse_create(const struct clickhouse *c, const struct store_init *o,
                              const struct clickhouse_table *t, struct buf *sql)
{
	bool modern = c->server >= CLICKHOUSE_MODERN;
	const char *suffix = o->cluster && t->shard ? "_local" : "";

	buf_put_text(sql, "CREATE TABLE IF NOT EXISTS ");
	clickhouse_sql_table(c, sql, t->name);
	buf_printf(sql, "%s", suffix);
	if (o->replicated)
		buf_printf(sql, " ON CLUSTER %s", o->cluster);
	buf_put_text(sql, " (");
	clickhouse_columns(sql, t->columns, modern);
	buf_printf(sql, ") ENGINE = %s%s(", o->replicated ? "Replicated" : "", t->engine);
	/* What is not divided is the same on all servers. */
	if (o->replicated && t->shard)
		buf_printf(sql, "'/clickhouse/tables/{shard}/%s%s%s', '{replica}'%s", c->database,
		           t->name, suffix, *t->version ? ", " : "");
	else if (o->replicated)
		buf_printf(sql, "'/clickhouse/tables/all/%s%s', '{shard}-{replica}'%s", c->database,
		           t->name, *t->version ? ", " : "");
	buf_printf(sql, "%s) %s", t->version, t->rest);
	clickhouse_settings(c, t, o->replicated, sql);
}

/* And of the Distributed table before it. */
static void clickhouse_create_distributed(const struct clickhouse *c, const struct store_init *o,
                                          const struct clickhouse_table *t, struct buf *sql)
{
	buf_put_text(sql, "CREATE TABLE IF NOT EXISTS ");
	clickhouse_sql_table(c, sql, t->name);
	if (o->replicated)
		buf_printf(sql, " ON CLUSTER %s", o->cluster);
	buf_put_text(sql, " AS ");
	clickhouse_sql_table(c, sql, t->name);
	buf_printf(sql, "_local ENGINE = Distributed(%s, ", o->cluster);
	if (*c->database)
		buf_printf(sql, "%.*s", (int)strlen(c->database) - 1, c->database);
	else
		buf_put_text(sql, "currentDatabase()");
	buf_printf(sql, ", %s_local, %s)", t->name, t->shard);
}

/* How long rows stay: what counts is when a row was sent last, or of when it is. What windows refer
 * to stays longer. It is a statement
 * of its own, as it is for tables that were there, too. local: rows are in tables that end so. */
static int clickhouse_keep(struct clickhouse *c, const struct store_init *o, bool local,
                           struct seam_error *err)
{
	int r = 0;

	for (size_t i = 0; i < CLICKHOUSE_TABLES && o->keep_days && r >= 0; i++) {
		const struct clickhouse_table *t = &clickhouse_tables[i];
		struct buf sql = { 0 };

		if (!t->ttl)
			continue;
		buf_put_text(&sql, "ALTER TABLE ");
		clickhouse_sql_table(c, &sql, t->name);
		buf_put_text(&sql, local ? "_local" : "");
		if (o->replicated)
			buf_printf(&sql, " ON CLUSTER %s", o->cluster);
		buf_printf(&sql, " MODIFY TTL %s + INTERVAL %u DAY", t->ttl,
		           o->keep_days + (strcmp(t->ttl, "time") ? 2 : 0));
		r = clickhouse_make(c, o, &sql, err);
	}
	return r;
}

/* Makes what is not there yet. local: of a cluster; version: of the tables that are there. */
static int clickhouse_make_all(struct clickhouse *c, const struct store_init *o, bool local,
                               unsigned version, struct seam_error *err)
{
	bool upgrades = version && version < CLICKHOUSE_SCHEMA;
	struct buf sql = { 0 };
	int r = upgrades ? clickhouse_upgrade_begin(c, o, local, err) : 0;

	for (size_t i = 0; i < CLICKHOUSE_TABLES && r >= 0; i++) {
		clickhouse_create(c, o, &clickhouse_tables[i], &sql);
		r = clickhouse_make(c, o, &sql, err);
		if (r >= 0 && o->cluster && clickhouse_tables[i].shard) {
			clickhouse_create_distributed(c, o, &clickhouse_tables[i], &sql);
			r = clickhouse_make(c, o, &sql, err);
		}
	}
	if (r >= 0 && upgrades)
		r = clickhouse_upgrade_end(c, o, local, err);
	if (r >= 0)
		r = clickhouse_keep(c, o, local, err);
	/* Last, so that what was made half-way is not taken for whole. */
	if (r >= 0) {
		buf_put_text(&sql, "INSERT INTO ");
		clickhouse_sql_table(c, &sql, "seam_schema (version, made)");
		buf_printf(&sql, " VALUES (%d, now())", CLICKHOUSE_SCHEMA);
		r = clickhouse_make(c, o, &sql, err);
	}
	return r;
}

/* Makes the tables, or brings them to this version. A cluster's tables that are there are known by
 * their names, whether the cluster is named again or not. */
int clickhouse_migrate(struct clickhouse *c, const struct store_init *o, struct seam_error *err)
{
	unsigned version = 0;
	int r = clickhouse_server(c, err);

	if (r >= 0 && o->keep_days && c->server < CLICKHOUSE_MODERN)
		return seam_error_set(err, EOPNOTSUPP, NULL, SEAM_NO_OFFSET, NULL,
		                      "%s: ClickHouse %u.%u cannot let old rows go by itself "
		                      "(--keep needs 22 or later): drop old days of seam_windows "
		                      "with ALTER TABLE ... DROP PARTITION",
		                      c->remote.origin, c->server / 100, c->server % 100);
	if (r >= 0)
		r = clickhouse_version(c, &version, err);
	if (r >= 0 && version > CLICKHOUSE_SCHEMA)
		return clickhouse_newer(c, version, err);
	if (r >= 0)
		r = o->cluster ? 1 : clickhouse_exists(c, "seam_windows_local", err);
	return r < 0 ? r : clickhouse_make_all(c, o, r, version, err);
}
