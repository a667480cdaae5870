/* SPDX-License-Identifier: MIT */
/* pane_compare.h: the panes of a comparison: its rows (pane_compare.c), the call tree of both sides
 * (pane_compare_tree.c), and a function between its callers and callees (pane_compare_calls.c);
 * what all of them draw (pane_compare_figures.c). */
#ifndef SEAM_VIEW_PANE_COMPARE_H
#define SEAM_VIEW_PANE_COMPARE_H

#include "view/compare_rows.h"

/* Rows by columns: the caller's where all samples are shown by its columns, else made here. NULL:
 * out of memory. */
struct pane *pane_compare(const struct view_opts *opts, struct pane_scope *s,
                          const enum rollup_column *columns, size_t n);
/* What line i of these stands for: its first column's text. False: the pane is another one. */
bool pane_compare_thing(struct pane *p, size_t i, enum rollup_column *column, const char **text);
struct pane *pane_compare_tree(const struct view_opts *opts, struct pane_scope *s,
                               enum tree_order order);
/* object: a path's last part; "": any. The texts are copied. */
struct pane *pane_compare_calls(const struct view_opts *opts, struct pane_scope *s,
                                const char *object, const char *symbol);

/* ---- pane_compare_figures.c ---- */

/* The columns that figures take. */
unsigned pane_compare_room(const struct view_screen *s, bool absolute);
/* Both figures of a row and how sure their difference is; the heading above. The column behind
 * them. */
unsigned pane_compare_figures(const struct view_screen *s, unsigned row, unsigned style,
                              const struct compare_row *r, bool absolute);
unsigned pane_compare_heading(const struct view_screen *s, unsigned row, bool absolute,
                              enum compare_by by);

#endif
