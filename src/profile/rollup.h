/* SPDX-License-Identifier: MIT */
/*
 * rollup.h: a profile summed up by chosen columns: one row per distinct combination, with what was
 * spent in it (self) and in it or below it (total).
 *
 * Invariant: a sample counts at most once in a row's total, however often the function recurs in
 * its stack; without a filter the selfs of all rows of an event add up to its samples, empty stacks
 * included (they stand as a row without object and symbol).
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
	ROLLUP_SLICE,  /* of time */
	ROLLUP_PARENT, /* the innermost frame of the stack whose name the caller calls a parent */
	ROLLUP_OBJECT,
	ROLLUP_SYMBOL,
	ROLLUP_FILE, /* of the source */
	ROLLUP_LINE, /* file and line: value[ROLLUP_FILE] is set, too */
	ROLLUP_COLUMNS,
};

/* value[c] is meaningful for the columns asked for, else 0: ids of the profile's strings (comm,
 * parent, symbol, file), events, objects; numbers (pid, tid, cpu, state, slice, line). */
struct rollup_row {
	uint32_t value[ROLLUP_COLUMNS];
	uint32_t kind;        /* of its frames, by profile_kind_of */
	uint64_t self, total; /* weight */
	uint64_t self_samples, total_samples;
	uint64_t last; /* the profile's row last counted in total, + 1 */
};

struct rollup_opts {
	unsigned columns; /* 1u << enum rollup_column */
	uint32_t event;   /* only this one; 0: all */
	/* By frame id (0: a stack without frames): only these frames are counted; NULL: all. */
	const bool *shown;
	/* By string id: names that are parents, for ROLLUP_PARENT. */
	const bool *parents;
};

struct rollup {
	const struct profile *profile;
	unsigned columns;
	struct rollup_row *rows; /* sorted by rollup_sort; else in the order they were met */
	size_t n;
	uint64_t weight, samples; /* of all profile rows of the event, shown or not */
};

int rollup_build(struct rollup *ret, const struct profile *p, const struct rollup_opts *opts);
void rollup_free(struct rollup *t);
/* By total or by self, descending; equal rows by name, so that the order is stable. */
void rollup_sort(struct rollup *t, bool by_total);
/* The same behind these columns, which come first, ascending. */
void rollup_sort_behind(struct rollup *t, bool by_total, const enum rollup_column *first, size_t n);
/* By all columns but the event, then by event: rows of the same thing stand side by side. */
void rollup_sort_groups(struct rollup *t);
/* The order of two rows by name: columns but those of `without`. */
int rollup_compare_names(const struct rollup *t, const struct rollup_row *a,
                         const struct rollup_row *b, unsigned without);
/* "libc.so.6", "[unknown]", "main.c:12": what a person reads in a column; what is not stored as
 * text goes into buf. */
#define ROLLUP_TEXT_MAX 288
const char *rollup_text(const struct rollup *t, const struct rollup_row *row,
                        enum rollup_column column, char *buf, size_t n);

#endif
