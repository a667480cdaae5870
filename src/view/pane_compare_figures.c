// SPDX-License-Identifier: MIT
/*
 * pane_compare_figures.c: both figures of a row, the change with its margin, and, where there is
 * room, the ratio with its interval.
 *
 * What is for sure more is drawn as what is hot, what is for sure less as what is warm; without
 * colours and beside them a sign says what noise could be.
 */
#include "base/shown.h"
#include "view/pane_compare.h"

#define WIDE 110 /* columns of a screen that has room for ratios */

unsigned pane_compare_room(const struct view_screen *s, bool absolute)
{
	return (absolute ? 45 : 36) + (s->columns >= WIDE ? 28 : 0);
}

/* Draws both figures, the change, and how sure it is. Returns the column behind them. */
unsigned pane_compare_figures(const struct view_screen *s, unsigned row, unsigned style,
                              const struct compare_row *r, bool absolute)
{
	unsigned sure = style != VIEW_PLAIN ? style
	                : r->verdict > 0    ? VIEW_HOT
	                : r->verdict < 0    ? VIEW_WARM
	                                    : VIEW_DIM;
	/* One character, so that nobody needs colours. */
	const char *sign = r->verdict ? " " : "~";
	struct buf text = { 0 };
	unsigned at;

	if (absolute)
		buf_printf(&text, "%13.0f %13.0f ", r->base, r->next);
	else
		buf_printf(&text, "%7.2f%% %7.2f%% ", r->base * 100, r->next * 100);
	at = (unsigned)text.n;
	if (at < s->columns)
		s->put(s->ctx, row, 0, style, buf_text(&text));
	buf_clear(&text);
	if (absolute)
		buf_printf(&text, "%+13.0f %s", r->next - r->base, sign);
	else
		buf_printf(&text, "%+7.2f%% ±%5.2f %s", (r->next - r->base) * 100,
		           r->noise.margin * 100, sign);
	if (s->columns >= WIDE)
		buf_printf(&text, " %6.2f (%.2f ... %.2f)", r->noise.ratio, r->noise.least,
		           r->noise.most);
	if (at + shown_columns(buf_text(&text), text.n) < s->columns)
		s->put(s->ctx, row, at, sure, buf_text(&text));
	buf_free(&text);
	return pane_compare_room(s, absolute);
}

/* The heading of these figures. by: which has a star, as compare_pane.by. */
unsigned pane_compare_heading(const struct view_screen *s, unsigned row, bool absolute,
                              enum pane_compare_by by)
{
	int wide = absolute ? 13 : 8;
	struct buf text = { 0 };

	buf_printf(&text, "%*s %*s %*s", wide, by == PANE_BY_BASE ? "Base*" : "Base", wide,
	           by == PANE_BY_NEW ? "New*" : "New", wide,
	           by == PANE_BY_CHANGE ? "Delta*" : "Delta");
	if (!absolute)
		buf_put_text(&text, "      ±");
	if (s->columns >= WIDE)
		buf_printf(&text, "%*s", 10, by == PANE_BY_RATIO ? "Ratio*" : "Ratio");
	if (shown_columns(buf_text(&text), text.n) < s->columns)
		s->put(s->ctx, row, 0, VIEW_HEADING, buf_text(&text));
	buf_free(&text);
	return pane_compare_room(s, absolute);
}
