/* SPDX-License-Identifier: MIT */
/*
 * report.h: what the files of this room share: what is to be shown, and what there is to show.
 *
 * report_fields.c knows what rows are made of; report_text.c, report_hierarchy.c, report_tree.c,
 * report_group.c, report_json.c and report_csv.c write, by what report_rows.c and report_figure.c
 * give; report_account.c, report_ends.c and report_runtimes.c tell what became of every sample;
 * report_tasks.c lists tasks instead.
 */
#ifndef SEAM_REPORT_REPORT_H
#define SEAM_REPORT_REPORT_H

#include <seam/reader.h>

#include "base/buf.h"
#include "aggregate/load.h"
#include "profile/flat.h"
#include "profile/rollup.h"
#include "profile/tree.h"

enum report_graph {
	REPORT_GRAPH_CALLER,
	REPORT_GRAPH_CALLEE,
	REPORT_GRAPH_NONE
};

/* What a row shows: a column of the rollup (enum rollup_column), or one of its figures. */
enum report_field {
	REPORT_BEFORE_FIGURES = ROLLUP_COLUMNS - 1,
#define FIGURE(id, ...) REPORT_##id,
#include "profile/columns.def"
	REPORT_FIELDS,
};

struct report_fields {
	unsigned char field[2 * REPORT_FIELDS]; /* enum report_field or rollup_column, as shown */
	size_t n;
	enum rollup_column first[ROLLUP_COLUMNS]; /* rows are in order of these before the share */
	size_t n_first;
	unsigned columns; /* 1u << enum rollup_column: all that tell rows apart */
};

/* A report: its maker sets what is to be shown, and rec and load. Nothing is owned but by it. */
struct report {
	const char *sort_list, *field_list; /* as given; NULL: not */
	struct report_fields fields;
	bool no_children, samples_column, group, threads, hierarchy;
	bool quiet;            /* rows alone: no headings, no account */
	bool graph_given;      /* the tree is asked for, not only the default */
	bool color;            /* for a terminal that has colours */
	const char *separator; /* between fields that are not padded; NULL: blanks */
	unsigned widths[2 *
	                REPORT_FIELDS]; /* of the first fields, asked for; 0: as wide as need be */
	size_t n_widths;
	size_t columns; /* that a row may take: long names are cut; 0: as many as it needs */
	double percent_limit;
	enum report_graph graph;
	unsigned max_stack;
	size_t rows_max;           /* of a table as text; 0: all */
	const char *symbols;       /* a list: only these functions have rows */
	const char *symbol_filter; /* a part of the names of functions that have rows */
	struct recording *rec;
	struct load load;
	bool *shown;   /* by frame: has rows; NULL: all have */
	bool *parents; /* by string: is a parent; NULL: not asked for */
};

/* ---- report_fields.c ---- */

/* Sets the fields from the lists and flags. 0, or -EINVAL and a sentence in why. */
int report_fields_set(struct report *r, struct buf *why);
/* "comm", "dso": the sort key of a column; its heading. */
const char *report_key(unsigned field);
const char *report_heading(unsigned field);
/* PROFILE_KEEP_*: what a profile must have for the columns. */
unsigned report_keeps(const struct report *r);
/* Whether any column needs this to be looked up. */
bool report_needs(const struct report *r, enum rollup_needs needs);

/* ---- report_rows.c ---- */

struct rollup_opts report_rollup_opts(const struct report *r, uint32_t event);
/* Builds the rollup of an event: all, or with the figures that are shown, and those rows in front.
 * They are sorted. -ENOMEM. */
int report_rollup(const struct report *r, uint32_t event, bool all, struct rollup *ret);
/* Whether a row or branch is large enough to be shown. */
bool report_visible(const struct report *r, const struct rollup *t, const struct rollup_row *row);

/* ---- report_figure.c ---- */

double report_percent(uint64_t part, uint64_t whole);
/* "5,406" into buf. */
const char *report_number(uint64_t v, char *buf, size_t n);
/* Writes " 12.34%", in colour if it is much. */
void report_share(const struct report *r, double percent, struct buf *out);
/* The figures of a row that stand before its names, as wide as text; the headings of them. */
void report_figure(const struct report *r, const struct rollup *t, const struct rollup_row *row,
                   unsigned field, int width, struct buf *out);
/* A figure by itself, without padding and colour. */
void report_figure_plain(const struct report *r, const struct rollup *t,
                         const struct rollup_row *row, unsigned field, struct buf *out);
int report_figure_width(unsigned field);
/* Whether a figure is a share: "12.34%". */
bool report_figure_is_share(unsigned field);
/* Behind the sum of an event's counts: " ns", or "". */
const char *report_unit(const struct profile *p, uint32_t event);
/* "[k] ", by the kind of a row's frames. */
const char *report_kind(const struct rollup_row *row);
/* Ends a line without blanks at its end. */
void report_end_line(struct buf *out);

/* ---- writing: each adds to out; -ENOMEM ---- */

int report_text(const struct report *r, struct buf *out);
/* Whether a call tree stands below each table. */
bool report_has_tree(const struct report *r);
int report_json(const struct report *r, struct buf *out);
/* Writes a row for each thread. r->load must have kept what these columns need. */
#define REPORT_THREAD_COLUMNS (1u << ROLLUP_EVENT | 1u << ROLLUP_COMM | 1u << ROLLUP_TID)
int report_threads(const struct report *r, struct buf *out);
int report_csv(const struct report *r, struct buf *out);
int report_stats(const struct report *r, struct buf *out);
/* Writes the table of an event (0: of all) as text. */
int report_table(const struct report *r, uint32_t event, struct buf *out);
/* Writes the same as a tree of keys: below each value of the first key stand its values of the
 * second. */
int report_hierarchy(const struct report *r, uint32_t event, struct buf *out);
/* Writes every task that a record names, below the task that made it. heading: one line above them.
 * -ENOMEM, or as the reader says. */
int report_tasks(struct seam_reader *reader, bool heading, struct buf *out, struct seam_error *err);
/* Writes the call tree of an event (0: of all). */
int report_tree(const struct report *r, uint32_t event, struct buf *out);
/* All events side by side. */
int report_group(const struct report *r, struct buf *out);
/* Writes the lines below a report: the states of the stacks, losses, and what has no name. */
void report_account(const struct report *r, struct buf *out);
/* A part of these lines: where user stacks end although no program or thread begins there. tops:
 * report_tops, or NULL. */
void report_ends(const struct report *r, const uint32_t *tops, struct buf *out);
/* A part of these lines: stacks that end in code that a runtime made, and the flag with which they
 * go on. */
void report_runtimes(const struct report *r, const uint32_t *tops, struct buf *out);
/* Stacks of CPython without its functions, and what would name them. */
void report_python(const struct report *r, struct buf *out);
struct report_ends {
	struct report_end {
		uint32_t object;
		const char *path; /* the object's; NULL with 0 samples */
		uint64_t samples;
	} * by_object; /* n of them, by samples, descending; the caller frees it */
	size_t n;
	uint64_t samples; /* of all objects */
	uint64_t deep;    /* not counted above: the kernel's limit of depth cut them */
};
/* Whether some user stacks were walked by unwind tables while recording. */
bool report_by_tables(const struct report *r);
int report_ends_find(const struct report *r, const uint32_t *tops, struct report_ends *ret);
/* For each row the outermost node of its stack, below what says why the stack ended. NULL: out of
 * memory; the caller frees it. */
uint32_t *report_tops(const struct profile *p);
#endif
