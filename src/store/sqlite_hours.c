// SPDX-License-Identifier: MIT
/*
 * sqlite_hours.c: see sqlite_hours.h: hours are rolled up. An hour is read in pieces of whole
 * minutes, so that memory is bounded by a piece's stacks and the hour's functions, and writers go
 * on meanwhile; where they put something into it, it is left for the next time.
 */
#include "store/sqlite_counts.h"
#include "store/sqlite_hours.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "profile/rollup.h"
#include "store/parts/sqlite_parts.h"
#include "store/sqlite_called.h"

/* Those of an older seam are let go: it had names that were not packed, and would take numbers for
 * others. */
static const char hours_schema[] =
        "DROP TRIGGER IF EXISTS hours_again;"
        "DROP TABLE IF EXISTS hours;"
        "DROP TABLE IF EXISTS hour_sums;"
        "DROP TABLE IF EXISTS functions;"
        "CREATE TABLE IF NOT EXISTS rolled_hours (hour INTEGER PRIMARY KEY);"
        "CREATE TABLE IF NOT EXISTS rolled_sums (hour INTEGER NOT NULL, event TEXT NOT NULL, "
        "unit INTEGER NOT NULL, service TEXT NOT NULL, version TEXT NOT NULL, "
        "weight INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (hour, event, unit, service, "
        "version)) WITHOUT ROWID;" CALLED_SCHEMA
        "CREATE TRIGGER IF NOT EXISTS rolled_again AFTER INSERT ON windows WHEN new.begins = x'' "
        "BEGIN DELETE FROM rolled_hours WHERE hour = new.from_ns / 3600000000000; END;";

/* Whose functions are added up: interned texts. */
struct hours_group {
	uint32_t event, unit, service, version;
};

/* Interned texts. */
struct hours_function {
	uint32_t name, object;
};

struct hours_sum {
	uint32_t group, function; /* of the pools */
	uint64_t self, total;
};

/* What is made of one hour. */
struct hours_making {
	struct sqlite_store *s;
	struct seam_error *err;
	int64_t hour;
	struct intern texts;
	struct pool groups, functions;
	struct map at; /* group << 32 | function -> place in sums, + 1 */
	struct hours_sum *sums;
	size_t n, capacity;
	uint64_t *weights; /* by group */
	size_t n_weights, weights_capacity;
	int64_t *ids; /* by function, in the table; 0: not looked up */
};

/* ---- what there is ---- */

int sqlite_has_hours(const struct sqlite_store *s, struct seam_error *err)
{
	int64_t n;
	int r = sqlite_run(s, "SELECT count(*) FROM sqlite_master WHERE name = 'rolled_hours'",
	                   NULL, 0, &n, err);

	return r < 0 ? r : n > 0;
}

void sqlite_hours_span(const struct store_query *q, int64_t *from, int64_t *to)
{
	*from = (int64_t)(q->from_ns / HOURS_NS);
	*to = (int64_t)(q->to_ns / HOURS_NS + (q->to_ns % HOURS_NS != 0));
}

/* -errno. */
int sqlite_forget_hours(const struct sqlite_store *s, struct seam_error *err)
{
	int64_t hour;
	int r = sqlite_has_hours(s, err);

	if (r <= 0)
		return r;
	r = sqlite_run(
	        s,
	        "DELETE FROM rolled_hours WHERE hour < ifnull((SELECT min(from_ns) FROM windows) / "
	        "3600000000000, 9223372036854775807)",
	        NULL, 0, NULL, err);
	/* Nothing else is to be looked for in each window's transaction. */
	if (r < 0 || !sqlite3_changes(s->db))
		return r;
	r = sqlite_run(
	        s,
	        "DELETE FROM rolled_sums WHERE hour < ifnull((SELECT min(hour) FROM rolled_hours), "
	        "9223372036854775807)",
	        NULL, 0, NULL, err);
	if (r >= 0)
		r = sqlite_run(s, "SELECT ifnull(min(hour), 9223372036854775807) FROM rolled_hours",
		               NULL, 0, &hour, err);
	return r < 0 ? r : sqlite_called_forget(s, hour, err);
}

/* What tells whether somebody put or merged windows of the hour meanwhile. */
struct hours_stamp {
	int64_t n, ids;
};

static int hours_stamp(const struct hours_making *m, struct hours_stamp *ret)
{
	const int64_t span[] = { m->hour * (int64_t)HOURS_NS, (m->hour + 1) * (int64_t)HOURS_NS };
	int r = sqlite_run(m->s,
	                   "SELECT count(*) FROM windows WHERE from_ns >= ?1 AND from_ns < ?2",
	                   span, 2, &ret->n, m->err);

	return r < 0 ? r
	             : sqlite_run(m->s,
	                          "SELECT ifnull(sum(id), 0) FROM windows WHERE from_ns >= ?1 AND "
	                          "from_ns < ?2",
	                          span, 2, &ret->ids, m->err);
}

/* ---- adding up ---- */

/* For sqlite_read_by: a label that says both exactly, whatever bytes they have. */
static void hours_label(const struct labels *l, const char *by, struct buf *out)
{
	const char *service = labels_get(l, "service"), *version = labels_get(l, "version");

	(void)by;
	buf_printf(out, "%zu:%s%s", service ? strlen(service) : 0, service ? service : "",
	           version ? version : "");
}

/* The group of a row of the rollup. POOL_FAILED. */
static uint32_t hours_group(struct hours_making *m, const struct profile *p,
                            const struct rollup_row *row)
{
	const char *label = profile_text(p, row->value[ROLLUP_LABEL]);
	char *service;
	size_t n = strtoul(label, &service, 10);
	struct hours_group g = { .unit = profile_event_unit(p, row->value[ROLLUP_EVENT]) };

	service++; /* the colon */
	g.event = intern_text(&m->texts, profile_event_name(p, row->value[ROLLUP_EVENT]));
	g.service = intern_bytes(&m->texts, service, n);
	g.version = intern_text(&m->texts, service + n);
	if (g.event == INTERN_FAILED || g.service == INTERN_FAILED || g.version == INTERN_FAILED)
		return POOL_FAILED;
	return pool_put(&m->groups, &g);
}

/* POOL_FAILED. */
static uint32_t hours_function(struct hours_making *m, const struct rollup *t,
                               const struct rollup_row *row)
{
	char buf[ROLLUP_TEXT_MAX];
	const char *name = rollup_value(t, row, ROLLUP_SYMBOL, buf, sizeof(buf));
	struct hours_function f = { .name = intern_text(&m->texts, name ? name : "") };
	const char *object = rollup_value(t, row, ROLLUP_OBJECT, buf, sizeof(buf));

	f.object = intern_text(&m->texts, object ? object : "");
	return f.name == INTERN_FAILED || f.object == INTERN_FAILED ? POOL_FAILED
	                                                            : pool_put(&m->functions, &f);
}

/* Adds a row of the rollup of a piece. -ENOMEM. */
static int hours_add(struct hours_making *m, const struct rollup *t, const struct rollup_row *row)
{
	struct hours_sum sum = { hours_group(m, t->profile, row), hours_function(m, t, row), 0, 0 };
	uint64_t *at;

	if (sum.group == POOL_FAILED || sum.function == POOL_FAILED)
		return -ENOMEM;
	at = map_slot(&m->at, (uint64_t)sum.group << 32 | sum.function, NULL);
	if (!at || ARRAY_ROOM(&m->sums, &m->capacity, m->n + 1) < 0)
		return -ENOMEM;
	if (!*at) {
		m->sums[m->n++] = sum;
		*at = m->n;
	}
	m->sums[*at - 1].self += row->self;
	m->sums[*at - 1].total += row->total;
	return 0;
}

/* Adds what all samples of a group weigh, also those without a stack. -ENOMEM. */
static int hours_add_all(struct hours_making *m, const struct rollup *t,
                         const struct rollup_row *row)
{
	uint32_t group = hours_group(m, t->profile, row);

	if (group == POOL_FAILED ||
	    ARRAY_ROOM_ZEROED(&m->weights, &m->weights_capacity, (size_t)group + 1) < 0)
		return -ENOMEM;
	m->weights[group] += row->self;
	return 0;
}

/* Adds what a rollup of the profile by these columns has. frames: NULL: all rows; else those of
 * frames alone. -ENOMEM. */
static int hours_add_each(struct hours_making *m, const struct profile *p, unsigned columns,
                          const bool *frames,
                          int (*add)(struct hours_making *m, const struct rollup *t,
                                     const struct rollup_row *row))
{
	const struct rollup_opts opts = { .columns =
		                                  columns | 1u << ROLLUP_EVENT | 1u << ROLLUP_LABEL,
		                          .shown = frames,
		                          .self_only = !frames };
	struct rollup t;
	int r = rollup_build(&t, p, &opts);

	if (r < 0)
		return r;
	for (size_t i = 0; i < t.n && r >= 0; i++)
		r = add(m, &t, &t.rows[i]);
	rollup_free(&t);
	return r;
}

/* Adds the functions of a profile. -ENOMEM. */
static int hours_add_profile(struct hours_making *m, const struct profile *p)
{
	bool *frames = malloc(profile_n_frames(p) + 1);
	int r = frames ? 0 : -ENOMEM;

	if (r >= 0) {
		memset(frames, true, profile_n_frames(p) + 1);
		frames[0] = false;
		r = hours_add_each(m, p, 1u << ROLLUP_OBJECT | 1u << ROLLUP_SYMBOL, frames,
		                   hours_add);
	}
	if (r >= 0)
		r = hours_add_each(m, p, 0, NULL, hours_add_all);
	free(frames);
	return r;
}

/* Reads the windows that begin in a span, and adds them. -errno. */
static int hours_read(struct hours_making *m, uint64_t from_ns, uint64_t to_ns)
{
	const struct store_query q = { .from_ns = from_ns, .to_ns = to_ns, .by = "" };
	struct store_found found = { 0 };
	struct profile *p = NULL;
	int r = profile_new(&p, PROFILE_KEEP_LABEL);

	if (r >= 0)
		r = sqlite_read_by(m->s, &q, hours_label, p, &found, m->err);
	if (r >= 0)
		r = hours_add_profile(m, p);
	store_found_free(&found);
	profile_free(p);
	return r;
}

/* ---- writing ---- */

/* Finds or gives each of the hour's functions its id. -errno. */
static int hours_put_functions(struct hours_making *m)
{
	const uint32_t n = m->functions.n;
	struct called *called = calloc((size_t)n + 1, sizeof(*called));
	int r = called ? 0 : -ENOMEM;

	m->ids = calloc((size_t)n + 1, sizeof(*m->ids));
	if (!m->ids)
		r = -ENOMEM;
	for (uint32_t i = 0; i < n && r >= 0; i++) {
		const struct hours_function *f = pool_at(&m->functions, i + 1);

		called[i].name = intern_get(&m->texts, f->name);
		called[i].object = intern_get(&m->texts, f->object);
	}
	if (r >= 0)
		r = sqlite_called_put(m->s, called, n, m->hour, m->err);
	for (uint32_t i = 0; i < n && r >= 0; i++)
		m->ids[i + 1] = called[i].id;
	free(called);
	return r == -EBADMSG && !m->err->code
	               ? seam_error_set(m->err, EBADMSG, m->s->path, SEAM_NO_OFFSET, NULL,
	                                "the store is damaged: what it says of its functions "
	                                "makes no sense")
	               : r;
}

static int hours_order(const void *pa, const void *pb, void *ctx)
{
	const struct hours_making *m = ctx;
	const struct hours_sum *a = pa, *b = pb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return m->ids[a->function] < m->ids[b->function] ? -1 : 1;
}

/* Puts a group's row: the n sums are its, in the order of ids. -errno. */
static int hours_put_group(struct hours_making *m, uint32_t group, const struct hours_sum *sums,
                           size_t n)
{
	const struct hours_group *g = pool_at(&m->groups, group);
	sqlite3_stmt *insert =
	        sqlite_prepare(m->s, "INSERT INTO rolled_sums VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	                       m->err);
	struct buf plain = { 0 }, data = { 0 };
	int64_t last = 0;
	int r = insert ? 0 : -m->err->code;

	for (size_t i = 0; i < n; i++) {
		sqlite_hours_put(&plain, (uint64_t)(m->ids[sums[i].function] - last), sums[i].self,
		                 sums[i].total);
		last = m->ids[sums[i].function];
	}
	if (r >= 0)
		r = blocks_pack(&data, &plain, BLOCKS_WELL);
	if (r >= 0) {
		sqlite3_bind_int64(insert, 1, m->hour);
		sqlite3_bind_text(insert, 2, intern_get(&m->texts, g->event), -1, SQLITE_STATIC);
		sqlite3_bind_int64(insert, 3, g->unit);
		sqlite3_bind_text(insert, 4, intern_get(&m->texts, g->service), -1, SQLITE_STATIC);
		sqlite3_bind_text(insert, 5, intern_get(&m->texts, g->version), -1, SQLITE_STATIC);
		sqlite3_bind_int64(insert, 6, (int64_t)m->weights[group]);
		sqlite3_bind_blob(insert, 7, data.bytes, (int)data.n, SQLITE_STATIC);
		r = sqlite_step(m->s, insert, m->err);
	}
	sqlite3_finalize(insert);
	buf_free(&plain);
	buf_free(&data);
	return r;
}

/* Puts all of the hour. In the transaction of the caller. -errno. */
static int hours_put(struct hours_making *m)
{
	int r = sqlite_run(m->s, "DELETE FROM rolled_sums WHERE hour = ?1", &m->hour, 1, NULL,
	                   m->err);

	if (r >= 0)
		r = hours_put_functions(m);
	if (r >= 0)
		qsort_r(m->sums, m->n, sizeof(*m->sums), hours_order, m);
	for (uint32_t group = 1, at = 0, n; group <= m->groups.n && r >= 0; group++, at += n) {
		for (n = 0; at + n < m->n && m->sums[at + n].group == group;)
			n++;
		r = hours_put_group(m, group, &m->sums[at], n);
	}
	return r < 0 ? r
	             : sqlite_run(m->s, "INSERT OR IGNORE INTO rolled_hours VALUES (?1)", &m->hour,
	                          1, NULL, m->err);
}

/* ---- an hour ---- */

static void hours_free(struct hours_making *m)
{
	intern_free(&m->texts);
	pool_free(&m->groups);
	pool_free(&m->functions);
	map_free(&m->at);
	free(m->sums);
	free(m->weights);
	free(m->ids);
}

/* Puts what was read, if the windows are still those that were read. 1: it is put; 0: they are
 * others; -errno. */
static int hours_commit(struct hours_making *m, const struct hours_stamp *before)
{
	struct hours_stamp now;
	int r = sqlite_do(m->s, "BEGIN IMMEDIATE", m->err);

	if (r < 0)
		return r;
	r = hours_stamp(m, &now);
	if (r >= 0)
		r = now.n == before->n && now.ids == before->ids;
	if (r > 0)
		r = hours_put(m) < 0 ? -(m->err->code ? m->err->code : ENOMEM) : 1;
	if (r > 0 && sqlite_do(m->s, "COMMIT", m->err) < 0)
		r = -m->err->code;
	if (r <= 0)
		sqlite3_exec(m->s->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

/* Rolls an hour up. 1; 0: windows were put into it meanwhile; -errno. */
static int hours_make(struct sqlite_store *s, int64_t hour, struct seam_error *err)
{
	struct hours_making m = { .s = s,
		                  .err = err,
		                  .hour = hour,
		                  .groups.size = sizeof(struct hours_group),
		                  .functions.size = sizeof(struct hours_function) };
	const uint64_t from = (uint64_t)hour * HOURS_NS, to = from + HOURS_NS;
	struct hours_stamp before;
	int r = hours_stamp(&m, &before);
	const uint64_t piece = r < 0 ? 0 : sqlite_counts_piece(s, from, to, err);

	if (!piece)
		r = -err->code;
	for (uint64_t at = from; at < to && r >= 0; at += piece)
		r = hours_read(&m, at, at + piece < to ? at + piece : to);
	if (r >= 0)
		r = hours_commit(&m, &before);
	hours_free(&m);
	return r;
}

/* ---- the whole ---- */

/* The hours of the span that have windows and are not rolled up. -errno. */
static int hours_find(const struct sqlite_store *s, int64_t from, int64_t to, int64_t **ret,
                      size_t *n, struct seam_error *err)
{
	sqlite3_stmt *statement = sqlite_prepare(
	        s,
	        "SELECT DISTINCT from_ns / 3600000000000 AS h FROM windows WHERE from_ns >= ?1 AND "
	        "from_ns < ?2 EXCEPT SELECT hour FROM rolled_hours ORDER BY h",
	        err);
	size_t capacity = 0;
	int r = statement ? 0 : -err->code;

	if (r < 0)
		return r;
	sqlite_bind_span(statement,
	                 &(struct store_query){ .from_ns = (uint64_t)from * HOURS_NS,
	                                        .to_ns = (uint64_t)to < UINT64_MAX / HOURS_NS
	                                                         ? (uint64_t)to * HOURS_NS
	                                                         : UINT64_MAX });
	while ((r = sqlite_step(s, statement, err)) > 0) {
		if (ARRAY_ROOM(ret, &capacity, *n + 1) < 0) {
			r = -ENOMEM;
			break;
		}
		(*ret)[(*n)++] = sqlite3_column_int64(statement, 0);
	}
	sqlite3_finalize(statement);
	return r;
}

/* Sums up parts, then rolls up the hours of the query's span that are over and not rolled up, each
 * as a whole. */
int sqlite_roll_up(void *store, const struct store_query *q, uint64_t now_ns, unsigned most,
                   struct store_rolled *ret, struct seam_error *err)
{
	struct sqlite_store *s = store;
	struct seam_error why = { 0 };
	int64_t *hours = NULL, span[2], there = 0;
	size_t n = 0;
	int64_t parts = q->flat ? sqlite_sum_up(s, q, now_ns, most, &why) : 0;
	int r = parts < 0 ? (int)parts : sqlite_has_hours(s, &why);

	ret->parts = parts < 0 ? 0 : (uint64_t)parts;
	if (most && ret->parts >= most)
		return 0;
	sqlite_hours_span(q, &span[0], &span[1]);
	if (!r)
		r = sqlite_do(s, hours_schema, &why);
	if (r >= 0)
		r = hours_find(s, span[0], span[1], &hours, &n, &why);
	if (r >= 0)
		r = sqlite_run(s,
		               "SELECT count(*) FROM rolled_hours WHERE hour >= ?1 AND hour < ?2",
		               span, 2, &there, &why);
	ret->there = (uint64_t)there;
	for (size_t i = 0; i < n && r >= 0 && (!most || ret->made < most); i++) {
		r = (uint64_t)(hours[i] + 1) * HOURS_NS + HOURS_LATE_NS > now_ns
		            ? 0
		            : hours_make(s, hours[i], &why);
		ret->made += r > 0;
		ret->open += !r;
	}
	free(hours);
	if (r < 0 && err)
		*err = why;
	return r < 0 ? r : 0;
}
