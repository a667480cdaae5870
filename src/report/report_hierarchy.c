// SPDX-License-Identifier: MIT
// report_hierarchy.c: a report's rows as a tree of sort keys: below each value of the first key,
// its values of the second.
//
// Each level is a rollup of its own, by the keys up to it, so that a function that recurs, or that
// is called by another of the same object, counts once in every row above it.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "report/report.h"

struct level {
	struct rollup table; /* by share */
	uint32_t *order;     /* rows: those below one row stand together, by share */
};

struct hierarchy {
	const struct report *report;
	unsigned keys[ROLLUP_COLUMNS]; /* enum rollup_column, as shown */
	size_t n;
	struct level levels[ROLLUP_COLUMNS];
	uint64_t hidden;
};

/* Compares rows by the keys of the levels above this depth: those that are equal stand below the
 * same row. */
static int hierarchy_compare_above(const struct hierarchy *h, size_t depth,
                                   const struct rollup_row *a, const struct rollup_row *b)
{
	for (size_t k = 0; k < depth; k++) {
		int r = rollup_compare_values(a, b, (enum rollup_column)h->keys[k]);

		if (r)
			return r;
	}
	return 0;
}

/* For hierarchy_order: a level of a hierarchy. */
struct hierarchy_place {
	const struct hierarchy *hierarchy;
	size_t depth;
};

/* Rows below one row stand together; among them the table's order holds. */
static int hierarchy_order(const void *pa, const void *pb, void *ctx)
{
	const struct hierarchy_place *at = ctx;
	const struct rollup_row *rows = at->hierarchy->levels[at->depth].table.rows;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	int r = hierarchy_compare_above(at->hierarchy, at->depth, &rows[a], &rows[b]);

	return r ? r : a < b ? -1 : a > b;
}

/* Rows of the level are ordered by its key before the share where -s asks for that. */
static void hierarchy_sort(const struct hierarchy *h, size_t depth, struct rollup *t)
{
	const struct report *r = h->report;
	enum rollup_column key = (enum rollup_column)h->keys[depth];
	size_t first = 0;

	for (size_t i = 0; i < r->fields.n_first; i++)
		first |= r->fields.first[i] == key;
	rollup_sort_behind(t, !r->no_children, &key, first);
}

/* Builds the table by the keys up to this depth, and orders its rows so that those below one row of
 * the level before stand together. -ENOMEM. */
static int hierarchy_level(struct hierarchy *h, size_t depth, uint32_t event)
{
	struct rollup_opts opts = report_rollup_opts(h->report, event);
	struct hierarchy_place place = { .hierarchy = h, .depth = depth };
	struct level *level = &h->levels[depth];
	int rc;

	opts.columns = 0;
	for (size_t k = 0; k <= depth; k++)
		opts.columns |= 1u << h->keys[k];
	rc = rollup_build(&level->table, h->report->load.profile, &opts);
	if (rc < 0)
		return rc;
	hierarchy_sort(h, depth, &level->table);
	level->order = malloc((level->table.n + 1) * sizeof(*level->order));
	if (!level->order)
		return -ENOMEM;
	for (size_t i = 0; i < level->table.n; i++)
		level->order[i] = (uint32_t)i;
	qsort_r(level->order, level->table.n, sizeof(*level->order), hierarchy_order, &place);
	return 0;
}

/* The index at which the rows of this depth begin that stand below `above`, a row of the level
 * before. */
static size_t hierarchy_first(const struct hierarchy *h, size_t depth,
                              const struct rollup_row *above)
{
	const struct level *level = &h->levels[depth];
	size_t low = 0, high = above ? level->table.n : 0;

	/* Rows below one row stand together, so a binary search finds the first of them. */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (hierarchy_compare_above(h, depth, &level->table.rows[level->order[mid]],
		                            above) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The figures, then the value of this level's key, indented by the level. */
static void hierarchy_row(const struct hierarchy *h, size_t depth, const struct rollup_row *row,
                          struct buf *out)
{
	const struct report_fields *f = &h->report->fields;
	const struct rollup *t = &h->levels[depth].table;
	char text[ROLLUP_TEXT_MAX];

	for (size_t k = 0; k < f->n; k++) {
		if (f->field[k] < ROLLUP_COLUMNS)
			continue;
		report_figure(h->report, t, row, f->field[k], report_figure_width(f->field[k]),
		              out);
		buf_put_text(out, " ");
	}
	shown_printf(out, " %*s%s%s", (int)(2 * depth), "",
	             h->keys[depth] == ROLLUP_SYMBOL ? report_kind(row) : "",
	             rollup_text(t, row, (enum rollup_column)h->keys[depth], text, sizeof(text)));
	report_end_line(out);
}

/* The recursion is as deep as there are keys, which are few. */
static void hierarchy_below(struct hierarchy *h, size_t depth, const struct rollup_row *above,
                            struct buf *out)
{
	const struct level *level = &h->levels[depth];

	for (size_t i = hierarchy_first(h, depth, above); i < level->table.n; i++) {
		const struct rollup_row *row = &level->table.rows[level->order[i]];

		if (above && hierarchy_compare_above(h, depth, row, above))
			break;
		if (!report_visible(h->report, &level->table, row)) {
			h->hidden += (h->report->no_children ? row->self : row->total) != 0;
			continue;
		}
		hierarchy_row(h, depth, row, out);
		if (depth + 1 < h->n)
			hierarchy_below(h, depth + 1, row, out);
	}
}

/* The figures' headings, then the keys, in one column. */
static void hierarchy_heading(const struct hierarchy *h, struct buf *out)
{
	const struct report_fields *f = &h->report->fields;

	for (size_t k = 0; k < f->n; k++)
		if (f->field[k] >= ROLLUP_COLUMNS)
			shown_printf(out, "%*s ", report_figure_width(f->field[k]),
			             report_heading(f->field[k]));
	for (size_t k = 0; k < h->n; k++)
		shown_printf(out, "%s%s", k ? " / " : " ", report_heading(h->keys[k]));
	report_end_line(out);
}

/* Rows below the limit are only counted. -ENOMEM. */
int report_hierarchy(const struct report *r, uint32_t event, struct buf *out)
{
	struct hierarchy h = { .report = r };
	int rc = 0;

	for (size_t k = 0; k < r->fields.n; k++)
		if (r->fields.field[k] < ROLLUP_COLUMNS)
			h.keys[h.n++] = r->fields.field[k];
	for (size_t d = 0; d < h.n && rc >= 0; d++)
		rc = hierarchy_level(&h, d, event);
	if (rc >= 0 && h.n) {
		if (!r->quiet)
			hierarchy_heading(&h, out);
		hierarchy_below(&h, 0, NULL, out);
		if (h.hidden && !r->quiet)
			shown_printf(out, "(%" PRIu64 " more rows below %g %%)\n", h.hidden,
			             r->percent_limit);
	}
	for (size_t d = 0; d < h.n; d++) {
		rollup_free(&h.levels[d].table);
		free(h.levels[d].order);
	}
	return rc;
}
