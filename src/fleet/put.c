// SPDX-License-Identifier: MIT
/*
 * put.c: see put.h.
 *
 * Between a window as it was recorded and the store: rows become series (series.c), and what is
 * known of the recording's quality becomes counts.
 */
#include "fleet/put.h"

/* Splits the rows into series and hands all to the store. */
int put_window(struct store *s, const struct put_window *w, struct seam_error *err)
{
	struct quality none = { 0 }, quality = w->quality ? *w->quality : none;
	struct series series = { 0 };
	struct store_window window = { .instance = w->instance,
		                       .from_ns = w->from_ns,
		                       .to_ns = w->to_ns,
		                       .profile = w->profile };
	int r = series_split(&series, w->profile, w->all, w->processes);

	/* The caller's list stays as it is: this one is filled here. */
	quality.counts = none.counts;
	if (r >= 0)
		r = quality_end(&quality, &window.counts, &window.n_counts);
	window.row_series = series.of_row;
	window.series = series.labels;
	window.n_series = series.n;
	if (r >= 0)
		r = store_put(s, &window, err);
	buf_free(&quality.counts);
	series_free(&series);
	return r;
}
