/* SPDX-License-Identifier: MIT */
/*
 * compare.h: two sides of a comparison as the view shows them: rows with both figures and how sure
 * their difference is, made by the caller, and a profile of each side for callers and callees.
 */
#ifndef SEAM_VIEW_COMPARE_H
#define SEAM_VIEW_COMPARE_H

#include "profile/noise.h"
#include "view/view.h"

struct compare_row {
	const char *value[ROLLUP_COLUMNS];   /* n_columns of them, not escaped */
	const char *event, *object, *symbol; /* object, symbol: NULL: not told apart */
	double base, next;                   /* shares of 1; absolute: counts */
	double share;                        /* the larger of both sides' */
	bool half;                           /* base alone is known, and stands for next */
	struct noise noise;
	int verdict; /* 1: for sure more; -1: for sure less; 0: noise could be all of it */
};

struct view_compare {
	const struct compare_row *rows; /* by amount of change, descending */
	size_t n_rows;
	size_t n_columns;
	const enum rollup_column *columns;
	bool events;   /* there are several: rows tell theirs */
	bool absolute; /* figures are counts */
	bool children; /* functions count with what they called */
	/* The new side is still to be read: base stands for it, and neither its figures nor a
	 * difference are shown. There are no rows: they are made of base. */
	bool half;
	double confidence;
	size_t runs[2];                /* recordings of each side, at least one */
	const struct profile *side[2]; /* base, new */
};

#endif
