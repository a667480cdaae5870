// SPDX-License-Identifier: MIT
/*
 * put.c: see put.h.
 *
 * Between a window as it was recorded and the store: rows become series (series.c), and what is
 * known of the recording's quality becomes counts.
 */
#include "fleet/put.h"

#include "fleet/flat_frames.h"

/* Splits the rows into series and hands all to the store. */
int put_window(struct store *s, const struct put_window *w, struct seam_error *err)
{
	struct quality none = { 0 }, quality = w->quality ? *w->quality : none;
	struct flat flat = { .says = flat_python_says, .frame = flat_frames_say };
	struct flat_frames frames = { .flat = &flat };
	struct series series = { 0 };
	struct store_window window = { .instance = w->instance,
		                       .from_ns = w->from_ns,
		                       .to_ns = w->to_ns,
		                       .profile = w->profile,
		                       .flat = w->sums ? &flat : NULL };
	int r = series_split(&series, w->profile, w->all, w->processes);

	/* The caller's list stays as it is: this one is filled here. */
	quality.counts = none.counts;
	flat.ctx = &frames;
	if (r >= 0)
		r = quality_end(&quality, &window.counts, &window.n_counts);
	window.row_series = series.of_row;
	window.series = series.labels;
	window.n_series = series.n;
	if (r >= 0)
		r = store_put(s, &window, err);
	flat_frames_free(&frames);
	buf_free(&quality.counts);
	series_free(&series);
	return r;
}
