// SPDX-License-Identifier: MIT
/* sqlite_list.c: see sqlite.h: what series a store has. */
#include "store/sqlite_counts.h"

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

/* What a series has in the span, by its number. */
struct list_sum {
	int64_t series, last_window;
	uint64_t windows, samples, first_ns, last_ns;
};

struct list_sums {
	struct list_sum *at;
	size_t n, capacity;
	struct map by_series; /* -> index of at */
	/* the window that is read */
	int64_t window;
	uint64_t from_ns, to_ns;
};

/* A counted_reader's group: adds it to its series, and wants no counts. -ENOMEM. */
static int sqlite_list_group(void *ctx, const struct counted_head *head)
{
	struct list_sums *sums = ctx;
	struct list_sum *sum;
	bool is_new;
	uint64_t *slot = map_slot(&sums->by_series, head->series, &is_new);

	if (!slot)
		return -ENOMEM;
	if (is_new) {
		if (ARRAY_ROOM(&sums->at, &sums->capacity, sums->n + 1) < 0)
			return -ENOMEM;
		*slot = sums->n;
		sums->at[sums->n++] = (struct list_sum){ .series = (int64_t)head->series,
			                                 .first_ns = sums->from_ns };
	}
	sum = &sums->at[*slot];
	sum->windows += !sum->windows || sum->last_window != sums->window;
	sum->last_window = sums->window;
	sum->samples += head->samples;
	sum->first_ns = sums->from_ns < sum->first_ns ? sums->from_ns : sum->first_ns;
	sum->last_ns = sums->to_ns > sum->last_ns ? sums->to_ns : sum->last_ns;
	return 0;
}

/* Adds up what the span has of each series. -errno. */
static int sqlite_list_sums(const struct sqlite_store *s, const struct store_query *q,
                            struct list_sums *sums, struct seam_error *err)
{
	const struct counted_reader to = { .group = sqlite_list_group, .ctx = sums };
	struct sqlite_counts counts = { 0 };
	sqlite3_stmt *statement = sqlite_prepare(s,
	                                         "SELECT id, from_ns, to_ns FROM windows WHERE "
	                                         "from_ns >= ?1 AND from_ns < ?2",
	                                         err);
	int rc = statement ? sqlite_counts_start(&counts, s, err) : -err->code;

	if (statement)
		sqlite_bind_span(statement, q);
	while (rc >= 0 && (rc = sqlite_step(s, statement, err)) > 0) {
		sums->window = sqlite3_column_int64(statement, 0);
		sums->from_ns = (uint64_t)sqlite3_column_int64(statement, 1);
		sums->to_ns = (uint64_t)sqlite3_column_int64(statement, 2);
		rc = sqlite_counts_each(&counts, sums->window, &to, err);
	}
	sqlite3_finalize(statement);
	sqlite_counts_end(&counts);
	return rc;
}

/* Adds a series with its labels, if the query's filter wants it. -errno. */
static int sqlite_list_one(const struct sqlite_store *s, struct store_listing *l, size_t *capacity,
                           const struct list_sum *sum, sqlite3_stmt *statement,
                           const struct labels_filter *where, struct seam_error *err)
{
	struct store_series series = { .windows = sum->windows,
		                       .samples = sum->samples,
		                       .first_ns = sum->first_ns,
		                       .last_ns = sum->last_ns };
	const void *bytes;
	size_t n;
	int rc;

	sqlite3_reset(statement);
	sqlite3_bind_int64(statement, 1, sum->series);
	rc = sqlite_step(s, statement, err);
	if (rc <= 0)
		return rc < 0 ? rc : -EBADMSG;
	rc = sqlite_blob(statement, 0, &bytes, &n);
	if (rc >= 0)
		rc = labels_take(&series.labels, bytes, n);
	if (rc >= 0 && labels_match(where, &series.labels))
		rc = ARRAY_ROOM(&l->series, capacity, l->n + 1) < 0 ? -ENOMEM : 1;
	if (rc == 1)
		l->series[l->n++] = series;
	else
		labels_free(&series.labels);
	return rc < 0 ? rc : 0;
}

/* Reads the series of all epochs with what they have. -errno. */
static int sqlite_list_series(const struct sqlite_store *s, const struct store_query *q,
                              struct store_listing *l, struct seam_error *err)
{
	struct list_sums sums = { 0 };
	sqlite3_stmt *statement = sqlite_prepare(s, "SELECT labels FROM series WHERE id = ?1", err);
	size_t capacity = 0;
	int rc = statement ? sqlite_list_sums(s, q, &sums, err) : -err->code;

	for (size_t i = 0; i < sums.n && rc >= 0; i++)
		rc = sqlite_list_one(s, l, &capacity, &sums.at[i], statement, q->where, err);
	sqlite3_finalize(statement);
	free(sums.at);
	map_free(&sums.by_series);
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
	        "pragma_page_count()) * (SELECT page_size FROM pragma_page_size()), (SELECT "
	        "sum(folded) FROM epochs WHERE id IN (SELECT epoch FROM windows WHERE from_ns >= "
	        "?1 AND from_ns < ?2)) FROM windows WHERE from_ns >= ?1 AND from_ns < ?2",
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
		ret->folded = (uint64_t)sqlite3_column_int64(statement, 4);
	}
	sqlite3_finalize(statement);
	if (rc >= 0)
		rc = sqlite_list_series(s, q, ret, &why);
	if (rc >= 0)
		sqlite_list_join(ret);
	if (rc == -EBADMSG && !why.code)
		rc = seam_error_set(&why, EBADMSG, s->path, SEAM_NO_OFFSET, NULL,
		                    "the store is damaged: what it says of its series makes no "
		                    "sense");
	if (rc < 0 && err)
		*err = why;
	return rc < 0 ? rc : 0;
}
