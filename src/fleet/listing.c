// SPDX-License-Identifier: MIT
/*
 * listing.c: see listing.h.
 *
 * What `seam store ls` prints. Labels are a stranger's choice: they are escaped.
 */
#include "fleet/listing.h"

#include "base/json.h"
#include "base/shown.h"
#include "store/when.h"

/* KEY=VALUE for each label. */
static void listing_labels(const struct labels *l, struct buf *out)
{
	const char *key, *value;
	size_t at = 0;

	for (const char *separator = ""; labels_next(l, &at, &key, &value); separator = " ")
		shown_printf(out, "%s%s=%s", separator, key, value);
}

/* Columns are wide enough for a million samples; labels come last, because they have no width. */
void listing_text(const struct store_listing *l, struct buf *out)
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
		listing_labels(&s->labels, out);
		buf_put_text(out, "\n");
	}
	buf_printf(out, "%zu series, %llu windows, %.1f MB", l->n, (unsigned long long)l->windows,
	           (double)l->bytes / 1e6);
	if (l->windows)
		buf_printf(out, ", from %s to %s", when_text(l->first_ns, a),
		           when_text(l->last_ns, b));
	buf_put_text(out, "\n");
}

/* Times are in nanoseconds since 1970. */
void listing_json(const struct store_listing *l, struct buf *out)
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
