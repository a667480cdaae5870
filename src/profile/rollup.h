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

#include "base/watched.h"
#include "profile/profile.h"

struct flat;
struct intern;

/* The columns of columns.def. */
enum rollup_column {
#define COLUMN(place, id, ...) ROLLUP_##id = (place),
#include "profile/columns.def"
};
enum {
	ROLLUP_COLUMNS = 0
#define COLUMN(...) +1
#include "profile/columns.def"
};

/* What the value of a column means. */
enum rollup_kind {
	ROLLUP_IS_NUMBER, /* PROFILE_NOT_KEPT: none */
	ROLLUP_IS_EVENT,  /* id of the profile */
	ROLLUP_IS_STATE,  /* number of the profile */
	ROLLUP_IS_TIME,   /* slice of the profile; PROFILE_NOT_KEPT: none */
	ROLLUP_IS_OBJECT, /* id of the profile */
	ROLLUP_IS_COMM,   /* string of the profile; "[unknown]" stands for none */
	ROLLUP_IS_NAME,   /* the same, but null for programs where there is none */
	ROLLUP_IS_TEXT,   /* the same; PROFILE_NOT_KEPT: none */
	ROLLUP_IS_PARENT, /* the same, but "[other]" for people where there is none */
	ROLLUP_IS_FILE,   /* string of the profile: the path of a source file */
	ROLLUP_IS_LINE,   /* number; value[ROLLUP_FILE], the source file, is filled, too */
};

/* What a column is: a row of columns.def. */
struct rollup_facts {
	const char *key, *also, *heading, *help;
	enum rollup_kind kind;
	unsigned keep; /* PROFILE_KEEP_*: without these a profile does not have it */
	enum rollup_needs {
		ROLLUP_NEEDS_NOTHING,
		ROLLUP_NEEDS_LINES, /* source lines are looked up for it */
		ROLLUP_NEEDS_CALLS, /* inlined calls are looked up for it */
	} needs;
	bool diff; /* means the same in two recordings */
	bool top;  /* the samples of one refresh tell it */
};
extern const struct rollup_facts rollup_facts[ROLLUP_COLUMNS];

/* value[c] is meaningful for the columns asked for, else 0; enum rollup_kind says what it means. */
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
	/* The sums of a profile whose stacks were not made (flat.h); NULL: it has them. */
	const struct flat *flat;
	bool self_only;          /* totals are not asked for: they mean nothing */
	struct watched *watched; /* who may stop it; NULL: nobody */
};

struct rollup {
	const struct profile *profile;
	unsigned columns;
	struct rollup_row *rows; /* sorted by rollup_sort; else in the order they were met */
	size_t n;
	uint64_t weight, samples; /* of all profile rows of the event, shown or not */
};

/* -ENOMEM; -ECANCELED. */
int rollup_build(struct rollup *ret, const struct profile *p, const struct rollup_opts *opts);
void rollup_free(struct rollup *t);
/* A number for what a frame is in the columns, which other frames of the same rows have, too; 0:
 * none of the columns is about frames. numbers: zero before the first one, intern_free behind the
 * last. INTERN_FAILED: out of memory. */
uint32_t rollup_frame_number(struct intern *numbers, const struct profile *p, unsigned columns,
                             uint32_t frame);
/* Sorts by total or by self, descending; equal rows by name, so that the order is always the
 * same. */
void rollup_sort(struct rollup *t, bool by_total);
/* The same behind these columns, which come first, ascending. */
void rollup_sort_behind(struct rollup *t, bool by_total, const enum rollup_column *first, size_t n);
/* Sorts by all columns but the event, then by event: rows of the same thing stand side by side. */
void rollup_sort_groups(struct rollup *t);
/* The order of two rows by name: columns but those of `without`. */
int rollup_compare_names(const struct rollup *t, const struct rollup_row *a,
                         const struct rollup_row *b, unsigned without);
/* The order of two rows by a column's values, whatever they are called: equal values are 0. */
int rollup_compare_values(const struct rollup_row *a, const struct rollup_row *b,
                          enum rollup_column column);
/* "libc.so.6", "[unknown]", "main.c:12": what a person reads in a column; what is not stored as
 * text goes into buf. */
#define ROLLUP_TEXT_MAX 288
const char *rollup_text(const struct rollup *t, const struct rollup_row *row,
                        enum rollup_column column, char *buf, size_t n);
/* The same for a program: objects and files with their whole path, NULL where there is none. */
const char *rollup_value(const struct rollup *t, const struct rollup_row *row,
                         enum rollup_column column, char *buf, size_t n);

#endif
