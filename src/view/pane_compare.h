/* SPDX-License-Identifier: MIT */
/* pane_compare.h: the panes of a comparison: its rows (pane_compare.c), and a function between its
 * callers and callees on both sides (pane_compare_calls.c); what both draw
 * (pane_compare_figures.c). */
#ifndef SEAM_VIEW_PANE_COMPARE_H
#define SEAM_VIEW_PANE_COMPARE_H

#include "view/compare.h"
#include "view/pane.h"

/* NULL: out of memory. */
struct pane *pane_compare(const struct view_opts *opts, struct pane_scope *s);
/* object: a path, or a path's last part; NULL: any. The texts are copied. */
struct pane *pane_compare_calls(const struct view_opts *opts, struct pane_scope *s,
                                const struct view_compare *c, const char *event, const char *object,
                                const char *symbol);

/* ---- pane_compare_figures.c ---- */

/* By what rows are sorted: its heading has a star. */
enum pane_compare_by {
	PANE_BY_CHANGE,
	PANE_BY_NEW,
	PANE_BY_BASE,
	PANE_BY_RATIO,
	PANE_BY_END, /* by none of these */
};

/* The columns that figures take. */
unsigned pane_compare_room(const struct view_screen *s, bool absolute);
/* Both figures of a row and how sure their difference is; the heading above. The column behind
 * them. */
unsigned pane_compare_figures(const struct view_screen *s, unsigned row, unsigned style,
                              const struct compare_row *r, bool absolute);
unsigned pane_compare_heading(const struct view_screen *s, unsigned row, bool absolute,
                              enum pane_compare_by by);

#endif
