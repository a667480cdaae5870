// SPDX-License-Identifier: MIT
/*
 * pane_compare.c: what changed between two sides: rows with both figures, the change with its
 * margin (pane_compare_figures.c). Knows how rows are sorted and chosen.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "profile/nameless.h"
#include "view/pane_compare.h"

#define LEAST 8        /* columns that a name keeps */
#define WIDTH_ROWS 200 /* rows from the top whose names say how wide a column is */

struct compare_pane {
	struct pane pane;
	const struct view_compare *c;
	uint32_t *order;   /* all rows, sorted */
	uint32_t *visible; /* pane.n of them */
	unsigned width[ROLLUP_COLUMNS];
	enum pane_compare_by by;
};

static void compare_pane_free(struct pane *p)
{
	struct compare_pane *t = (struct compare_pane *)p;

	free(t->order);
	free(t->visible);
}

/* What a row is sorted by, descending. */
static double compare_pane_key(const struct compare_pane *t, const struct compare_row *r)
{
	switch (t->by) {
	case PANE_BY_NEW:
		return r->next;
	case PANE_BY_BASE:
		return r->base;
	case PANE_BY_RATIO:
		/* What grew by a factor stands with what shrank by it. */
		return fabs(log(r->noise.ratio > 0 ? r->noise.ratio : 1));
	default:
		return fabs(r->next - r->base);
	}
}

/* Equal ones stay in the caller's order. */
static int compare_pane_order(const void *pa, const void *pb, void *ctx)
{
	const struct compare_pane *t = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	double x = compare_pane_key(t, &t->c->rows[a]), y = compare_pane_key(t, &t->c->rows[b]);

	return x != y ? x > y ? -1 : 1 : a < b ? -1 : a > b;
}

/* Whether any name of the row has the filter's text. */
static bool compare_pane_passes(const struct compare_pane *t, const struct compare_row *r)
{
	if (!t->pane.filter.n)
		return true;
	for (size_t k = 0; k < t->c->n_columns; k++)
		if (pane_passes(&t->pane, r->value[k]))
			return true;
	return t->c->events && pane_passes(&t->pane, r->event);
}

/* Lists the rows that are large enough on one side and pass the filter. */
static int compare_pane_filter(struct pane *p)
{
	struct compare_pane *t = (struct compare_pane *)p;

	p->n = 0;
	for (size_t i = 0; i < t->c->n_rows; i++) {
		const struct compare_row *r = &t->c->rows[t->order[i]];

		if (r->share * 100 >= p->opts->percent_limit && compare_pane_passes(t, r))
			t->visible[p->n++] = t->order[i];
	}
	return 0;
}

/* Sorts, filters, and measures the names of the first rows. */
static void compare_pane_sort(struct compare_pane *t)
{
	qsort_r(t->order, t->c->n_rows, sizeof(*t->order), compare_pane_order, t);
	compare_pane_filter(&t->pane);
	t->pane.at = t->pane.top = 0;
	for (size_t k = 0; k < t->c->n_columns; k++) {
		size_t widest = strlen(rollup_facts[t->c->columns[k]].heading);

		for (size_t i = 0; i < t->pane.n && i < WIDTH_ROWS; i++) {
			size_t n = shown_length(t->c->rows[t->visible[i]].value[k]);

			widest = n > widest ? n : widest;
		}
		t->width[k] = (unsigned)widest;
	}
}

/* Draws the names of a row, or the headings of the columns (r is NULL): each but the last one takes
 * at most a fifth of the screen. */
static void compare_pane_names(const struct compare_pane *t, const struct view_screen *s,
                               unsigned row, unsigned at, unsigned style,
                               const struct compare_row *r)
{
	const struct view_compare *c = t->c;
	unsigned most = s->columns / 5 < LEAST ? LEAST : s->columns / 5;
	struct buf name = { 0 };

	for (size_t k = 0; k < c->n_columns && at < s->columns; k++) {
		bool last = k + 1 == c->n_columns;
		unsigned width = last ? s->columns - at : t->width[k] < most ? t->width[k] : most;

		buf_clear(&name);
		buf_put_text(&name, r ? r->value[k] : rollup_facts[c->columns[k]].heading);
		if (r && last && c->events)
			buf_printf(&name, "  [%s]", r->event);
		pane_name(s, row, at, width < s->columns - at ? width : s->columns - at, style,
		          buf_text(&name));
		at += width + 2;
	}
	buf_free(&name);
}

static void compare_pane_heading(struct pane *p, const struct view_screen *s, unsigned row)
{
	struct compare_pane *t = (struct compare_pane *)p;
	unsigned at = pane_compare_heading(s, row, t->c->absolute, t->by);

	compare_pane_names(t, s, row, at, VIEW_HEADING, NULL);
}

static void compare_pane_line(struct pane *p, const struct view_screen *s, unsigned row, size_t i,
                              unsigned style)
{
	struct compare_pane *t = (struct compare_pane *)p;
	const struct compare_row *r = &t->c->rows[t->visible[i]];
	unsigned at = pane_compare_figures(s, row, style, r, t->c->absolute);

	compare_pane_names(t, s, row, at, style, r);
}

/* s: sorts by the next figure. */
static int compare_pane_key_pressed(struct pane *p, int key)
{
	struct compare_pane *t = (struct compare_pane *)p;

	if (key != 's')
		return 0;
	t->by = (enum pane_compare_by)((t->by + 1) % PANE_BY_END);
	compare_pane_sort(t);
	return 1;
}

/* Callers and callees of the row's function on both sides. */
static int compare_pane_enter(struct pane *p, size_t i, struct pane **ret)
{
	struct compare_pane *t = (struct compare_pane *)p;
	const struct compare_row *r = &t->c->rows[t->visible[i]];

	if (!r->symbol || !t->c->side[0] || !t->c->side[1])
		return 0;
	*ret = pane_compare_calls(p->opts, p->scope, t->c, r->event, r->object, r->symbol);
	return *ret ? 0 : -ENOMEM;
}

static const struct pane_kind compare_pane_kind = {
	.name = "compared",
	.keys = "Enter callers and callees  s sort  / filter  w write  ? help",
	.free = compare_pane_free,
	.heading = compare_pane_heading,
	.line = compare_pane_line,
	.filter = compare_pane_filter,
	.key = compare_pane_key_pressed,
	.enter = compare_pane_enter,
};

/* By amount of change at first. */
struct pane *pane_compare(const struct view_opts *opts, struct pane_scope *s)
{
	struct compare_pane *t = pane_new(sizeof(*t), &compare_pane_kind, opts, s);

	if (!t)
		return NULL;
	t->c = opts->compare;
	t->order = calloc(t->c->n_rows + 1, sizeof(*t->order));
	t->visible = calloc(t->c->n_rows + 1, sizeof(*t->visible));
	if (!t->order || !t->visible) {
		pane_free(&t->pane);
		return NULL;
	}
	for (size_t i = 0; i < t->c->n_rows; i++)
		t->order[i] = (uint32_t)i;
	compare_pane_sort(t);
	return &t->pane;
}
