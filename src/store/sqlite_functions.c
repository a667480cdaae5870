// SPDX-License-Identifier: MIT
// sqlite_functions.c: see sqlite_hours.h: what functions have, by the hours that are rolled up.
#include "store/sqlite_hours.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/leb.h"
#include "store/sqlite_called.h"

/* The functions of an event while they are added up. */
struct functions_event {
	struct map at; /* id -> place, + 1 */
	struct store_function *functions;
	size_t n, capacity;
};

struct functions_reading {
	const struct sqlite_store *s;
	const struct store_query *q;
	struct store_functions *ret;
	struct seam_error *err;
	struct functions_event *events; /* as those of ret */
	size_t capacity, ret_capacity;
};

/* The event of a row, made when new. -ENOMEM. */
static int functions_event(struct functions_reading *r, const char *type, unsigned unit, size_t *at)
{
	struct store_functions *f = r->ret;

	for (*at = 0; *at < f->n; (*at)++)
		if (f->events[*at].unit == unit && !strcmp(f->events[*at].type, type))
			return 0;
	if (ARRAY_ROOM(&f->events, &r->ret_capacity, f->n + 1) < 0 ||
	    ARRAY_ROOM(&r->events, &r->capacity, f->n + 1) < 0)
		return -ENOMEM;
	r->events[f->n] = (struct functions_event){ 0 };
	f->events[f->n] = (struct store_event){ .type = strdup(type), .unit = unit };
	return f->events[f->n].type ? (f->n++, 0) : -ENOMEM;
}

/* Adds a row's functions. -ENOMEM, -EBADMSG. */
static int functions_add(struct functions_event *e, const void *bytes, size_t n)
{
	struct buf plain = { 0 };
	int r = blocks_unpack(&plain, bytes, n);
	struct cursor c = cursor_of(plain.bytes, plain.n, false);
	uint64_t id = 0, *at;

	while (r >= 0 && cursor_left(&c)) {
		id += leb_unsigned(&c);
		at = map_slot(&e->at, id, NULL);
		if (!at || ARRAY_ROOM(&e->functions, &e->capacity, e->n + 1) < 0) {
			r = -ENOMEM;
			break;
		}
		if (!*at) {
			e->functions[e->n++] = (struct store_function){ .id = id };
			*at = e->n;
		}
		e->functions[*at - 1].self += leb_unsigned(&c);
		e->functions[*at - 1].total += leb_unsigned(&c);
		if (c.failed)
			r = -EBADMSG;
	}
	buf_free(&plain);
	return r;
}

/* Whether the query's filter wants a row's service and version. -ENOMEM. */
static int functions_wanted(const struct functions_reading *r, const char *service,
                            const char *version)
{
	struct labels labels = { 0 };
	int rc = labels_set(&labels, "service", service);

	if (rc >= 0)
		rc = labels_set(&labels, "version", version);
	if (rc >= 0)
		rc = labels_match(r->q->where, &labels);
	labels_free(&labels);
	return rc;
}

/* A row: event, unit, service, version, weight, data. */
static int functions_row(struct functions_reading *r, sqlite3_stmt *statement)
{
	const char *text[3];
	const void *bytes;
	size_t n, at;
	int rc;

	for (int i = 0; i < 3; i++) {
		text[i] = (const char *)sqlite3_column_text(statement, (int[]){ 0, 2, 3 }[i]);
		if (!text[i])
			return -ENOMEM;
	}
	rc = functions_wanted(r, text[1], text[2]);
	if (rc <= 0)
		return rc;
	rc = functions_event(r, text[0], (unsigned)sqlite3_column_int(statement, 1), &at);
	if (rc < 0)
		return rc;
	if (r->ret->events[at].unit > PROFILE_NANOSECONDS)
		return -EBADMSG;
	r->ret->events[at].all += (uint64_t)sqlite3_column_int64(statement, 4);
	rc = sqlite_blob(statement, 5, &bytes, &n);
	return rc < 0 ? rc : functions_add(&r->events[at], bytes, n);
}

/* Adds up the rows of hours in the span that are rolled up. -errno. */
static int functions_read(struct functions_reading *r, const int64_t *span)
{
	sqlite3_stmt *statement = sqlite_prepare(
	        r->s,
	        "SELECT event, unit, service, version, weight, data FROM rolled_sums WHERE hour >= "
	        "?1 "
	        "AND hour < ?2 AND hour IN (SELECT hour FROM rolled_hours) ORDER BY event, unit",
	        r->err);
	int rc;

	if (!statement)
		return -r->err->code;
	sqlite3_bind_int64(statement, 1, span[0]);
	sqlite3_bind_int64(statement, 2, span[1]);
	while ((rc = sqlite_step(r->s, statement, r->err)) > 0) {
		rc = functions_row(r, statement);
		if (rc < 0)
			break;
	}
	sqlite3_finalize(statement);
	return rc;
}

/* The most first. */
static int functions_order(const void *pa, const void *pb)
{
	const struct store_function *a = pa, *b = pb;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return a->id < b->id ? -1 : 1;
}

static int functions_by_id(const void *pa, const void *pb)
{
	const struct store_function *a = *(struct store_function *const *)pa;
	const struct store_function *b = *(struct store_function *const *)pb;

	return (a->id > b->id) - (a->id < b->id);
}

/* Names an event's functions; one that is not in the table stays without. -errno. */
static int functions_name(const struct functions_reading *r, struct store_event *e)
{
	struct store_function **by_id = calloc(e->n + 1, sizeof(struct store_function *));
	int rc;

	if (!by_id)
		return -ENOMEM;
	for (size_t i = 0; i < e->n; i++)
		by_id[i] = &e->functions[i];
	qsort(by_id, e->n, sizeof(struct store_function *), functions_by_id);
	rc = sqlite_called_name(r->s, by_id, e->n, r->err);
	free(by_id);
	return rc;
}

/* Hands over the functions that have most of each event. -errno. */
static int functions_take(struct functions_reading *r, unsigned limit)
{
	int rc = 0;

	for (size_t i = 0; i < r->ret->n && rc >= 0; i++) {
		struct functions_event *from = &r->events[i];
		struct store_event *e = &r->ret->events[i];

		if (from->n)
			qsort(from->functions, from->n, sizeof(*from->functions), functions_order);
		e->functions = from->functions;
		e->n = from->n < limit ? from->n : limit;
		from->functions = NULL;
		rc = functions_name(r, e);
	}
	return rc;
}

/* Hours of the span that have windows, and are not rolled up. */
static int functions_missing(const struct sqlite_store *s, const struct store_query *q, bool has,
                             uint64_t *ret, struct seam_error *err)
{
	sqlite3_stmt *statement = sqlite_prepare(
	        s,
	        has ? "SELECT count(*) FROM (SELECT DISTINCT from_ns / 3600000000000 FROM windows "
	              "WHERE from_ns >= ?1 AND from_ns < ?2 EXCEPT SELECT hour FROM rolled_hours)"
	            : "SELECT count(DISTINCT from_ns / 3600000000000) FROM windows "
	              "WHERE from_ns >= ?1 AND from_ns < ?2",
	        err);
	int r;

	if (!statement)
		return -err->code;
	sqlite_bind_span(statement, q);
	r = sqlite_step(s, statement, err);
	*ret = r > 0 ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
	sqlite3_finalize(statement);
	return r;
}

/* The functions of each event that have most of it, of the hours of the span that are rolled up. In
 * one transaction, so that hours that go meanwhile are still there. */
int sqlite_functions(void *store, const struct store_query *q, unsigned limit,
                     struct store_functions *ret, struct seam_error *err)
{
	struct seam_error why = { 0 };
	struct functions_reading r = { .s = store, .q = q, .ret = ret, .err = &why };
	int64_t span[2], hours = 0;
	int rc = sqlite_do(r.s, "BEGIN", &why), has;

	sqlite_hours_span(q, &span[0], &span[1]);
	has = rc < 0 ? rc : sqlite_has_hours(r.s, &why);
	rc = has < 0 ? has : functions_missing(r.s, q, has, &ret->missing, &why);
	if (rc >= 0 && has > 0)
		rc = sqlite_run(r.s,
		                "SELECT count(*) FROM rolled_hours WHERE hour >= ?1 AND hour < ?2",
		                span, 2, &hours, &why);
	ret->hours = (uint64_t)hours;
	if (rc >= 0 && hours)
		rc = functions_read(&r, span);
	if (rc >= 0)
		rc = functions_take(&r, limit);
	sqlite3_exec(r.s->db, "COMMIT", NULL, NULL, NULL);
	for (size_t i = 0; i < ret->n; i++) {
		map_free(&r.events[i].at);
		free(r.events[i].functions);
	}
	free(r.events);
	if (rc == -EBADMSG && !why.code)
		rc = seam_error_set(
		        &why, EBADMSG, r.s->path, SEAM_NO_OFFSET, NULL,
		        "the store is damaged: what it says of its hours makes no sense");
	if (rc < 0 && err)
		*err = why;
	return rc < 0 ? rc : 0;
}
