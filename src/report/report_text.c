// SPDX-License-Identifier: MIT
// report_text.c: a report for people: per event a table and a call tree, and the account below.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/shown.h"
#include "base/shown_wrap.h"
#include "report/report.h"
#include "profile/elided.h"
#include "profile/nameless.h"

struct text_table {
	const struct report *report;
	const struct rollup *table;
	int width[2 * REPORT_FIELDS]; /* by the field's place */
	struct buf cell;              /* what is being written, not padded */
	size_t end;                   /* bytes at its end that are not to be cut off; 0: none */
};

/* Writes what a row has in a field into tt->cell, not padded. */
static void text_cell(struct text_table *tt, const struct rollup_row *row, unsigned field)
{
	char text[ROLLUP_TEXT_MAX];
	const char *name;

	buf_clear(&tt->cell);
	tt->end = 0;
	if (field >= ROLLUP_COLUMNS) {
		report_figure_plain(tt->report, tt->table, row, field, &tt->cell);
		return;
	}
	if (field == ROLLUP_SYMBOL)
		buf_put_text(&tt->cell, report_kind(row));
	name = rollup_text(tt->table, row, (enum rollup_column)field, text, sizeof(text));
	tt->end = nameless_end(name);
	shown_put_text(&tt->cell, name);
}

/* Blanks in front of the k-th field. */
static size_t text_gap_width(const struct report_fields *f, size_t k)
{
	return !k                                                                               ? 0
	       : report_figure_is_share(f->field[k]) && report_figure_is_share(f->field[k - 1]) ? 1
	                                                                                        : 2;
}

#define LEAST_WIDTH 8 /* of a column of names that is made narrower */
#define LEFT_OUT -1   /* in place of a width */

/* What a column of names gives away first: one that is wide; functions are worth twice the room. 0:
 * it gives nothing. */
static int text_spare(const struct text_table *tt, size_t k)
{
	unsigned field = tt->report->fields.field[k];

	if (field >= ROLLUP_COLUMNS || tt->width[k] <= LEAST_WIDTH)
		return 0;
	return field == ROLLUP_SYMBOL ? (tt->width[k] + 1) / 2 : tt->width[k];
}

/* The columns that a row takes; least: names as narrow as they may be. */
static size_t text_row_width(const struct text_table *tt, bool least)
{
	const struct report_fields *f = &tt->report->fields;
	size_t sum = 0;

	for (size_t k = 0; k < f->n; k++) {
		bool shrinks = least && f->field[k] < ROLLUP_COLUMNS && tt->width[k] > LEAST_WIDTH;

		if (tt->width[k] != LEFT_OUT)
			sum += (size_t)(shrinks ? LEAST_WIDTH : tt->width[k]) +
			       text_gap_width(f, k);
	}
	return sum;
}

/* Leaves names out from the left where there is no room for all; functions, and the last names, are
 * what rows are told apart by. */
static void text_leave_out(struct text_table *tt)
{
	const struct report_fields *f = &tt->report->fields;
	size_t last = f->n;

	for (size_t k = 0; k < f->n; k++)
		if (f->field[k] < ROLLUP_COLUMNS)
			last = k;
	for (size_t k = 0; k < last && text_row_width(tt, true) > tt->report->columns; k++)
		if (f->field[k] < ROLLUP_COLUMNS && f->field[k] != ROLLUP_SYMBOL)
			tt->width[k] = LEFT_OUT;
}

/* Makes columns of names narrower until a row fits. */
static void text_shrink(struct text_table *tt)
{
	const struct report_fields *f = &tt->report->fields;
	size_t sum;

	text_leave_out(tt);
	sum = text_row_width(tt, false);
	/* One column at a time, from the one with the most to give, so that wide ones shrink
	 * first. */
	while (sum > tt->report->columns) {
		size_t from = 0;

		for (size_t k = 1; k < f->n; k++)
			if (text_spare(tt, k) > text_spare(tt, from))
				from = k;
		if (!text_spare(tt, from))
			return;
		tt->width[from]--;
		sum--;
	}
}

/* The width of what is in tt->cell, or the given one if that is more. */
static size_t text_wider(struct text_table *tt, size_t width)
{
	size_t n = shown_columns(buf_text(&tt->cell), tt->cell.n);

	return n > width ? n : width;
}

/* A width that was asked for counts, but no figure is cut; else the widest of what is shown. */
static void text_widths(struct text_table *tt)
{
	const struct report *r = tt->report;
	const struct report_fields *f = &r->fields;
	const struct rollup *t = tt->table;

	for (size_t k = 0; k < f->n; k++) {
		unsigned field = f->field[k];
		size_t widest = strlen(report_heading(field)),
		       asked = k < r->n_widths ? r->widths[k] : 0;

		for (size_t i = 0; field < ROLLUP_COLUMNS && !asked && i < t->n; i++) {
			if (!report_visible(r, t, &t->rows[i]))
				continue;
			text_cell(tt, &t->rows[i], field);
			widest = text_wider(tt, widest);
		}
		if (field >= ROLLUP_COLUMNS)
			widest = (size_t)report_figure_width(field);
		tt->width[k] =
		        (int)(asked && (field < ROLLUP_COLUMNS || asked > widest) ? asked : widest);
	}
	if (r->columns)
		text_shrink(tt);
}

/* Between shares stands one blank; between all else stand two. */
static void text_gap(const struct report *r, size_t k, struct buf *out)
{
	if (k && r->separator)
		buf_put_text(out, r->separator);
	else
		buf_printf(out, "%*s", (int)text_gap_width(&r->fields, k), "");
}

/* Writes a text between separators; as perf does, a '.' replaces each separator in it. */
static void text_separated(const struct report *r, const char *text, struct buf *out)
{
	size_t n = strlen(r->separator);
	const char *at;

	for (; (at = strstr(text, r->separator)); text = at + n) {
		buf_put(out, text, (size_t)(at - text));
		buf_put_text(out, ".");
	}
	buf_put_text(out, text);
}

/* A function's name on a terminal, padded where it became shorter than its column by more than the
 * cut. */
static void text_fit(const char *text, size_t width, size_t end, struct buf *out)
{
	size_t before = out->n, n, whole = shown_columns(text, strlen(text));

	elided_fit(out, text, width, end);
	n = out->failed ? width : shown_columns((const char *)out->bytes + before, out->n - before);
	/* What fitted is padded by the caller. */
	if (whole > width && n < width)
		buf_printf(out, "%*s", (int)(width - n), "");
}

/* A name or heading in the k-th field; the last `end` bytes of a name are not cut off. */
static void text_put(const struct text_table *tt, size_t k, const char *text, size_t end,
                     bool right, struct buf *out)
{
	size_t width = (size_t)tt->width[k], n = shown_columns(text, strlen(text));

	if (tt->report->separator) {
		text_separated(tt->report, text, out);
		return;
	}
	buf_printf(out, "%*s", right && width > n ? (int)(width - n) : 0, "");
	if (tt->report->columns && tt->report->fields.field[k] == ROLLUP_SYMBOL)
		text_fit(text, width, end, out);
	else
		shown_cut(out, text, right ? n : width, end);
	buf_printf(out, "%*s", !right && width > n ? (int)(width - n) : 0, "");
}

/* With a separator the line begins like a comment, as perf's does. */
static void text_heading(const struct text_table *tt, struct buf *out)
{
	const struct report_fields *f = &tt->report->fields;

	if (tt->report->quiet)
		return;
	if (tt->report->separator)
		buf_put_text(out, "# ");
	for (size_t k = 0; k < f->n; k++) {
		if (tt->width[k] == LEFT_OUT)
			continue;
		text_gap(tt->report, k, out);
		text_put(tt, k, report_heading(f->field[k]), 0, f->field[k] >= ROLLUP_COLUMNS, out);
	}
	report_end_line(out);
}

/* A row. Figures are padded by themselves, because their colours are no columns. */
static void text_row(struct text_table *tt, const struct rollup_row *row, struct buf *out)
{
	const struct report *r = tt->report;

	for (size_t k = 0; k < r->fields.n; k++) {
		unsigned field = r->fields.field[k];

		if (tt->width[k] == LEFT_OUT)
			continue;
		text_gap(r, k, out);
		if (field >= ROLLUP_COLUMNS && !r->separator) {
			report_figure(r, tt->table, row, field, tt->width[k], out);
			continue;
		}
		text_cell(tt, row, field);
		text_put(tt, k, buf_text(&tt->cell), tt->end, false, out);
	}
	report_end_line(out);
}

/* Writes how much of the table is not shown. */
static void text_hidden(const struct report *r, const struct rollup *t, uint64_t hidden,
                        uint64_t self, struct buf *out)
{
	if (!hidden || r->quiet || r->separator)
		return;
	if (r->rows_max)
		buf_printf(out, "(%" PRIu64 " more rows, %.2f %% in all by self)\n", hidden,
		           report_percent(self, t->weight));
	else
		buf_printf(out, "(%" PRIu64 " more rows below %g %%, %.2f %% in all by self)\n",
		           hidden, r->percent_limit, report_percent(self, t->weight));
}

/* Rows below the limit, or beyond rows_max, are summed up in one line below. -ENOMEM. */
int report_table(const struct report *r, uint32_t event, struct buf *out)
{
	struct text_table tt = { .report = r };
	struct rollup t;
	uint64_t hidden = 0, hidden_self = 0;
	size_t shown = 0;
	int rc = report_rollup(r, event, false, &t);

	if (rc < 0)
		return rc;
	tt.table = &t;
	text_widths(&tt);
	text_heading(&tt, out);
	for (size_t i = 0; i < t.n; i++) {
		if (report_visible(r, &t, &t.rows[i]) && (!r->rows_max || shown < r->rows_max)) {
			text_row(&tt, &t.rows[i], out);
			shown++;
		} else {
			hidden += (r->no_children ? t.rows[i].self : t.rows[i].total) != 0;
			hidden_self += t.rows[i].self;
		}
	}
	text_hidden(r, &t, hidden, hidden_self, out);
	if (tt.cell.failed)
		rc = -ENOMEM;
	buf_free(&tt.cell);
	rollup_free(&t);
	return rc;
}

/* A sum of one event's counts, or (event 0) of all, if they are counted in one unit. */
static void text_count(const struct profile *p, uint32_t event, uint64_t weight, struct buf *out)
{
	const char *unit = event ? report_unit(p, event) : NULL;
	struct profile_account account;
	char number[32];

	for (uint32_t e = 1; !event && e <= profile_n_events(p); e++) {
		profile_account(p, e, &account);
		if (!account.samples)
			continue;
		if (unit && strcmp(unit, report_unit(p, e)) != 0) {
			buf_put_text(out, ", counted in different units: shares are of a sum of "
			                  "times and counts");
			return;
		}
		unit = report_unit(p, e);
	}
	buf_printf(out, ", count %s%s", report_number(weight, number, sizeof(number)),
	           unit ? unit : "");
}

/* Writes which event the table below is of. */
static void text_event(const struct report *r, uint32_t event,
                       const struct profile_account *account, struct buf *out)
{
	const char *name = event ? profile_event_name(r->load.profile, event) : "all events";
	char number[32];

	if (r->quiet)
		return;
	shown_printf(out, "%s%s: %s samples", r->separator ? "# " : "", name,
	             report_number(account->samples, number, sizeof(number)));
	text_count(r->load.profile, event, account->weight, out);
	buf_put_text(out, r->separator ? "\n" : "\n\n");
}

/* With -q or -t rows are for a program, or for grep: a tree follows them only if it was asked
 * for. */
bool report_has_tree(const struct report *r)
{
	return r->graph != REPORT_GRAPH_NONE && (r->graph_given || !(r->quiet || r->separator));
}

/* One event's heading, table and tree; nothing if it has no samples. */
static int text_print_event(const struct report *r, uint32_t event, struct buf *out)
{
	struct profile_account account;
	int rc;

	profile_account(r->load.profile, event, &account);
	if (!account.samples)
		return 0;
	text_event(r, event, &account, out);
	rc = r->hierarchy ? report_hierarchy(r, event, out) : report_table(r, event, out);
	if (rc >= 0 && report_has_tree(r))
		rc = report_tree(r, event, out);
	buf_put_text(out, "\n");
	return rc;
}

/* Sentences are as wide as the terminal. */
static void text_account(const struct report *r, struct buf *out)
{
	struct buf account = { 0 };

	report_account(r, &account);
	shown_wrap(out, buf_text(&account), r->columns);
	out->failed |= account.failed;
	buf_free(&account);
}

/* -ENOMEM. */
int report_text(const struct report *r, struct buf *out)
{
	int rc = r->threads ? report_threads(r, out) : 0;

	if (rc < 0)
		return rc;
	if (r->group)
		rc = report_group(r, out);
	else if (r->fields.columns & 1u << ROLLUP_EVENT)
		rc = text_print_event(r, 0, out);
	else
		for (uint32_t e = 1; e <= profile_n_events(r->load.profile) && rc >= 0; e++)
			rc = text_print_event(r, e, out);
	if (rc >= 0 && !r->quiet && !r->separator)
		text_account(r, out);
	return rc;
}
