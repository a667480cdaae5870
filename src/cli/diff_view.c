// SPDX-License-Identifier: MIT
// diff_view.c: see diff_view.h. Rows and sides of a comparison in the view's words.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "cli/diff_annotate.h"
#include "cli/diff_view.h"
#include "cli/fed_view.h"
#include "cli/self_annotate.h"
#include "view/compare.h"

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

/* What the view shows, when it has been made, and who makes it. */
struct diff_view_reading {
	struct diff_view view;
	struct diff_view_load *load;
	struct compare_row *rows;
	enum rollup_column columns[ROLLUP_COLUMNS];
	struct view_compare compare;
	/* While the baseline alone is known: of its first part, of one recording, of all. */
	struct view_compare half[3];
	size_t n_half;
	struct feed *feed;
	struct progress line; /* at the end of the screen's first line */
};

#define DIFF_NAME 20 /* columns of the name of what is read */

/* Which recording is read: by its name, and by its number where there are many, or where the name
 * is one that has to be escaped. */
static void diff_view_which(const struct diff_view_load *load, struct buf *to)
{
	const char *slash = strrchr(load->path, '/'), *name = slash ? slash + 1 : load->path;
	struct buf shown = { 0 };
	bool plain;

	shown_put_text(&shown, name);
	plain = !strcmp(buf_text(&shown), name);
	buf_free(&shown);
	if (plain) {
		buf_put_text(to, " ");
		shown_cut(to, name, DIFF_NAME, 0);
	}
	if (!plain || load->runs > 2)
		buf_printf(to, " (%zu of %zu)", load->run, load->runs);
}

/* Of several recordings a percentage is of one: it is told which. */
static void diff_view_report(void *ctx, const char *step, uint64_t done, uint64_t total)
{
	struct diff_view_reading *w = ctx;
	const struct diff_view_load *load = w->load;
	struct buf text = { 0 };

	buf_put_text(&text, step);
	if (load->runs)
		diff_view_which(load, &text);
	w->line.report(w->line.ctx, buf_text(&text), done, total);
	buf_free(&text);
}

static bool diff_view_stopped(void *ctx)
{
	struct diff_view_reading *w = ctx;

	return progress_stopped(&w->line);
}

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

/* damaged: sides of which that is known. percent: of the baseline. NULL: out of memory. */
static char *diff_view_title(const struct diff *d, const bool damaged[2], double percent)
{
	struct buf title = { 0 };
	char *text;

	for (size_t side = 0; side < 2; side++) {
		buf_printf(&title, "%s%s%s", side ? " -> " : "", d->paths[side],
		           damaged[side] ? " (damaged)" : "");
		if (!side && percent < 100)
			buf_printf(&title, " (its first %.*f %%)", percent < 1, percent);
	}
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
		                  .title = diff_view_title(d, w->load->damaged, 100),
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

/* Shows what is known of the baseline: it stands for the new side as well, of which the view shows
 * nothing then. What cannot be shown is left out: all of it comes later. */
static void diff_view_base(void *ctx, struct profile *p, double percent)
{
	struct diff_view_reading *w = ctx;
	const struct diff *d = w->view.d;
	struct view_compare *half = &w->half[w->n_half];
	struct view_news news = { .profile = p, .owned = true, .compare = half };

	news.title = diff_view_title(d, w->load->damaged, percent);
	news.account =
	        strdup("The new side is still to be read. Shown is the baseline alone: \"...\" "
	               "stands for what is not known yet.\n");
	if (w->n_half == sizeof(w->half) / sizeof(*w->half) || !news.title || !news.account ||
	    !profile_n_events(p)) {
		view_news_free(&news);
		return;
	}
	*half = w->compare;
	half->half = true;
	half->runs[0] = half->runs[1] = d->n_runs[0];
	half->side[0] = half->side[1] = p;
	w->n_half++;
	feed_put(w->feed, &news);
}

/* The thread that reads. What cannot be compared leaves the view. */
static int diff_view_read(void *ctx, struct feed *f)
{
	struct diff_view_reading *w = ctx;

	w->feed = f;
	w->line = fed_view_progress(f);
	w->load->base = diff_view_base;
	w->load->base_ctx = w;
	w->load->progress = (struct progress){ diff_view_report, diff_view_stopped, w };
	feed_state(f, "reading");
	w->load->code = w->load->load(w->load->ctx);
	w->load->stopped = feed_stopped(f);
	if (w->load->code != EXIT_OK || w->load->stopped)
		return FEED_LEAVES;
	if (diff_view_put(w, f) < 0)
		return -ENOMEM;
	feed_state(f, "");
	return FEED_STAYS;
}

/* Until both sides are read there are rows of the baseline alone. */
int diff_view(const struct diff *d, struct naming *naming, const struct sample_filter *filter,
              struct diff_view_load *load)
{
	struct diff_view_reading w = { .view = { d, naming, filter }, .load = load };
	char *title = diff_view_title(d, load->damaged, 100);
	struct view_compare none;
	struct view_opts opts;
	int rc;

	if (!title)
		return -ENOMEM;
	diff_view_settle(&w);
	none = w.compare;
	opts = (struct view_opts){ .sz = sizeof(opts),
		                   .title = title,
		                   .columns = w.columns,
		                   .n_columns = none.n_columns,
		                   .percent_limit = d->limit_given ? d->percent_limit : 0,
		                   .annotate = naming ? diff_view_annotate : NULL,
		                   .ctx = &w.view,
		                   .compare = &none };
	rc = fed_view(&opts, d->color, diff_view_read, &w);
	free(title);
	free(w.rows);
	return rc;
}
