// SPDX-License-Identifier: MIT
/*
 * pane_compare_figures.c: both figures of a row, the change with its margin, and, where there is
 * room, the ratio with its interval. A narrow screen has both figures only, or the change only.
 *
 * What is for sure more is drawn as what is hot, what is for sure less as what is warm; without
 * colours and beside them a sign says what noise could be.
 */
#include <math.h>

#include "base/shown.h"
#include "view/pane_compare.h"

/* What there is room for, beside names. */
enum figures_width {
	FIGURES_CHANGE, /* the change alone */
	FIGURES_BOTH,   /* both figures */
	FIGURES_ALL,    /* both and the change */
	FIGURES_RATIO,  /* and the ratio */
};

/* The screens that have it: columns, of shares and of counts. */
static const struct {
	unsigned shares, counts;
} figures_from[] = {
	[FIGURES_CHANGE] = { 0, 0 },
	[FIGURES_BOTH] = { 44, 58 },
	[FIGURES_ALL] = { 64, 76 },
	[FIGURES_RATIO] = { 110, 110 },
};
/* The columns that figures take, with a blank behind them for a mark. */
static const struct {
	unsigned shares, counts;
} figures_take[] = {
	[FIGURES_CHANGE] = { 11, 16 },
	[FIGURES_BOTH] = { 20, 30 },
	[FIGURES_ALL] = { 36, 45 },
	[FIGURES_RATIO] = { 64, 73 },
};

static enum figures_width figures_width(const struct view_screen *s, bool absolute)
{
	enum figures_width w = FIGURES_RATIO;

	while (s->columns < (absolute ? figures_from[w].counts : figures_from[w].shares))
		w--;
	return w;
}

unsigned pane_compare_room(const struct view_screen *s, bool absolute)
{
	enum figures_width w = figures_width(s, absolute);

	return absolute ? figures_take[w].counts : figures_take[w].shares;
}

/* The change, and how sure it is: a sign of one character, so that nobody needs colours. */
static void figures_change(struct buf *to, const struct compare_row *r, bool absolute,
                           enum figures_width w)
{
	if (r->half) {
		if (w != FIGURES_BOTH)
			buf_printf(to, "%*s", absolute ? 13 : 8, "...");
		return;
	}
	if (w != FIGURES_BOTH && absolute)
		buf_printf(to, "%+13.0f ", r->next - r->base);
	else if (w != FIGURES_BOTH)
		buf_printf(to, "%+7.2f%% ", (r->next - r->base) * 100);
	if (w >= FIGURES_ALL && !absolute)
		buf_printf(to, "±%5.2f ", r->noise.margin * 100);
	buf_put_text(to, r->verdict ? " " : "~");
	/* A side without samples has no share to compare with. */
	if (w == FIGURES_RATIO && isfinite(r->noise.ratio))
		buf_printf(to, " %6.2f (%.2f ... %.2f)", r->noise.ratio, r->noise.least,
		           r->noise.most);
}

/* Draws what there is room for. Returns the column behind it. */
unsigned pane_compare_figures(const struct view_screen *s, unsigned row, unsigned style,
                              const struct compare_row *r, bool absolute)
{
	enum figures_width w = figures_width(s, absolute);
	unsigned sure = style != VIEW_PLAIN ? style
	                : r->half           ? VIEW_DIM
	                : r->verdict > 0    ? VIEW_HOT
	                : r->verdict < 0    ? VIEW_WARM
	                                    : VIEW_DIM;
	struct buf text = { 0 };
	unsigned at;

	if (w != FIGURES_CHANGE && r->half)
		buf_printf(&text, absolute ? "%13.0f %13s " : "%7.2f%% %8s ",
		           absolute ? r->base : r->base * 100, "...");
	else if (w != FIGURES_CHANGE && absolute)
		buf_printf(&text, "%13.0f %13.0f ", r->base, r->next);
	else if (w != FIGURES_CHANGE)
		buf_printf(&text, "%7.2f%% %7.2f%% ", r->base * 100, r->next * 100);
	at = (unsigned)text.n;
	if (at && at < s->columns)
		s->put(s->ctx, row, 0, style, buf_text(&text));
	buf_clear(&text);
	figures_change(&text, r, absolute, w);
	if (at + shown_columns(buf_text(&text), text.n) < s->columns)
		s->put(s->ctx, row, at, sure, buf_text(&text));
	buf_free(&text);
	return pane_compare_room(s, absolute);
}

/* The heading of these figures; that which rows are sorted by has a star. */
unsigned pane_compare_heading(const struct view_screen *s, unsigned row, bool absolute,
                              enum compare_by by)
{
	enum figures_width w = figures_width(s, absolute);
	int wide = absolute ? 13 : 8;
	struct buf text = { 0 };

	if (w != FIGURES_CHANGE)
		buf_printf(&text, "%*s %*s ", wide, by == COMPARE_BY_BASE ? "Base*" : "Base", wide,
		           by == COMPARE_BY_NEW ? "New*" : "New");
	if (w != FIGURES_BOTH)
		buf_printf(&text, "%*s", wide, by == COMPARE_BY_CHANGE ? "Delta*" : "Delta");
	if (!absolute && w >= FIGURES_ALL)
		buf_put_text(&text, "      ±");
	if (w == FIGURES_RATIO)
		buf_printf(&text, "%*s", 10, by == COMPARE_BY_RATIO ? "Ratio*" : "Ratio");
	if (shown_columns(buf_text(&text), text.n) < s->columns)
		s->put(s->ctx, row, 0, VIEW_HEADING, buf_text(&text));
	buf_free(&text);
	return pane_compare_room(s, absolute);
}
