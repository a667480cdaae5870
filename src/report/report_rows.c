// SPDX-License-Identifier: MIT
// report_rows.c: the rows of a report, in their order, and which of them are shown.
#include "report/report.h"

struct rollup_opts report_rollup_opts(const struct report *r, uint32_t event)
{
	return (struct rollup_opts){ .columns = r->fields.columns,
		                     .event = event,
		                     .shown = r->shown,
		                     .parents = r->parents };
}

int report_rollup(const struct report *r, uint32_t event, struct rollup *ret)
{
	const struct rollup_opts opts = report_rollup_opts(r, event);
	int rc = rollup_build(ret, r->load.profile, &opts);

	if (rc >= 0)
		rollup_sort_behind(ret, !r->no_children, r->fields.first, r->fields.n_first);
	return rc;
}

bool report_visible(const struct report *r, const struct rollup *t, const struct rollup_row *row)
{
	uint64_t by = r->no_children ? row->self : row->total;

	/* A row that only calls others has no samples of its own: without children it would be a
	 * row of zeros. */
	return by && report_percent(by, t->weight) >= r->percent_limit;
}
