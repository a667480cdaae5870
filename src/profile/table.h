/* SPDX-License-Identifier: MIT */
/*
 * table.h: a profile summed up by chosen columns: one row per distinct combination, with what was
 * spent in it (self) and in it or below it (total).
 *
 * Invariant: a sample counts at most once in a row's total, however often the function recurs in its
 * stack; the selfs of all rows of an event add up to its samples, empty stacks included (they stand
 * as a row without object and symbol).
 */
#ifndef SEAM_PROFILE_TABLE_H
#define SEAM_PROFILE_TABLE_H

#include "profile/profile.h"

enum table_column {
	TABLE_EVENT,
	TABLE_COMM,
	TABLE_PID,
	TABLE_TID,
	TABLE_CPU,
	TABLE_STATE,
	TABLE_OBJECT,
	TABLE_SYMBOL,
	TABLE_COLUMNS,
};

/* value[c] is meaningful for the columns asked for, else 0: ids of the profile's strings (comm,
 * symbol), events, objects; numbers (pid, tid, cpu, state). */
struct table_row {
	uint32_t value[TABLE_COLUMNS];
	uint32_t kind; /* enum profile_kind of the frame, PROFILE_INLINED as where it stands */
	uint64_t self, total; /* weight */
	uint64_t self_samples, total_samples;
	uint64_t last; /* the profile's row last counted in total, + 1 */
};

struct table_opts {
	unsigned columns; /* 1u << enum table_column */
	uint32_t event;   /* only this one; 0: all */
};

struct table {
	const struct profile *profile;
	unsigned columns;
	struct table_row *rows; /* sorted by table_sort; else in the order they were met */
	size_t n;
	uint64_t weight, samples; /* of all profile rows that were counted */
};

int table_build(struct table *ret, const struct profile *p, const struct table_opts *opts);
void table_free(struct table *t);
/* By total or by self, descending; equal rows by name, so that the order is stable. */
void table_sort(struct table *t, bool by_total);
/* "libc.so.6", "[unknown]": what a person reads in a column; numbers go into buf. */
const char *table_text(const struct table *t, const struct table_row *row, enum table_column column,
                       char *buf, size_t n);

#endif
