// SPDX-License-Identifier: MIT
// diff_view.c: see diff_view.h. Rows and sides of a comparison in the view's words.
#include <errno.h>
#include <stdlib.h>

#include "base/shown.h"
#include "cli/diff_view.h"
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

/* The rows and the text about them are made first. */
int diff_view(const struct diff *d)
{
	enum rollup_column columns[ROLLUP_COLUMNS];
	struct compare_row *rows = calloc(d->n_rows + 1, sizeof(*rows));
	const struct view_compare c = { .rows = rows,
		                        .n_rows = d->n_rows,
		                        .n_columns = diff_view_columns(d, columns),
		                        .columns = columns,
		                        .events = d->n_events > 1,
		                        .absolute = d->absolute,
		                        .confidence = d->confidence,
		                        .side = { d->side[0], d->side[1] } };
	struct view_opts opts = { .sz = sizeof(opts),
		                  .profile = d->side[1],
		                  .columns = columns,
		                  .n_columns = c.n_columns,
		                  .percent_limit = d->percent_limit,
		                  .compare = &c };
	struct buf about = { 0 }, title = { 0 };
	int rc = -ENOMEM;

	for (size_t i = 0; rows && i < d->n_rows; i++)
		diff_view_row(d, &d->rows[i], &c, &rows[i]);
	diff_about(d, &about);
	if (d->runs > 2)
		buf_put_text(&about,
		             "Beside callers and callees, ± is that of counting samples alone\n");
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
