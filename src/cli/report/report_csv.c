// SPDX-License-Identifier: MIT
// report_csv.c: a report's rows as comma-separated values (RFC 4180). The columns are documented in
// report.c and stable.
#include <inttypes.h>
#include <string.h>

#include "cli/csv.h"
#include "cli/report/report.h"

static void csv_heading(const struct report *r, struct buf *out)
{
	buf_put_text(out, "event");
	for (size_t k = 0; k < r->fields.n; k++)
		if (r->fields.field[k] < ROLLUP_COLUMNS && r->fields.field[k] != ROLLUP_EVENT)
			buf_printf(out, ",%s", report_key(r->fields.field[k]));
	buf_put_text(out, ",self_percent,total_percent,self,total,self_samples,total_samples\n");
}

/* Objects and files with their whole path: a program reads it. */
static const char *csv_value(const struct rollup *t, const struct rollup_row *row, unsigned column,
                             char *buf, size_t n)
{
	uint32_t v = row->value[column];

	if (column == ROLLUP_OBJECT && v)
		return profile_text(t->profile, profile_object_at(t->profile, v)->path);
	if (column == ROLLUP_FILE && v)
		return profile_text(t->profile, v);
	return rollup_text(t, row, (enum rollup_column)column, buf, n);
}

static void csv_row(const struct report *r, const struct rollup *t, const struct rollup_row *row,
                    const char *event, struct buf *out)
{
	char buf[ROLLUP_TEXT_MAX];

	csv_text(out, event);
	for (size_t k = 0; k < r->fields.n; k++) {
		unsigned field = r->fields.field[k];

		if (field >= ROLLUP_COLUMNS || field == ROLLUP_EVENT)
			continue;
		buf_put_text(out, ",");
		csv_text(out, csv_value(t, row, field, buf, sizeof(buf)));
	}
	buf_printf(out, ",%.4f,%.4f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
	           report_percent(row->self, t->weight), report_percent(row->total, t->weight),
	           row->self, row->total, row->self_samples, row->total_samples);
}

int report_csv(const struct report *r, struct buf *out)
{
	csv_heading(r, out);
	for (uint32_t e = 1; e <= profile_n_events(r->load.profile); e++) {
		struct rollup t;
		int rc = report_rollup(r, e, &t);

		if (rc < 0)
			return rc;
		for (size_t i = 0; i < t.n; i++)
			csv_row(r, &t, &t.rows[i], profile_event_name(r->load.profile, e), out);
		rollup_free(&t);
	}
	return 0;
}
