// SPDX-License-Identifier: MIT
/* sqlite_list.c: see sqlite.h: what series a store has. */
#include "store/sqlite.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* Equal labels stand together. */
static int sqlite_series_order(const void *a, const void *b)
{
	const struct store_series *x = a, *y = b;

	return labels_order(&x->labels, &y->labels);
}

/* Series of one set of labels in several epochs become one. */
static void sqlite_list_join(struct store_listing *l)
{
	size_t n = 0;

	if (l->n)
		qsort(l->series, l->n, sizeof(*l->series), sqlite_series_order);
	for (size_t i = 0; i < l->n; i++) {
		struct store_series *from = &l->series[i], *to = n ? &l->series[n - 1] : NULL;

		if (!to || labels_order(&to->labels, &from->labels)) {
			l->series[n++] = *from;
			continue;
		}
		to->windows += from->windows;
		to->samples += from->samples;
		if (from->first_ns < to->first_ns)
			to->first_ns = from->first_ns;
		if (from->last_ns > to->last_ns)
			to->last_ns = from->last_ns;
		labels_free(&from->labels);
	}
	l->n = n;
}

/* Adds the series of a row, if the query's filter wants it. -errno. */
static int sqlite_list_one(struct store_listing *l, size_t *capacity, sqlite3_stmt *statement,
                           const struct labels_filter *where)
{
	struct store_series series = {
		.windows = (uint64_t)sqlite3_column_int64(statement, 1),
		.samples = (uint64_t)sqlite3_column_int64(statement, 2),
		.first_ns = (uint64_t)sqlite3_column_int64(statement, 3),
		.last_ns = (uint64_t)sqlite3_column_int64(statement, 4),
	};
	int rc = labels_take(&series.labels, sqlite3_column_blob(statement, 0),
	                     (size_t)sqlite3_column_bytes(statement, 0));

	if (rc < 0 || !labels_match(where, &series.labels)) {
		labels_free(&series.labels);
		return rc < 0 ? rc : 0;
	}
	if (ARRAY_ROOM(&l->series, capacity, l->n + 1) < 0) {
		labels_free(&series.labels);
		return -ENOMEM;
	}
	l->series[l->n++] = series;
	return 0;
}

/* Reads the series of all epochs with what they have. CROSS JOIN: first the windows of the span.
 * -errno. */
static int sqlite_list_series(const struct sqlite_store *s, const struct store_query *q,
                              struct store_listing *l, struct seam_error *err)
{
	sqlite3_stmt *statement = sqlite_prepare(
	        s,
	        "SELECT labels, n, samples, first, last FROM (SELECT series AS number, "
	        "count(DISTINCT "
	        "window) AS n, sum(samples) AS samples, min(from_ns) AS first, max(to_ns) AS last "
	        "FROM windows CROSS JOIN counts ON counts.window = windows.id WHERE from_ns >= ?1 "
	        "AND from_ns < ?2 GROUP BY series) JOIN series ON series.id = number",
	        err);
	size_t capacity = 0;
	int rc = 0;

	if (!statement)
		return -err->code;
	sqlite_bind_span(statement, q);
	while (rc >= 0 && (rc = sqlite_step(s, statement, err)) > 0)
		rc = sqlite_list_one(l, &capacity, statement, q->where);
	sqlite3_finalize(statement);
	return rc;
}

/* First what the span has as a whole, then its series. */
int sqlite_list(void *store, const struct store_query *q, struct store_listing *ret,
                struct seam_error *err)
{
	const struct sqlite_store *s = store;
	struct seam_error why = { 0 };
	sqlite3_stmt *statement = sqlite_prepare(
	        s,
	        "SELECT count(*), min(from_ns), max(to_ns), (SELECT page_count FROM "
	        "pragma_page_count()) * (SELECT page_size FROM pragma_page_size()) FROM windows "
	        "WHERE from_ns >= ?1 AND from_ns < ?2",
	        &why);
	int rc = statement ? 0 : -why.code;

	if (rc >= 0) {
		sqlite_bind_span(statement, q);
		rc = sqlite_step(s, statement, &why);
	}
	if (rc > 0) {
		ret->windows = (uint64_t)sqlite3_column_int64(statement, 0);
		ret->first_ns = (uint64_t)sqlite3_column_int64(statement, 1);
		ret->last_ns = (uint64_t)sqlite3_column_int64(statement, 2);
		ret->bytes = (uint64_t)sqlite3_column_int64(statement, 3);
	}
	sqlite3_finalize(statement);
	if (rc >= 0)
		rc = sqlite_list_series(s, q, ret, &why);
	if (rc >= 0)
		sqlite_list_join(ret);
	if (rc == -EBADMSG && !why.code)
		rc = seam_error_set(&why, EBADMSG, s->path, SEAM_NO_OFFSET, NULL,
		                    "the store is damaged: a series has no labels");
	if (rc < 0 && err)
		*err = why;
	return rc < 0 ? rc : 0;
}
