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

#define WIDTH_ROWS 200 /* rows from the top whose names say how wide a column is */

struct compare_pane {
	struct pane pane;
	const struct view_compare *c; /* the caller's, or own */
	struct view_compare own;
	struct compare_rows made;                   /* own's */
	enum rollup_column columns[ROLLUP_COLUMNS]; /* own's */
	uint32_t *order;                            /* all rows, sorted */
	uint32_t *visible;                          /* pane.n of them */
	unsigned width[ROLLUP_COLUMNS];
	enum compare_by by;
};

static void compare_pane_free(struct pane *p)
{
	struct compare_pane *t = (struct compare_pane *)p;

	compare_rows_free(&t->made);
	free(t->order);
	free(t->visible);
}

/* Equal ones stay in the caller's order. */
static int compare_pane_order(const void *pa, const void *pb, void *ctx)
{
	const struct compare_pane *t = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	double x = compare_key(&t->c->rows[a], t->by), y = compare_key(&t->c->rows[b], t->by);

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

static uint64_t compare_pane_id(const struct pane *p, size_t i)
{
	return ((const struct compare_pane *)p)->visible[i];
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

/* Draws the names of a row, or the headings of the columns (r is NULL). */
static void compare_pane_names(const struct compare_pane *t, const struct view_screen *s,
                               unsigned row, unsigned at, unsigned style,
                               const struct compare_row *r)
{
	const struct view_compare *c = t->c;
	unsigned width[ROLLUP_COLUMNS];
	size_t kept = c->n_columns - 1;
	struct buf name = { 0 };

	for (size_t k = 0; k < c->n_columns; k++) {
		kept = c->columns[k] == ROLLUP_SYMBOL ? k : kept;
		width[k] = t->width[k];
	}
	pane_columns(width, c->n_columns, kept, s->columns, s->columns > at ? s->columns - at : 0);
	for (size_t k = 0; k < c->n_columns; k++) {
		if (!width[k])
			continue;
		buf_clear(&name);
		buf_put_text(&name, r ? r->value[k] : rollup_facts[c->columns[k]].heading);
		if (r && k + 1 == c->n_columns && c->events)
			buf_printf(&name, "  [%s]", r->event);
		pane_name(s, row, at, width[k], style, buf_text(&name));
		at += width[k] + 2;
	}
	buf_free(&name);
}

static void compare_pane_heading(struct pane *p, const struct view_screen *s, unsigned row)
{
	struct compare_pane *t = (struct compare_pane *)p;
	unsigned at =
	        pane_compare_heading(s, row, t->c->absolute, t->c->half ? COMPARE_BY_BASE : t->by);

	compare_pane_names(t, s, row, at, VIEW_HEADING, NULL);
}

static void compare_pane_line(struct pane *p, const struct view_screen *s, unsigned row, size_t i,
                              unsigned style)
{
	struct compare_pane *t = (struct compare_pane *)p;
	const struct compare_row *r = &t->c->rows[t->visible[i]];
	unsigned at = pane_compare_figures(s, row, style, r, t->c->absolute);

	if (r->symbol)
		pane_mark_names(p, s, row, at - 1, style, r->object ? r->object : "", r->symbol);
	compare_pane_names(t, s, row, at, style, r);
}

/* s: sorts by the next figure. */
static int compare_pane_key_pressed(struct pane *p, int key)
{
	struct compare_pane *t = (struct compare_pane *)p;

	if (key != 's')
		return 0;
	t->by = (enum compare_by)((t->by + 1) % COMPARE_BY_END);
	compare_pane_sort(t);
	return 1;
}

static bool compare_pane_names_of(struct pane *p, size_t i, const char **object,
                                  const char **symbol)
{
	struct compare_pane *t = (struct compare_pane *)p;
	const struct compare_row *r = &t->c->rows[t->visible[i]];

	*object = r->object ? r->object : "";
	*symbol = r->symbol ? r->symbol : "";
	return r->symbol;
}

/* The samples of a row's event, on both sides. NULL: out of memory. */
static struct pane_scope *compare_pane_event(const struct compare_pane *t, const char *event)
{
	struct watched *watched = t->pane.scope->watched;
	struct pane_scope *s = pane_scope_new(t->c->side[1], event, watched);

	if (s && !(s->base = pane_scope_new(t->c->side[0], event, watched))) {
		pane_scope_free(s);
		s = NULL;
	}
	if (s)
		s->compare = t->c;
	return s;
}

/* Callers and callees of the row's function on both sides, in the row's event. */
static int compare_pane_enter(struct pane *p, size_t i, struct pane **ret)
{
	struct compare_pane *t = (struct compare_pane *)p;
	const struct compare_row *r = &t->c->rows[t->visible[i]];
	struct pane_scope *s;

	if (!r->symbol)
		return 0;
	/* A scope has one event, the caller's rows may have several. */
	s = strcmp(r->event, p->scope->event_name) ? compare_pane_event(t, r->event)
	                                           : pane_scope_share(p->scope);
	if (s)
		*ret = pane_compare_calls(p->opts, s, r->object ? r->object : "", r->symbol);
	pane_scope_free(s);
	return *ret ? 0 : -ENOMEM;
}

/* ---- another pane of the same ---- */

static struct pane *compare_pane_new(const struct view_opts *opts, struct pane_scope *s,
                                     const enum rollup_column *columns, size_t n,
                                     enum compare_by by);

static struct pane *compare_pane_again(const struct pane *p, struct pane_scope *s)
{
	const struct compare_pane *t = (const struct compare_pane *)p;

	return compare_pane_new(p->opts, s, t->c->columns, t->c->n_columns, t->by);
}

/* Whether two rows of two panes are of the same thing. */
static bool compare_pane_same(const struct compare_pane *t, const struct compare_row *a,
                              const struct compare_row *b)
{
	for (size_t k = 0; k < t->c->n_columns; k++)
		if (strcmp(a->value[k], b->value[k]))
			return false;
	return !strcmp(a->event, b->event);
}

/* The cursor stays on what it is on; who has not moved it looks at the first row. */
static void compare_pane_adopt(struct pane *p, const struct pane *from)
{
	struct compare_pane *t = (struct compare_pane *)p;
	const struct compare_pane *old = (const struct compare_pane *)from;
	size_t at = from->at, above = from->at - from->top;
	const struct compare_row *row = at && at < from->n ? &old->c->rows[old->visible[at]] : NULL;

	compare_pane_sort(t);
	for (size_t i = 0; row && i < p->n && !p->at; i++)
		if (compare_pane_same(t, row, &t->c->rows[t->visible[i]]))
			p->at = i;
	p->top = p->at > above ? p->at - above : 0;
}

static const struct pane_key compare_pane_own[] = {
	{ { 's' }, "order by the change, the new figure, the old one, the ratio" },
	{ { 0 }, NULL },
};

static const struct pane_kind compare_pane_kind = {
	.name = "compared",
	.keys = "Enter callers and callees  s sort  a annotate  / filter  w write  ? help",
	.free = compare_pane_free,
	.heading = compare_pane_heading,
	.line = compare_pane_line,
	.filter = compare_pane_filter,
	.id = compare_pane_id,
	.again = compare_pane_again,
	.adopt = compare_pane_adopt,
	.own = compare_pane_own,
	.key = compare_pane_key_pressed,
	.enter = compare_pane_enter,
	.names = compare_pane_names_of,
};

/* Rows of other things than functions: Enter chooses the samples of a row. */
static const struct pane_kind compare_things_kind = {
	.name = "compared",
	.keys = "Enter only this  s sort  / filter  w write  ? help",
	.free = compare_pane_free,
	.heading = compare_pane_heading,
	.line = compare_pane_line,
	.filter = compare_pane_filter,
	.id = compare_pane_id,
	.again = compare_pane_again,
	.adopt = compare_pane_adopt,
	.things = true,
	.own = compare_pane_own,
	.key = compare_pane_key_pressed,
};

bool pane_compare_thing(struct pane *p, size_t i, enum rollup_column *column, const char **text)
{
	struct compare_pane *t = (struct compare_pane *)p;

	if ((p->kind != &compare_pane_kind && p->kind != &compare_things_kind) || i >= p->n)
		return false;
	*column = t->c->columns[0];
	*text = t->c->rows[t->visible[i]].value[0];
	return true;
}

/* Sums the samples up by columns that are not the caller's, or samples that are not all. */
static int compare_pane_make(struct compare_pane *t, const enum rollup_column *columns, size_t n)
{
	int r;

	memcpy(t->columns, columns, n * sizeof(*columns));
	r = compare_rows_make(&t->made, t->c, t->pane.scope, t->columns, n);
	t->own = *t->c;
	t->own.rows = t->made.rows;
	t->own.n_rows = t->made.n;
	t->own.columns = t->columns;
	t->own.n_columns = n;
	t->own.events = false;
	t->c = &t->own;
	return r;
}

/* Whether the caller has these rows. */
static bool compare_pane_is_given(const struct view_compare *c, const struct pane_scope *s,
                                  const enum rollup_column *columns, size_t n)
{
	return !c->half && s->what == PANE_ALL && n == c->n_columns &&
	       !memcmp(columns, c->columns, n * sizeof(*columns));
}

struct pane *pane_compare(const struct view_opts *opts, struct pane_scope *s,
                          const enum rollup_column *columns, size_t n)
{
	return compare_pane_new(opts, s, columns, n, COMPARE_BY_CHANGE);
}

/* The columns decide which kind it is. */
static struct pane *compare_pane_new(const struct view_opts *opts, struct pane_scope *s,
                                     const enum rollup_column *columns, size_t n,
                                     enum compare_by by)
{
	const struct pane_kind *kind = &compare_things_kind;
	struct compare_pane *t;

	for (size_t k = 0; k < n; k++)
		if (columns[k] == ROLLUP_SYMBOL)
			kind = &compare_pane_kind;
	t = pane_new(sizeof(*t), kind, opts, s);
	if (!t)
		return NULL;
	t->c = s->compare;
	t->by = by;
	t->pane.all_events = compare_pane_is_given(t->c, s, columns, n);
	if (t->pane.all_events || compare_pane_make(t, columns, n) >= 0) {
		t->order = calloc(t->c->n_rows + 1, sizeof(*t->order));
		t->visible = calloc(t->c->n_rows + 1, sizeof(*t->visible));
	}
	if (!t->order || !t->visible) {
		pane_free(&t->pane);
		return NULL;
	}
	for (size_t i = 0; i < t->c->n_rows; i++)
		t->order[i] = (uint32_t)i;
	compare_pane_sort(t);
	return &t->pane;
}
