/* SPDX-License-Identifier: MIT */
/*
 * rollup.h: a profile summed up by chosen columns: one row per distinct combination, with what was
 * spent in it (self) and in it or below it (total).
 *
 * Invariant: a sample counts at most once in a row's total, however often the function recurs in its
 * stack; the selfs of all rows of an event add up to its samples, empty stacks included (they stand
 * as a row without object and symbol).
 */
#ifndef SEAM_PROFILE_ROLLUP_H
#define SEAM_PROFILE_ROLLUP_H

#include "profile/profile.h"

enum rollup_column {
	ROLLUP_EVENT,
	ROLLUP_COMM,
	ROLLUP_PID,
	ROLLUP_TID,
	ROLLUP_CPU,
	ROLLUP_STATE,
	ROLLUP_OBJECT,
	ROLLUP_SYMBOL,
	ROLLUP_COLUMNS,
};

/* value[c] is meaningful for the columns asked for, else 0: ids of the profile's strings (comm,
 * symbol), events, objects; numbers (pid, tid, cpu, state). */
struct rollup_row {
	uint32_t value[ROLLUP_COLUMNS];
	uint32_t kind; /* enum profile_kind of the frame, PROFILE_INLINED as where it stands */
	uint64_t self, total; /* weight */
	uint64_t self_samples, total_samples;
	uint64_t last; /* the profile's row last counted in total, + 1 */
};

struct rollup_opts {
	unsigned columns; /* 1u << enum rollup_column */
	uint32_t event;   /* only this one; 0: all */
};

struct rollup {
	const struct profile *profile;
	unsigned columns;
	struct rollup_row *rows; /* sorted by rollup_sort; else in the order they were met */
	size_t n;
	uint64_t weight, samples; /* of all profile rows that were counted */
};

int rollup_build(struct rollup *ret, const struct profile *p, const struct rollup_opts *opts);
void rollup_free(struct rollup *t);
/* By total or by self, descending; equal rows by name, so that the order is stable. */
void rollup_sort(struct rollup *t, bool by_total);
/* "libc.so.6", "[unknown]": what a person reads in a column; numbers go into buf. */
const char *rollup_text(const struct rollup *t, const struct rollup_row *row,
                        enum rollup_column column, char *buf, size_t n);

#endif
