// SPDX-License-Identifier: MIT
// report_rows.c: the rows of a report, in their order, and which of them are shown.
#include "report/report.h"

/* The rollup of what the report was asked for, of one event; 0: of all. */
struct rollup_opts report_rollup_opts(const struct report *r, uint32_t event)
{
	return (struct rollup_opts){ .columns = r->fields.columns,
		                     .event = event,
		                     .flat = r->load.flat,
		                     .shown = r->shown,
		                     .parents = r->parents };
}

/* Whether a field shows what functions called, too. */
static bool report_shows_totals(const struct report *r)
{
	for (size_t i = 0; i < r->fields.n; i++)
		if (r->fields.field[i] == REPORT_TOTAL)
			return true;
	return !r->no_children;
}

/* Brings the rows that are shown to the front, in their order; of the others only sums are. So few
 * rows are compared by name, where a table has tens of thousands. */
static void report_sort_shown(const struct report *r, struct rollup *t)
{
	struct rollup shown = *t;

	shown.n = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct rollup_row row = t->rows[i];

		if (!report_visible(r, t, &row))
			continue;
		t->rows[i] = t->rows[shown.n];
		t->rows[shown.n++] = row;
	}
	rollup_sort_behind(&shown, !r->no_children, r->fields.first, r->fields.n_first);
}

/* The rows with all figures, in their order, or with those that are shown. The caller frees them.
 * -ENOMEM. */
int report_rollup(const struct report *r, uint32_t event, bool all, struct rollup *ret)
{
	struct rollup_opts opts = report_rollup_opts(r, event);
	int rc;

	opts.self_only = !all && !report_shows_totals(r);
	rc = rollup_build(ret, r->load.profile, &opts);
	if (rc >= 0 && all)
		rollup_sort_behind(ret, !r->no_children, r->fields.first, r->fields.n_first);
	else if (rc >= 0)
		report_sort_shown(r, ret);
	return rc;
}

/* Whether the row reaches the limit. It is of the figure by which rows are ordered. */
bool report_visible(const struct report *r, const struct rollup *t, const struct rollup_row *row)
{
	uint64_t by = r->no_children ? row->self : row->total;

	/* A row that only calls others has no samples of its own: without children it would be a
	 * row of zeros. */
	return by && report_percent(by, t->weight) >= r->percent_limit;
}
