// SPDX-License-Identifier: MIT
// report_figure.c: numbers as people read them: shares, counts, and the figures of a row. Knows
// which of these get colours.
#include <inttypes.h>
#include <stdio.h>

#include "base/color.h"
#include "report/report.h"

/* 0 of nothing. */
double report_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* 1234567 as "1,234,567", in buf. */
const char *report_number(uint64_t v, char *buf, size_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);
	size_t at = 0;

	for (int i = 0; i < len && at + 2 < n; i++) {
		if (i && (len - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = 0;
	return buf;
}

/* Eight columns and a sign, coloured by how much it is. */
void report_share(const struct report *r, double percent, struct buf *out)
{
	const char *color = color_of_share(r->color, percent);

	buf_printf(out, "%s%7.2f%%%s", color, percent, *color ? COLOR_PLAIN : "");
}

static const struct {
	int width;
	bool share;
} figures[REPORT_FIELDS] = {
#define FIGURE(id, key, also, heading, width, share, value, help) [REPORT_##id] = { width, share },
#include "profile/columns.def"
};

/* Whether the field is a percentage. */
bool report_figure_is_share(unsigned field)
{
	return figures[field].share;
}

/* Columns that the figure takes. */
int report_figure_width(unsigned field)
{
	return figures[field].width;
}

/* The figure of a row. The .def file says how, with r and self. */
static uint64_t figure_value(const struct report *r, const struct rollup_row *row, unsigned field)
{
	bool self = r->no_children;

	switch (field) {
#define FIGURE(id, key, also, heading, width, share, value, help) \
	case REPORT_##id:                                         \
		return value;
#include "profile/columns.def"
	default:
		return 0;
	}
}

/* perf's mark in front of a function: kernel, inlined, or the user's. */
const char *report_kind(const struct rollup_row *row)
{
	return row->kind == PROFILE_KERNEL    ? "[k] "
	       : row->kind == PROFILE_INLINED ? "[i] "
	                                      : "[.] ";
}

/* The figure without a width, for a separator. */
void report_figure_plain(const struct report *r, const struct rollup *t,
                         const struct rollup_row *row, unsigned field, struct buf *out)
{
	uint64_t value = figure_value(r, row, field);

	if (report_figure_is_share(field))
		buf_printf(out, "%.2f%%", report_percent(value, t->weight));
	else
		buf_printf(out, "%" PRIu64, value);
}

/* The figure in its column, right-aligned and coloured. */
void report_figure(const struct report *r, const struct rollup *t, const struct rollup_row *row,
                   unsigned field, int width, struct buf *out)
{
	uint64_t value = figure_value(r, row, field);

	if (report_figure_is_share(field)) {
		buf_printf(out, "%*s", width > 8 ? width - 8 : 0, "");
		report_share(r, report_percent(value, t->weight), out);
	} else {
		buf_printf(out, "%*" PRIu64, width, value);
	}
}

/* What stands behind a count; "" where it has no unit. */
const char *report_unit(const struct profile *p, uint32_t event)
{
	return profile_event_unit(p, event) == PROFILE_NANOSECONDS ? " ns" : "";
}

/* Ends a line, without the blanks of the last column. */
void report_end_line(struct buf *out)
{
	while (out->n && out->bytes[out->n - 1] == ' ')
		out->n--;
	buf_put_text(out, "\n");
}
