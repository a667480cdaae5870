// SPDX-License-Identifier: MIT
// diff_view.c: see diff_view.h. Rows and sides of a comparison in the view's words.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "cli/diff_annotate.h"
#include "cli/diff_view.h"
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

/* The rows and the text about them are made first. */
int diff_view(const struct diff *d, struct naming *naming, const struct sample_filter *filter)
{
	struct diff_view v = { d, naming, filter };
	enum rollup_column columns[ROLLUP_COLUMNS];
	struct compare_row *rows = calloc(d->n_rows + 1, sizeof(*rows));
	const struct view_compare c = { .rows = rows,
		                        .n_rows = d->n_rows,
		                        .n_columns = diff_view_columns(d, columns),
		                        .columns = columns,
		                        .events = d->n_events > 1,
		                        .absolute = d->absolute,
		                        .children = d->children,
		                        .runs = { d->n_runs[0], d->n_runs[1] },
		                        .confidence = d->confidence,
		                        .side = { d->side[0], d->side[1] } };
	struct view_opts opts = { .sz = sizeof(opts),
		                  .profile = d->side[1],
		                  .columns = columns,
		                  .n_columns = c.n_columns,
		                  .percent_limit = d->percent_limit,
		                  .annotate = naming ? diff_view_annotate : NULL,
		                  .ctx = &v,
		                  .compare = &c };
	struct buf about = { 0 }, title = { 0 };
	int rc = -ENOMEM;

	for (size_t i = 0; rows && i < d->n_rows; i++)
		diff_view_row(d, &d->rows[i], &c, &rows[i]);
	diff_about(d, &about);
	if (d->runs > 2)
		buf_put_text(&about,
		             "Below the first table, ± is that of counting samples alone\n");
	buf_printf(&title, "%s -> %s", d->paths[0], d->paths[1]);
	opts.account = buf_text(&about);
	opts.title = buf_text(&title);
	if (rows && !about.failed && !title.failed)
		rc = view_terminal(&opts, d->color);
	buf_free(&about);
	buf_free(&title);
	free(rows);
	return rc;
}
