// SPDX-License-Identifier: MIT
// store_show.c: `seam store ls`: what a store has; `seam store series`: a function's share over
// time.
#include "cli/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/shown.h"
#include "cmd/outfile.h"
#include "profile/rollup.h"
#include "base/csv.h"
#include "store/when.h"

#define POINTS 60u
#define POINTS_MAX 10000u
#define BAR 40u /* columns of the longest bar */

static int store_print(const struct store_cmd *s, struct buf *out, int r, struct seam_error *err)
{
	int rc = EXIT_FAILED;

	if (r >= 0 && out->failed)
		r = -ENOMEM;
	if (r < 0)
		cmd_error(s->cmd, "%s", cmd_reason(err, r));
	else
		rc = outfile_print(s->cmd, out);
	buf_free(out);
	return rc;
}

/* ---- ls ---- */

static void ls_labels(const struct labels *l, struct buf *out)
{
	const char *key, *value;
	size_t at = 0;

	for (const char *separator = ""; labels_next(l, &at, &key, &value); separator = " ")
		shown_printf(out, "%s%s=%s", separator, key, value);
}

/* A line for each series, then what they are together. */
static void ls_text(const struct store_listing *l, struct buf *out)
{
	char a[WHEN_TEXT_MAX], b[WHEN_TEXT_MAX];

	if (l->n)
		buf_put_text(
		        out,
		        "   samples  windows  first                last                 series\n");
	for (size_t i = 0; i < l->n; i++) {
		const struct store_series *s = &l->series[i];

		buf_printf(out, "%10llu %8llu  %s  %s  ", (unsigned long long)s->samples,
		           (unsigned long long)s->windows, when_text(s->first_ns, a),
		           when_text(s->last_ns, b));
		ls_labels(&s->labels, out);
		buf_put_text(out, "\n");
	}
	buf_printf(out, "%zu series, %llu windows, %.1f MB", l->n, (unsigned long long)l->windows,
	           (double)l->bytes / 1e6);
	if (l->windows)
		buf_printf(out, ", from %s to %s", when_text(l->first_ns, a),
		           when_text(l->last_ns, b));
	buf_put_text(out, "\n");
}

/* Writes the same as one object; its keys are documented in store.c and stable. */
static void ls_json(const struct store_listing *l, struct buf *out)
{
	struct json j = { .out = out };
	const char *key, *value;

	json_open(&j, '{');
	json_key(&j, "version");
	json_u64(&j, 1);
	json_key(&j, "windows");
	json_u64(&j, l->windows);
	json_key(&j, "bytes");
	json_u64(&j, l->bytes);
	json_key(&j, "first_ns");
	json_u64(&j, l->first_ns);
	json_key(&j, "last_ns");
	json_u64(&j, l->last_ns);
	json_key(&j, "series");
	json_open(&j, '[');
	for (size_t i = 0; i < l->n; i++) {
		const struct store_series *s = &l->series[i];
		size_t at = 0;

		json_open(&j, '{');
		json_key(&j, "labels");
		json_open(&j, '{');
		while (labels_next(&s->labels, &at, &key, &value)) {
			json_key(&j, key);
			json_string(&j, value);
		}
		json_close(&j, '}');
		json_key(&j, "samples");
		json_u64(&j, s->samples);
		json_key(&j, "windows");
		json_u64(&j, s->windows);
		json_key(&j, "first_ns");
		json_u64(&j, s->first_ns);
		json_key(&j, "last_ns");
		json_u64(&j, s->last_ns);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	buf_put_text(out, "\n");
}

/* Lists all series, as text or JSON. An exit code. */
int store_cmd_ls(struct store_cmd *s)
{
	struct store_listing l = { 0 };
	struct seam_error err = { 0 };
	struct buf out = { 0 };
	struct store *store;
	int r = store_open(&store, s->stored.url, STORE_READ, &err);

	if (r >= 0) {
		r = store_list(store, &l, &err);
		store_close(store);
	}
	if (r >= 0 && s->form == STORE_JSON)
		ls_json(&l, &out);
	else if (r >= 0)
		ls_text(&l, &out);
	store_listing_free(&l);
	return store_print(s, &out, r, &err);
}

/* ---- series ---- */

struct series_point {
	uint64_t from_ns;
	uint64_t all, total, self; /* weights of the first event */
};

/* The weights of all functions of this name. */
static int series_sum(const struct profile *p, const char *function, struct series_point *ret)
{
	const struct rollup_opts opts = { .columns = 1u << ROLLUP_SYMBOL, .event = 1 };
	struct profile_account a;
	struct rollup t;
	int r = profile_n_events(p) ? rollup_build(&t, p, &opts) : -ENOENT;

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	profile_account(p, 1, &a);
	ret->all = a.weight;
	for (size_t i = 0; i < t.n; i++) {
		char text[ROLLUP_TEXT_MAX];
		const char *name = rollup_value(&t, &t.rows[i], ROLLUP_SYMBOL, text, sizeof(text));

		if (!name || strcmp(name, function) != 0)
			continue;
		ret->total += t.rows[i].total;
		ret->self += t.rows[i].self;
	}
	rollup_free(&t);
	return 0;
}

static int series_point(struct store_cmd *s, struct store *store, uint64_t from_ns, uint64_t to_ns,
                        struct series_point *ret, struct seam_error *err)
{
	struct store_query q = s->stored.query;
	struct answer a = { 0 };
	int r;

	*ret = (struct series_point){ .from_ns = from_ns };
	q.from_ns = from_ns;
	q.to_ns = to_ns;
	r = answer_load(&a, store, &q, 0, err);
	if (r >= 0)
		r = series_sum(a.load.profile, s->function, ret);
	answer_free(&a);
	return r;
}

static double series_share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* A line for each point, with a bar; the longest one is the largest share. */
static void series_text(const struct series_point *p, size_t n, struct buf *out)
{
	char at[WHEN_TEXT_MAX];
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = series_share(p[i].total, p[i].all) > most
		               ? series_share(p[i].total, p[i].all)
		               : most;
	for (size_t i = 0; i < n; i++) {
		double share = series_share(p[i].total, p[i].all);
		unsigned bar = most > 0 ? (unsigned)(share / most * BAR + 0.5) : 0;

		buf_printf(out, "%s ", when_text(p[i].from_ns, at));
		if (p[i].all)
			buf_printf(out, "%7.2f%% ", share);
		else
			buf_put_text(out, "       - ");
		while (bar--)
			buf_put_text(out, "#");
		buf_put_text(out, "\n");
	}
}

static void series_csv(const struct series_point *p, size_t n, struct buf *out)
{
	buf_put_text(out, "time_ns,share_percent,total,self,all\n");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%llu,%.4f,%llu,%llu,%llu\n", (unsigned long long)p[i].from_ns,
		           series_share(p[i].total, p[i].all), (unsigned long long)p[i].total,
		           (unsigned long long)p[i].self, (unsigned long long)p[i].all);
}

/* Writes the points as one object; its keys are documented in store.c and stable. */
static void series_json(const struct store_cmd *s, const struct series_point *p, size_t n,
                        struct buf *out)
{
	struct json j = { .out = out };

	json_open(&j, '{');
	json_key(&j, "version");
	json_u64(&j, 1);
	json_key(&j, "function");
	json_string(&j, s->function);
	json_key(&j, "points");
	json_open(&j, '[');
	for (size_t i = 0; i < n; i++) {
		json_open(&j, '{');
		json_key(&j, "time_ns");
		json_u64(&j, p[i].from_ns);
		json_key(&j, "total");
		json_u64(&j, p[i].total);
		json_key(&j, "self");
		json_u64(&j, p[i].self);
		json_key(&j, "all");
		json_u64(&j, p[i].all);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	buf_put_text(out, "\n");
}

/* Asks for each point by itself; the span is cut into equal parts. */
int store_cmd_series(struct store_cmd *s)
{
	const struct store_query *q = &s->stored.query;
	uint64_t span = q->to_ns - q->from_ns;
	uint64_t step = s->window_ns ? s->window_ns : (span + POINTS - 1) / POINTS;
	uint64_t n = (span + step - 1) / step;
	struct series_point *points = NULL;
	struct seam_error err = { 0 };
	struct store *store = NULL;
	struct buf out = { 0 };
	int r;

	if (n > POINTS_MAX) {
		cmd_error(s->cmd, "--window: the span has more than %u of them", POINTS_MAX);
		return EXIT_USAGE;
	}
	r = store_open(&store, s->stored.url, STORE_READ, &err);
	points = calloc(n + 1, sizeof(*points));
	if (r >= 0 && !points)
		r = -ENOMEM;
	for (uint64_t i = 0; i < n && r >= 0; i++) {
		uint64_t from = q->from_ns + i * step;

		r = series_point(s, store, from, from + step < q->to_ns ? from + step : q->to_ns,
		                 &points[i], &err);
	}
	if (r >= 0 && s->form == STORE_CSV)
		series_csv(points, n, &out);
	else if (r >= 0 && s->form == STORE_JSON)
		series_json(s, points, n, &out);
	else if (r >= 0)
		series_text(points, n, &out);
	store_close(store);
	free(points);
	return store_print(s, &out, r, &err);
}
