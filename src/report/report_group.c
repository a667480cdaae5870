// SPDX-License-Identifier: MIT
// report_group.c: several events side by side: a row per thing, a share per event. Knows how the
// rows of one rollup over all events come together; each share is of its own event's count.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "base/shown.h"

struct group {
	const struct report *report;
	struct rollup table; /* sorted by thing, then event */
	uint32_t *events;    /* those that have samples */
	uint64_t *weights;   /* of each */
	size_t n_events;
	size_t *starts; /* row at which each thing begins */
	size_t n;
	int width[ROLLUP_COLUMNS];
};

/* Behind the last row of the thing that begins at this row. */
static size_t group_end(const struct group *g, size_t start)
{
	const struct rollup *t = &g->table;
	size_t end = start + 1;

	while (end < t->n &&
	       !rollup_compare_names(t, &t->rows[start], &t->rows[end], 1u << ROLLUP_EVENT))
		end++;
	return end;
}

/* The share that a thing has of an event; 0 if there is no row for it. */
static double group_share(const struct group *g, size_t start, size_t event, bool self)
{
	const struct rollup *t = &g->table;

	for (size_t i = start, end = group_end(g, start); i < end; i++)
		if (t->rows[i].value[ROLLUP_EVENT] == g->events[event])
			return report_percent(self ? t->rows[i].self : t->rows[i].total,
			                      g->weights[event]);
	return 0;
}

/* Orders things as perf does: by their share of the first event, then of the second ... */
static int group_order(const void *pa, const void *pb, void *ctx)
{
	const struct group *g = ctx;
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;

	for (size_t e = 0; e < g->n_events; e++) {
		double x = group_share(g, a, e, g->report->no_children);
		double y = group_share(g, b, e, g->report->no_children);

		if (x != y)
			return x > y ? -1 : 1;
	}
	return a < b ? -1 : a > b;
}

/* Finds where the rows of each thing begin, keeps the things that reach the limit in any event, and
 * sorts them. -ENOMEM. */
static int group_find(struct group *g)
{
	const struct rollup *t = &g->table;

	g->starts = calloc(t->n + 1, sizeof(*g->starts));
	if (!g->starts)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i = group_end(g, i)) {
		bool visible = false;

		for (size_t e = 0; e < g->n_events && !visible; e++) {
			double share = group_share(g, i, e, g->report->no_children);

			visible = share > 0 && share >= g->report->percent_limit;
		}
		if (visible)
			g->starts[g->n++] = i;
	}
	qsort_r(g->starts, g->n, sizeof(*g->starts), group_order, g);
	return 0;
}

/* Whether the k-th field has a column of text: figures stand in front, the event is above. */
static bool group_shows(const struct group *g, size_t k)
{
	unsigned field = g->report->fields.field[k];

	return field < ROLLUP_COLUMNS && field != ROLLUP_EVENT;
}

/* Makes each column as wide as its heading or its longest text. */
static void group_widths(struct group *g)
{
	const struct report_fields *f = &g->report->fields;
	char buf[ROLLUP_TEXT_MAX];

	for (size_t k = 0; k < f->n; k++) {
		if (!group_shows(g, k))
			continue;
		g->width[f->field[k]] = (int)strlen(report_heading(f->field[k]));
		for (size_t i = 0; i < g->n; i++) {
			int n = (int)shown_length(rollup_text(&g->table,
			                                      &g->table.rows[g->starts[i]],
			                                      f->field[k], buf, sizeof(buf)));

			if (n > g->width[f->field[k]])
				g->width[f->field[k]] = n;
		}
	}
}

/* Writes a line for each event with its number and its count, then the headings of the columns. */
static void group_heading(const struct group *g, struct buf *out)
{
	const struct report_fields *f = &g->report->fields;
	char number[32], label[32];

	for (size_t e = 0; e < g->n_events; e++)
		shown_printf(out, "%zu: %s, count %s%s\n", e + 1,
		             profile_event_name(g->table.profile, g->events[e]),
		             report_number(g->weights[e], number, sizeof(number)),
		             report_unit(g->table.profile, g->events[e]));
	buf_put_text(out, "\n");
	/* First the shares with callees, unless --no-children leaves them out; then those by
	 * self. */
	for (int self = g->report->no_children; self < 2; self++)
		for (size_t e = 0; e < g->n_events; e++) {
			snprintf(label, sizeof(label), "%s %zu", self ? "Self" : "Child", e + 1);
			shown_printf(out, "%s%8s", e || self != g->report->no_children ? " " : "",
			             label);
		}
	for (size_t k = 0; k < f->n; k++)
		if (group_shows(g, k))
			shown_printf(out, "  %-*s", g->width[f->field[k]],
			             report_heading(f->field[k]));
	while (out->n && out->bytes[out->n - 1] == ' ')
		out->n--;
	buf_put_text(out, "\n");
}

/* Writes a thing's share of each event, with what it called and of itself, then its names. */
static void group_row(const struct group *g, size_t start, struct buf *out)
{
	const struct report_fields *f = &g->report->fields;
	char buf[ROLLUP_TEXT_MAX];

	for (int self = g->report->no_children; self < 2; self++)
		for (size_t e = 0; e < g->n_events; e++) {
			buf_put_text(out, e || self != g->report->no_children ? " " : "");
			report_share(g->report, group_share(g, start, e, self), out);
		}
	for (size_t k = 0; k < f->n; k++)
		if (group_shows(g, k))
			shown_printf(out, "  %-*s", g->width[f->field[k]],
			             rollup_text(&g->table, &g->table.rows[start],
			                         (enum rollup_column)f->field[k], buf,
			                         sizeof(buf)));
	while (out->n && out->bytes[out->n - 1] == ' ')
		out->n--;
	buf_put_text(out, "\n");
}

/* Lists the events that have samples, and builds the table with a row for each thing and event.
 * -ENOMEM. */
static int group_start(struct group *g)
{
	struct rollup_opts opts = report_rollup_opts(g->report, 0);
	const struct profile *p = g->report->load.profile;
	size_t n = profile_n_events(p);

	g->events = calloc(n + 1, sizeof(*g->events));
	g->weights = calloc(n + 1, sizeof(*g->weights));
	if (!g->events || !g->weights)
		return -ENOMEM;
	for (uint32_t e = 1; e <= n; e++) {
		struct profile_account a;

		profile_account(p, e, &a);
		if (!a.samples)
			continue;
		g->events[g->n_events] = e;
		g->weights[g->n_events++] = a.weight;
	}
	opts.columns |= 1u << ROLLUP_EVENT;
	return rollup_build(&g->table, p, &opts);
}

/* A thing is shown if it reaches the limit in any of the events. -ENOMEM. */
int report_group(const struct report *r, struct buf *out)
{
	struct group g = { .report = r };
	int rc = group_start(&g);

	if (rc >= 0) {
		rollup_sort_groups(&g.table);
		rc = group_find(&g);
	}
	if (rc >= 0) {
		group_widths(&g);
		group_heading(&g, out);
		for (size_t i = 0; i < g.n; i++)
			group_row(&g, g.starts[i], out);
		buf_put_text(out, "\n");
	}
	rollup_free(&g.table);
	free(g.starts);
	free(g.events);
	free(g.weights);
	return rc;
}
