/* SPDX-License-Identifier: MIT */
/*
 * compare_rows.h: figures of two sides made here, of the samples that a scope has: of one thing
 * (compare_fill), or rows by columns that are the same on both sides (compare_rows).
 *
 * How sure a difference is, is told from the number of samples alone; what runs differ by beyond
 * that is known of the caller's rows only.
 */
#ifndef SEAM_VIEW_COMPARE_ROWS_H
#define SEAM_VIEW_COMPARE_ROWS_H

#include "base/intern.h"
#include "view/compare.h"
#include "view/pane.h"

/* By side: the baseline is 0. */
struct compare_counts {
	uint64_t weight[2], samples[2];
};

/* Fills base, next and share, of a scope of two sides. */
void compare_figures(struct compare_row *row, const struct view_compare *c,
                     const struct pane_scope *s, const struct compare_counts *k);
/* The same, with noise and verdict. */
void compare_fill(struct compare_row *row, const struct view_compare *c, const struct pane_scope *s,
                  const struct compare_counts *k);

/* By what rows are sorted: its heading has a star. */
enum compare_by {
	COMPARE_BY_CHANGE,
	COMPARE_BY_NEW,
	COMPARE_BY_BASE,
	COMPARE_BY_RATIO,
	COMPARE_BY_END, /* by none of these */
};
/* What a row is sorted by, descending. */
double compare_key(const struct compare_row *row, enum compare_by by);

/* Zero-initialise to start. */
struct compare_rows {
	struct compare_row *rows;
	size_t n;
	struct intern texts;
};

/* Sums both sides of a scope up by columns. -ENOMEM. */
int compare_rows_make(struct compare_rows *ret, const struct view_compare *c, struct pane_scope *s,
                      const enum rollup_column *columns, size_t n);
void compare_rows_free(struct compare_rows *r);

#endif
