// SPDX-License-Identifier: MIT
/*
 * pane_table.c: functions, objects, commands: rows of a rollup with their total and self.
 *
 * Rows are summed up once; sorting and filtering make the list of visible ones anew.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "profile/nameless.h"
#include "view/pane.h"

#define MARK 4         /* columns of what stands before a function: table_mark */
#define WIDTH_ROWS 200 /* rows from the top whose names say how wide a column is */

struct table_pane {
	struct pane pane;
	struct rollup rows;
	uint32_t *visible; /* pane.n of them: places in rows */
	enum rollup_column columns[ROLLUP_COLUMNS];
	unsigned width[ROLLUP_COLUMNS]; /* by place; of the last one: what is left */
	size_t n_columns;
	bool by_self;
	uint64_t most; /* the largest total of a row */
};

static void table_free(struct pane *p)
{
	struct table_pane *t = (struct table_pane *)p;

	rollup_free(&t->rows);
	free(t->visible);
}

/* What the row has in its k-th column. */
static const char *table_text(const struct table_pane *t, size_t row, size_t k, char *text,
                              size_t n)
{
	return rollup_text(&t->rows, &t->rows.rows[row], t->columns[k], text, n);
}

/* Whether any column of the row has the filter's text. */
static bool table_passes(const struct table_pane *t, size_t row)
{
	char text[ROLLUP_TEXT_MAX];

	if (!t->pane.filter.n)
		return true;
	for (size_t k = 0; k < t->n_columns; k++)
		if (pane_passes(&t->pane, table_text(t, row, k, text, sizeof(text))))
			return true;
	return false;
}

/* Lists the rows that are large enough and pass the filter. */
static int table_filter(struct pane *p)
{
	struct table_pane *t = (struct table_pane *)p;

	p->n = 0;
	for (size_t i = 0; i < t->rows.n; i++) {
		const struct rollup_row *row = &t->rows.rows[i];
		/* A row that has none of what the table is sorted by is not shown. */
		uint64_t by = t->by_self ? row->self : row->total;

		if (by && pane_percent(by, p->scope->weight) >= p->opts->percent_limit &&
		    table_passes(t, i))
			t->visible[p->n++] = (uint32_t)i;
	}
	return 0;
}

static uint64_t table_id(const struct pane *p, size_t i)
{
	return ((const struct table_pane *)p)->visible[i];
}

/* The widths that the first rows' names ask for. */
static void table_measure(struct table_pane *t)
{
	char text[ROLLUP_TEXT_MAX];

	for (size_t k = 0; k < t->n_columns; k++) {
		size_t widest = strlen(rollup_facts[t->columns[k]].heading);

		for (size_t i = 0; i < t->pane.n && i < WIDTH_ROWS; i++) {
			const char *name = table_text(t, t->visible[i], k, text, sizeof(text));
			size_t n = shown_length(name);

			widest = n > widest ? n : widest;
		}
		t->width[k] = (unsigned)widest;
	}
}

/* Sorts, filters, and goes back to the top. Slices of time stay in their order. */
static int table_sort(struct table_pane *t)
{
	static const enum rollup_column time[] = { ROLLUP_SLICE };
	int r;

	rollup_sort_behind(&t->rows, !t->by_self, time, t->columns[0] == ROLLUP_SLICE);
	r = table_filter(&t->pane);
	t->pane.at = t->pane.top = 0;
	table_measure(t);
	return r;
}

/* The column of the first name. */
static unsigned table_names_at(const struct view_screen *s)
{
	return pane_shares(s) + 1;
}

/* How wide the columns are on a screen. Functions' names keep their room, else the last does. */
static void table_widths(const struct table_pane *t, const struct view_screen *s, unsigned *width)
{
	size_t kept = t->n_columns - 1;

	for (size_t k = 0; k < t->n_columns; k++) {
		bool symbol = t->columns[k] == ROLLUP_SYMBOL;

		kept = symbol ? k : kept;
		width[k] = t->width[k] + (symbol ? MARK : 0);
	}
	pane_columns(width, t->n_columns, kept, s->columns, s->columns - table_names_at(s));
}

/* The column that it is sorted by has a star. */
static void table_heading(struct pane *p, const struct view_screen *s, unsigned row)
{
	struct table_pane *t = (struct table_pane *)p;
	unsigned at = table_names_at(s), width[ROLLUP_COLUMNS];

	if (pane_shares(s) == PANE_TWO)
		s->put(s->ctx, row, 0, VIEW_HEADING,
		       t->by_self ? "   Total     Self*" : "  Total*     Self");
	else
		s->put(s->ctx, row, 0, VIEW_HEADING, t->by_self ? "   Self*" : "  Total*");
	table_widths(t, s, width);
	for (size_t k = 0; k < t->n_columns; k++) {
		if (!width[k])
			continue;
		pane_name(s, row, at, width[k], VIEW_HEADING, rollup_facts[t->columns[k]].heading);
		at += width[k] + 2;
	}
}

/* "[k] " and the like before a function. */
static const char *table_mark(const struct rollup_row *row)
{
	return row->kind == PROFILE_KERNEL    ? "[k] "
	       : row->kind == PROFILE_INLINED ? "[i] "
	                                      : "[.] ";
}

/* Draws, in what is left of the row of a slice of time, how much of the fullest slice it has. */
static void table_bar(const struct table_pane *t, const struct view_screen *s, unsigned row,
                      unsigned at, unsigned style, const struct rollup_row *r)
{
	unsigned room = s->columns > at ? s->columns - at : 0, n;
	struct buf bar = { 0 };

	n = t->most ? (unsigned)((double)r->total / (double)t->most * room) : 0;
	for (unsigned i = 0; i < n && i < room; i++)
		buf_put_text(&bar, "#");
	if (bar.n)
		s->put(s->ctx, row, at, style, buf_text(&bar));
	buf_free(&bar);
}

/* Both shares, or the one that rows are sorted by. */
static void table_shares(const struct pane *p, const struct view_screen *s, unsigned row,
                         const struct rollup_row *r, unsigned style)
{
	bool two = pane_shares(s) == PANE_TWO;
	const struct table_pane *t = (const struct table_pane *)p;

	pane_share(s, row, 0, style, !two && t->by_self ? r->self : r->total, p->scope->weight);
	if (two)
		pane_share(s, row, 9, style, r->self, p->scope->weight);
}

/* Draws a row: its shares, then its names, each cut to its column. */
static void table_line(struct pane *p, const struct view_screen *s, unsigned row, size_t i,
                       unsigned style)
{
	struct table_pane *t = (struct table_pane *)p;
	const struct rollup_row *r = &t->rows.rows[t->visible[i]];
	unsigned at = table_names_at(s), width[ROLLUP_COLUMNS];
	char text[ROLLUP_TEXT_MAX];

	table_shares(p, s, row, r, style);
	if (t->rows.columns & 1u << ROLLUP_SYMBOL)
		pane_mark(p, s, row, style, r->value[ROLLUP_OBJECT], r->value[ROLLUP_SYMBOL]);
	table_widths(t, s, width);
	for (size_t k = 0; k < t->n_columns; k++) {
		bool mark = t->columns[k] == ROLLUP_SYMBOL && width[k] > 2 * MARK;

		if (!width[k])
			continue;
		if (mark)
			s->put(s->ctx, row, at, style, table_mark(r));
		pane_name(s, row, at + (mark ? MARK : 0), width[k] - (mark ? MARK : 0), style,
		          table_text(t, t->visible[i], k, text, sizeof(text)));
		at += width[k] + 2;
	}
	if (t->columns[0] == ROLLUP_SLICE)
		table_bar(t, s, row, table_names_at(s) + t->width[0] + 2, style, r);
}

/* s: self or total first. */
static int table_key(struct pane *p, int key)
{
	struct table_pane *t = (struct table_pane *)p;
	int r;

	if (key != 's')
		return 0;
	t->by_self = !t->by_self;
	r = table_sort(t);
	return r < 0 ? r : 1;
}

/* Of a table without functions there is none. */
static bool table_function(struct pane *p, size_t i, uint32_t *object, uint32_t *symbol)
{
	struct table_pane *t = (struct table_pane *)p;
	const struct rollup_row *row = &t->rows.rows[t->visible[i]];

	*object = t->rows.columns & 1u << ROLLUP_OBJECT ? row->value[ROLLUP_OBJECT] : 0;
	*symbol = t->rows.columns & 1u << ROLLUP_SYMBOL ? row->value[ROLLUP_SYMBOL] : 0;
	return t->rows.columns & 1u << ROLLUP_SYMBOL;
}

/* Sums up the samples of the scope. -ENOMEM; -ECANCELED. */
static int table_build(struct table_pane *t)
{
	const struct pane_scope *s = t->pane.scope;
	struct rollup_opts opts = { .event = s->event, .shown = s->shown, .watched = s->watched };
	int r;

	for (size_t i = 0; i < t->n_columns; i++)
		opts.columns |= 1u << t->columns[i];
	r = rollup_build(&t->rows, s->profile, &opts);
	if (r < 0)
		return r;
	t->visible = calloc(t->rows.n + 1, sizeof(*t->visible));
	if (!t->visible)
		return -ENOMEM;
	for (size_t i = 0; i < t->rows.n; i++)
		t->most = t->rows.rows[i].total > t->most ? t->rows.rows[i].total : t->most;
	return table_sort(t);
}

/* Whether two rows of two tables with the same columns are called alike. */
static bool table_same(const struct rollup *a, const struct rollup_row *x, const struct rollup *b,
                       const struct rollup_row *y, const struct table_pane *t)
{
	char one[ROLLUP_TEXT_MAX], other[ROLLUP_TEXT_MAX];

	for (size_t k = 0; k < t->n_columns; k++)
		if (strcmp(rollup_text(a, x, t->columns[k], one, sizeof(one)),
		           rollup_text(b, y, t->columns[k], other, sizeof(other))) != 0)
			return false;
	return true;
}

/* The cursor stays on its row where that is still there; on the first line it stays on the first
 * line, so that what leads is seen. */
static void table_adopt(struct pane *p, const struct pane *from)
{
	struct table_pane *t = (struct table_pane *)p;
	const struct table_pane *old = (const struct table_pane *)from;
	size_t at = from->at, above = from->at - from->top;
	const struct rollup_row *row =
	        at && at < from->n ? &old->rows.rows[old->visible[at]] : NULL;

	table_filter(p);
	table_measure(t);
	for (size_t i = 0; row && i < p->n; i++)
		if (table_same(&old->rows, row, &t->rows, &t->rows.rows[t->visible[i]], t))
			p->at = i;
	p->top = p->at > above ? p->at - above : 0;
}

static struct pane *table_again(const struct pane *p, struct pane_scope *s)
{
	const struct table_pane *t = (const struct table_pane *)p;

	return pane_table(p->opts, s, t->columns, t->n_columns, t->by_self);
}

static const struct pane_key table_own[] = {
	{ { 's' }, "order by total, or by self" },
	{ { 0 }, NULL },
};

static const struct pane_kind table_kind = {
	.name = "functions",
	.keys = "Enter callers and callees  s self/total  / filter  a annotate  d object  ? help",
	.free = table_free,
	.heading = table_heading,
	.line = table_line,
	.filter = table_filter,
	.id = table_id,
	.again = table_again,
	.adopt = table_adopt,
	.own = table_own,
	.key = table_key,
	.function = table_function,
};

/* A table of other things than functions: Enter chooses the samples of a row. */
static const struct pane_kind table_things_kind = {
	.name = "sections",
	.keys = "Enter only this  s self/total  / filter  ? help",
	.free = table_free,
	.heading = table_heading,
	.line = table_line,
	.filter = table_filter,
	.id = table_id,
	.again = table_again,
	.adopt = table_adopt,
	.things = true,
	.own = table_own,
	.key = table_key,
};

/* What a row of this table stands for: the value of its first column, also as text. */
bool pane_table_thing(struct pane *p, size_t i, enum rollup_column *column, uint32_t *value,
                      char label[ROLLUP_TEXT_MAX])
{
	const char *text;

	struct table_pane *t = (struct table_pane *)p;

	if ((p->kind != &table_kind && p->kind != &table_things_kind) || i >= p->n)
		return false;
	*column = t->columns[0];
	*value = t->rows.rows[t->visible[i]].value[*column];
	text = table_text(t, t->visible[i], 0, label, ROLLUP_TEXT_MAX);
	if (text != label)
		snprintf(label, ROLLUP_TEXT_MAX, "%s", text);
	return true;
}

/* The columns decide which kind of table it is: of functions, or of what samples are chosen by. */
struct pane *pane_table(const struct view_opts *opts, struct pane_scope *s,
                        const enum rollup_column *columns, size_t n, bool by_self)
{
	bool functions = false;
	struct table_pane *t;

	for (size_t i = 0; i < n; i++)
		functions |= columns[i] == ROLLUP_SYMBOL;
	t = pane_new(sizeof(*t), functions ? &table_kind : &table_things_kind, opts, s);
	if (!t)
		return NULL;
	memcpy(t->columns, columns, n * sizeof(*columns));
	t->n_columns = n;
	t->by_self = by_self;
	if (table_build(t) >= 0)
		return &t->pane;
	pane_free(&t->pane);
	return NULL;
}
