// SPDX-License-Identifier: MIT
// diff_view.c: see diff_view.h. Rows and sides of a comparison in the view's words.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/shown.h"
#include "cli/diff_annotate.h"
#include "cli/diff_view.h"
#include "cli/self_annotate.h"
#include "input/unpacked.h"
#include "view/compare.h"
#include "view/feed.h"

/* The columns that rows show, in the order of their values. How many. */
static size_t diff_view_columns(const struct diff *d, enum rollup_column *columns)
{
	size_t n = 0;

	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
		if (c != ROLLUP_EVENT && d->keys.fields.columns & 1u << c)
			columns[n++] = (enum rollup_column)c;
	return n;
}

bool diff_view_can(const struct diff *d)
{
	enum rollup_column columns[ROLLUP_COLUMNS];

	return diff_view_columns(d, columns) && view_can();
}

/* A row: what the text has of it, too. */
static void diff_view_row(const struct diff *d, const struct diff_row *from,
                          const struct view_compare *c, struct compare_row *ret)
{
	*ret = (struct compare_row){
		.event = diff_event(d, from->thing),
		.base = from->base,
		.next = from->next,
		.share = from->share,
		.noise = from->noise,
		.verdict = from->verdict == DIFF_SLOWER   ? 1
		           : from->verdict == DIFF_FASTER ? -1
		                                          : 0,
	};
	for (size_t k = 0; k < c->n_columns; k++) {
		ret->value[k] = diff_value(d, from->thing, k);
		if (c->columns[k] == ROLLUP_OBJECT)
			ret->object = ret->value[k];
		if (c->columns[k] == ROLLUP_SYMBOL)
			ret->symbol = ret->value[k];
	}
}

/* Whose code is shown. */
struct diff_view {
	const struct diff *d;
	struct naming *naming;
	const struct sample_filter *filter;
};

/* One side's text: of its first recording. -ENOMEM; -ECANCELED. */
static int diff_view_side(const struct diff_view *v, size_t side, const struct view_function *f,
                          int stop, struct buf *out)
{
	const char *list = v->d->paths[side];
	char *path = v->d->n_runs[side] > 1 ? strndup(list, strcspn(list, ",")) : strdup(list);
	int r = path ? self_annotate(path, v->naming, v->filter, f, stop, out) : -ENOMEM;

	free(path);
	return r;
}

/* For the view: both sides' source and instructions as one text. */
static int diff_view_annotate(void *ctx, const struct view_function *f, int stop, struct buf *out)
{
	struct buf text[2] = { 0 };
	int r = diff_view_side(ctx, 0, f, stop, &text[0]);

	if (r >= 0)
		r = diff_view_side(ctx, 1, f, stop, &text[1]);
	if (r >= 0)
		r = diff_annotate(&text[0], &text[1], out);
	buf_free(&text[0]);
	buf_free(&text[1]);
	return r;
}

#define VIEW_BEGIN_MS 150 /* what is read within this is shown at once */
#define VIEW_LEAVE_MS 300 /* how long reading may go on when nobody looks any more */

/* What the view shows, when it has been made, and who makes it. */
struct diff_view_reading {
	struct diff_view view;
	struct diff_view_load *load;
	struct compare_row *rows;
	enum rollup_column columns[ROLLUP_COLUMNS];
	struct view_compare compare;
	bool shown;
};

/* What does not depend on samples. */
static void diff_view_settle(struct diff_view_reading *w)
{
	const struct diff *d = w->view.d;

	w->compare = (struct view_compare){ .n_columns = diff_view_columns(d, w->columns),
		                            .columns = w->columns,
		                            .absolute = d->absolute,
		                            .children = d->children,
		                            .runs = { 1, 1 },
		                            .confidence = d->confidence };
}

static char *diff_view_title(const struct diff *d)
{
	struct buf title = { 0 };
	char *text;

	buf_printf(&title, "%s -> %s", d->paths[0], d->paths[1]);
	text = title.failed ? NULL : strdup(buf_text(&title));
	buf_free(&title);
	return text;
}

/* The text about the rows. */
static char *diff_view_about(const struct diff *d)
{
	struct buf about = { 0 };
	char *text;

	diff_about(d, &about);
	if (d->runs > 2)
		buf_put_text(&about,
		             "Below the first table, ± is that of counting samples alone\n");
	text = about.failed ? NULL : strdup(buf_text(&about));
	buf_free(&about);
	return text;
}

/* Gives what is compared to the view. -ENOMEM. */
static int diff_view_put(struct diff_view_reading *w, struct feed *f)
{
	const struct diff *d = w->view.d;
	struct view_news news = { .profile = d->side[1],
		                  .title = diff_view_title(d),
		                  .account = diff_view_about(d),
		                  .compare = &w->compare };

	w->rows = calloc(d->n_rows + 1, sizeof(*w->rows));
	if (!w->rows || !news.title || !news.account) {
		view_news_free(&news);
		return -ENOMEM;
	}
	for (size_t i = 0; i < d->n_rows; i++)
		diff_view_row(d, &d->rows[i], &w->compare, &w->rows[i]);
	w->compare.rows = w->rows;
	w->compare.n_rows = d->n_rows;
	w->compare.events = d->n_events > 1;
	for (size_t side = 0; side < 2; side++) {
		w->compare.runs[side] = d->n_runs[side];
		w->compare.side[side] = d->side[side];
	}
	feed_put(f, &news);
	return 0;
}

/* For struct progress. */
static void diff_view_progress(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	char text[80];

	snprintf(text, sizeof(text), "%s %d %%", step,
	         total ? (int)(100.0 * (double)done / (double)total) : 0);
	feed_state(ctx, text);
}

static bool diff_view_stopped(void *ctx)
{
	return feed_stopped(ctx);
}

/* The thread that reads. What cannot be compared leaves the view. */
static int diff_view_read(void *ctx, struct feed *f)
{
	struct diff_view_reading *w = ctx;

	w->load->progress = (struct progress){ diff_view_progress, diff_view_stopped, f };
	feed_state(f, "reading");
	w->load->code = w->load->load(w->load->ctx);
	w->load->stopped = feed_stopped(f);
	if (w->load->code != EXIT_OK || w->load->stopped)
		return FEED_LEAVES;
	if (diff_view_put(w, f) < 0)
		return -ENOMEM;
	w->shown = true;
	feed_state(f, "");
	return FEED_STAYS;
}

/* What a thread that nobody waits for is in the middle of, the end of the program ends. */
static void diff_view_leave_now(void)
{
	fflush(stdout);
	unpacked_remove();
	_exit(EXIT_OK);
}

/* A thread reads and compares, this one has the screen. */
static int diff_view_run(struct diff_view_reading *w, struct feed *f)
{
	const struct diff *d = w->view.d;
	const struct view_compare none = w->compare;
	char *title = diff_view_title(d);
	const struct view_opts opts = { .sz = sizeof(opts),
		                        .title = title,
		                        .columns = w->columns,
		                        .n_columns = w->compare.n_columns,
		                        .percent_limit = d->percent_limit,
		                        .annotate = w->view.naming ? diff_view_annotate : NULL,
		                        .ctx = &w->view,
		                        .compare = &none,
		                        .feed = f };
	int rc = title ? feed_start(f, diff_view_read, w) : -ENOMEM, result;

	if (rc >= 0) {
		feed_wait(f, VIEW_BEGIN_MS);
		/* What cannot be read or shown leaves the terminal as it is. */
		if (!feed_ended(f, &result) || result == FEED_STAYS)
			rc = view_terminal(&opts, d->color);
		if (rc != -ENOTTY && !feed_end_within(f, VIEW_LEAVE_MS))
			diff_view_leave_now();
		feed_join(f);
	}
	free(title);
	return rc;
}

int diff_view(const struct diff *d, struct naming *naming, const struct sample_filter *filter,
              struct diff_view_load *load)
{
	struct diff_view_reading w = { .view = { d, naming, filter }, .load = load };
	struct feed *f;
	int rc = feed_new(&f);

	if (rc < 0)
		return rc;
	diff_view_settle(&w);
	rc = diff_view_run(&w, f);
	feed_free(f);
	free(w.rows);
	return rc;
}
