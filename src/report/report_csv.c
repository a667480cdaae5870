// SPDX-License-Identifier: MIT
// report_csv.c: a report's rows as comma-separated values (RFC 4180). The columns are documented in
// report.c and stable.
#include <inttypes.h>
#include <string.h>

#include "base/csv.h"
#include "report/report.h"
#include "export/export.h"

/* The names of the columns; figures stand behind the keys. */
static void csv_heading(const struct report *r, struct buf *out)
{
	buf_put_text(out, "event");
	for (size_t k = 0; k < r->fields.n; k++)
		if (r->fields.field[k] < ROLLUP_COLUMNS && r->fields.field[k] != ROLLUP_EVENT)
			buf_printf(out, ",%s", report_key(r->fields.field[k]));
	buf_put_text(out,
	             ",self_percent,total_percent,self,total,self_samples,total_samples,unit\n");
}

/* Writes a row: the event, the keys that were asked for, and all figures in an order that does not
 * change. */
static void csv_row(const struct report *r, const struct rollup *t, const struct rollup_row *row,
                    uint32_t event, struct buf *out)
{
	char buf[ROLLUP_TEXT_MAX];

	csv_text(out, profile_event_name(r->load.profile, event));
	for (size_t k = 0; k < r->fields.n; k++) {
		enum rollup_column field = r->fields.field[k];
		const char *value;

		if ((unsigned)field >= ROLLUP_COLUMNS || field == ROLLUP_EVENT)
			continue;
		buf_put_text(out, ",");
		value = rollup_value(t, row, field, buf, sizeof(buf));
		csv_text(out, value ? value : rollup_text(t, row, field, buf, sizeof(buf)));
	}
	buf_printf(out, ",%.4f,%.4f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s\n",
	           report_percent(row->self, t->weight), report_percent(row->total, t->weight),
	           row->self, row->total, row->self_samples, row->total_samples,
	           export_unit(r->load.profile, event));
}

/* Has all events and all rows. -ENOMEM. */
int report_csv(const struct report *r, struct buf *out)
{
	csv_heading(r, out);
	for (uint32_t e = 1; e <= profile_n_events(r->load.profile); e++) {
		struct rollup t;
		int rc = report_rollup(r, e, true, &t);

		if (rc < 0)
			return rc;
		for (size_t i = 0; i < t.n; i++)
			csv_row(r, &t, &t.rows[i], e, out);
		rollup_free(&t);
	}
	return 0;
}
