// SPDX-License-Identifier: MIT
/*
 * listing.c: see listing.h.
 *
 * What `seam store ls` prints. Labels are a stranger's choice: they are escaped.
 */
#include "fleet/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/shown.h"
#include "base/when.h"

/* ---- by labels ---- */

/* Whether a key is in a list, by commas. */
static bool listing_has(const char *list, const char *key)
{
	size_t n = strlen(key);

	for (size_t m; *list; list += m + (list[m] == ',')) {
		m = strcspn(list, ",");
		if (m == n && !memcmp(list, key, n))
			return true;
	}
	return false;
}

/* Leaves a series nothing but these labels. -ENOMEM. */
static int listing_cut(struct store_series *s, const char *by)
{
	struct labels left = { 0 };
	const char *key, *value;
	size_t at = 0;
	int r = 0;

	while (r >= 0 && labels_next(&s->labels, &at, &key, &value))
		if (listing_has(by, key))
			r = labels_set(&left, key, value);
	labels_free(&s->labels);
	s->labels = left;
	s->windows = 1;
	return r;
}

static int listing_by_labels(const void *a, const void *b)
{
	return labels_order(&((const struct store_series *)a)->labels,
	                    &((const struct store_series *)b)->labels);
}

static int listing_by_samples(const void *a, const void *b)
{
	const struct store_series *x = a, *y = b;

	return x->samples != y->samples ? (x->samples < y->samples ? 1 : -1)
	                                : listing_by_labels(a, b);
}

/* All series are cut to these labels and sorted; then equal ones stand together. */
int listing_join(struct store_listing *l, const char *by)
{
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < l->n && r >= 0 && !l->joined; i++)
		r = listing_cut(&l->series[i], by);
	if (r < 0 || !l->n)
		return r < 0 ? -ENOMEM : 0;
	qsort(l->series, l->n, sizeof(*l->series), listing_by_labels);
	for (size_t i = 0; i < l->n && !l->joined; i++) {
		struct store_series *from = &l->series[i], *to = n ? &l->series[n - 1] : NULL;

		if (!to || listing_by_labels(to, from)) {
			l->series[n++] = *from;
			continue;
		}
		to->windows++;
		to->samples += from->samples;
		to->first_ns = from->first_ns < to->first_ns ? from->first_ns : to->first_ns;
		to->last_ns = from->last_ns > to->last_ns ? from->last_ns : to->last_ns;
		labels_free(&from->labels);
	}
	l->n = l->joined ? l->n : n;
	qsort(l->series, l->n, sizeof(*l->series), listing_by_samples);
	return 0;
}

/* ---- text ---- */

/* KEY=VALUE for each label. */
static void listing_labels(const struct labels *l, struct buf *out)
{
	const char *key, *value;
	size_t at = 0;

	for (const char *separator = ""; labels_next(l, &at, &key, &value); separator = " ")
		shown_printf(out, "%s%s=%s", separator, key, value);
}

/* Columns are wide enough for a million samples; labels come last, because they have no width. */
void listing_text(const struct store_listing *l, const char *by, struct buf *out)
{
	char a[WHEN_TEXT_MAX], b[WHEN_TEXT_MAX];

	if (l->n)
		buf_printf(out, "   samples  %s  first                last                 %s\n",
		           by ? " series" : "windows", by ? "labels" : "series");
	for (size_t i = 0; i < l->n; i++) {
		const struct store_series *s = &l->series[i];

		buf_printf(out, "%10llu %8llu  %s  %s  ", (unsigned long long)s->samples,
		           (unsigned long long)s->windows, when_text(s->first_ns, a),
		           when_text(s->last_ns, b));
		listing_labels(&s->labels, out);
		buf_put_text(out, "\n");
	}
	buf_printf(out, "%zu %s, %llu windows, %.1f MB", l->n, by ? "rows" : "series",
	           (unsigned long long)l->windows, (double)l->bytes / 1e6);
	if (l->windows)
		buf_printf(out, ", from %s to %s", when_text(l->first_ns, a),
		           when_text(l->last_ns, b));
	buf_put_text(out, "\n");
	if (l->folded)
		buf_printf(
		        out,
		        "%llu samples of this time are of stacks that were too many for the store: "
		        "[folded] stands for their innermost functions\n",
		        (unsigned long long)l->folded);
}

/* Times are in nanoseconds since 1970. */
void listing_json(const struct store_listing *l, const char *by, struct buf *out)
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
	json_key(&j, "folded");
	json_u64(&j, l->folded);
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
		json_key(&j, by ? "series" : "windows");
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
