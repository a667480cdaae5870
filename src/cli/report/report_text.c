// SPDX-License-Identifier: MIT
// report_text.c: a report for people: per event a table and a call tree, and the account below.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/report/report.h"

#define RED "\033[31m"
#define GREEN "\033[32m"
#define PLAIN "\033[0m"
#define HOT 5.0 /* percent: where perf's colours begin, too */
#define WARM 0.5

void report_share(const struct report *r, double percent, struct buf *out)
{
	const char *color = !r->naming.color  ? ""
	                    : percent >= HOT  ? RED
	                    : percent >= WARM ? GREEN
	                                      : "";

	buf_printf(out, "%s%7.2f%%%s", color, percent, *color ? PLAIN : "");
}

const char *report_field_text(const struct rollup *t, const struct rollup_row *row, unsigned field,
                              char *buf, size_t n)
{
	switch (field) {
	case REPORT_TOTAL:
		snprintf(buf, n, "%.2f%%", report_percent(row->total, t->weight));
		return buf;
	case REPORT_SELF:
		snprintf(buf, n, "%.2f%%", report_percent(row->self, t->weight));
		return buf;
	default:
		return rollup_text(t, row, (enum rollup_column)field, buf, n);
	}
}

struct text_table {
	const struct report *report;
	const struct rollup *table;
	int width[REPORT_FIELDS];
};

static bool text_visible(const struct report *r, const struct rollup *t,
                         const struct rollup_row *row)
{
	uint64_t by = r->no_children ? row->self : row->total;

	/* What was only ever called has no self: without children it would be a row of zeros. */
	return by && report_percent(by, t->weight) >= r->percent_limit;
}

static bool text_is_share(unsigned field)
{
	return field == REPORT_TOTAL || field == REPORT_SELF;
}

static void text_widths(struct text_table *tt)
{
	const struct report_fields *f = &tt->report->fields;
	const struct rollup *t = tt->table;
	char buf[ROLLUP_TEXT_MAX];

	for (size_t k = 0; k < f->n; k++)
		tt->width[f->field[k]] = (int)strlen(report_heading(f->field[k]));
	for (size_t i = 0; i < t->n; i++) {
		if (!text_visible(tt->report, t, &t->rows[i]))
			continue;
		for (size_t k = 0; k < f->n; k++) {
			unsigned c = f->field[k];
			size_t n;

			if (c >= ROLLUP_COLUMNS)
				continue;
			n = strlen(rollup_text(t, &t->rows[i], c, buf, sizeof(buf)));
			if (c == ROLLUP_SYMBOL)
				n += 4;
			if (n > (size_t)tt->width[c])
				tt->width[c] = (int)n;
		}
	}
}

static void text_end_line(struct buf *out)
{
	while (out->n && out->bytes[out->n - 1] == ' ')
		out->n--;
	buf_put_text(out, "\n");
}

/* Shares stand close together; all else is two blanks apart. */
static void text_gap(const struct report_fields *f, size_t k, struct buf *out)
{
	if (k)
		buf_put_text(out, text_is_share(f->field[k]) && text_is_share(f->field[k - 1])
		                          ? " "
		                          : "  ");
}

static void text_heading(const struct text_table *tt, struct buf *out)
{
	const struct report_fields *f = &tt->report->fields;

	for (size_t k = 0; k < f->n; k++) {
		unsigned field = f->field[k];

		text_gap(f, k, out);
		if (text_is_share(field))
			buf_printf(out, "%8s", report_heading(field));
		else if (field == REPORT_SAMPLES || field == REPORT_PERIOD)
			buf_printf(out, "%*s", field == REPORT_SAMPLES ? 10 : 16,
			           report_heading(field));
		else
			buf_printf(out, "%-*s", tt->width[field], report_heading(field));
	}
	text_end_line(out);
}

static void text_cell(const struct text_table *tt, const struct rollup_row *row, unsigned field,
                      struct buf *out)
{
	const struct rollup *t = tt->table;
	bool self = tt->report->no_children;
	char text[ROLLUP_TEXT_MAX];

	switch (field) {
	case REPORT_TOTAL:
		report_share(tt->report, report_percent(row->total, t->weight), out);
		break;
	case REPORT_SELF:
		report_share(tt->report, report_percent(row->self, t->weight), out);
		break;
	case REPORT_SAMPLES:
		buf_printf(out, "%10" PRIu64, self ? row->self_samples : row->total_samples);
		break;
	case REPORT_PERIOD:
		buf_printf(out, "%16" PRIu64, self ? row->self : row->total);
		break;
	case ROLLUP_SYMBOL:
		buf_put_text(out, row->kind == PROFILE_KERNEL    ? "[k] "
		                  : row->kind == PROFILE_INLINED ? "[i] "
		                                                 : "[.] ");
		buf_printf(out, "%-*s", tt->width[field] - 4,
		           rollup_text(t, row, ROLLUP_SYMBOL, text, sizeof(text)));
		break;
	default:
		buf_printf(out, "%-*s", tt->width[field],
		           rollup_text(t, row, (enum rollup_column)field, text, sizeof(text)));
	}
}

static void text_row(const struct text_table *tt, const struct rollup_row *row, struct buf *out)
{
	const struct report_fields *f = &tt->report->fields;

	for (size_t k = 0; k < f->n; k++) {
		text_gap(f, k, out);
		text_cell(tt, row, f->field[k], out);
	}
	text_end_line(out);
}

int report_table(const struct report *r, uint32_t event, struct buf *out)
{
	struct text_table tt = { .report = r };
	struct rollup t;
	uint64_t hidden = 0, hidden_self = 0;
	size_t shown = 0;
	int rc = report_rollup(r, event, &t);

	if (rc < 0)
		return rc;
	tt.table = &t;
	text_widths(&tt);
	text_heading(&tt, out);
	for (size_t i = 0; i < t.n; i++) {
		if (text_visible(r, &t, &t.rows[i]) && (!r->rows_max || shown < r->rows_max)) {
			text_row(&tt, &t.rows[i], out);
			shown++;
		} else {
			hidden += (r->no_children ? t.rows[i].self : t.rows[i].total) != 0;
			hidden_self += t.rows[i].self;
		}
	}
	if (hidden && r->rows_max)
		buf_printf(out, "(%" PRIu64 " more rows, %.2f %% in all by self)\n", hidden,
		           report_percent(hidden_self, t.weight));
	else if (hidden)
		buf_printf(out, "(%" PRIu64 " more rows below %g %%, %.2f %% in all by self)\n",
		           hidden, r->percent_limit, report_percent(hidden_self, t.weight));
	rollup_free(&t);
	return 0;
}

/* Behind an event's sum; event 0 is all of them, which have one only if all are alike. */
static const char *text_unit(const struct profile *p, uint32_t event)
{
	size_t n = profile_n_events(p);

	for (uint32_t e = event ? event : 1; e <= (event ? event : n); e++)
		if (profile_event_unit(p, e) != PROFILE_NANOSECONDS)
			return "";
	return n ? " ns" : "";
}

static int text_print_event(const struct report *r, uint32_t event, struct buf *out)
{
	struct profile_account account;
	char number[32];
	int rc;

	profile_account(r->load.profile, event, &account);
	if (!account.samples)
		return 0;
	if (event)
		buf_printf(out, "%s: %s samples", profile_event_name(r->load.profile, event),
		           report_number(account.samples, number, sizeof(number)));
	else
		buf_printf(out, "all events: %s samples",
		           report_number(account.samples, number, sizeof(number)));
	buf_printf(out, ", count %s%s\n\n", report_number(account.weight, number, sizeof(number)),
	           text_unit(r->load.profile, event));
	rc = report_table(r, event, out);
	if (rc >= 0 && r->graph != REPORT_GRAPH_NONE)
		rc = report_tree(r, event, out);
	buf_put_text(out, "\n");
	return rc;
}

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
	if (rc >= 0)
		report_account(r, out);
	return rc;
}
