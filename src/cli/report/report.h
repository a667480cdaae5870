/* SPDX-License-Identifier: MIT */
/*
 * report.h: what the files of `seam report` share: what was asked for, and what there is to show.
 *
 * report.c reads and decides, report_options.c and report_fields.c take the command line, report_text.c,
 * report_tree.c, report_group.c, report_json.c and report_csv.c write, report_account.c and
 * report_ends.c tell what became of every sample.
 */
#ifndef SEAM_CLI_REPORT_H
#define SEAM_CLI_REPORT_H

#include "cli/infile.h"
#include "cli/naming.h"
#include "cli/pick.h"
#include "aggregate/load.h"
#include "profile/rollup.h"
#include "profile/tree.h"

enum report_graph {
	REPORT_GRAPH_CALLER,
	REPORT_GRAPH_CALLEE,
	REPORT_GRAPH_NONE
};

enum report_form {
	REPORT_TEXT,
	REPORT_JSON,
	REPORT_CSV,
};

/* What a row shows: a column of the rollup, or one of its figures. */
enum report_field {
	REPORT_TOTAL = ROLLUP_COLUMNS, /* perf's overhead_children */
	REPORT_SELF,                   /* perf's overhead */
	REPORT_SAMPLES,
	REPORT_PERIOD,
	REPORT_FIELDS,
};

struct report_fields {
	unsigned char field[2 * REPORT_FIELDS]; /* enum report_field or rollup_column, as shown */
	size_t n;
	enum rollup_column first[ROLLUP_COLUMNS]; /* rows are in order of these before the share */
	size_t n_first;
	unsigned columns; /* 1u << enum rollup_column: all that tell rows apart */
};

struct report {
	const struct cmd *cmd;
	struct infile in;
	struct naming naming;
	struct pick pick;
	const char *sort_list, *field_list; /* as given; NULL: not */
	struct report_fields fields;
	bool no_children, samples_column, stats, group, threads;
	enum report_form form;
	double percent_limit;
	enum report_graph graph;
	unsigned max_stack;
	size_t rows_max; /* of a table as text; 0: all */
	uint64_t slice_ns;
	const char *dsos, *symbols; /* lists: only these frames have rows */
	const char *parent;         /* regular expression: callers named so are parents */
	struct recording *rec;
	struct load load;
	bool *shown;   /* by frame: passes dsos and symbols; NULL: all do */
	bool *parents; /* by string: is a parent; NULL: not asked for */
};

/* ---- report_options.c ---- */

extern const struct option_def report_options[];
/* 0, or -EINVAL after saying why. */
int report_option(struct report *r, const struct options *o, int id);
/* Before the options: what the config file says of reports. -EINVAL: it makes no sense, which was said. */
int report_config(struct report *r);

/* ---- report_fields.c ---- */

/* From the lists and flags of the command line: 0, or -EINVAL after saying why. */
int report_fields_set(struct report *r);
/* "comm", "dso": the sort key of a column; its heading. */
const char *report_key(unsigned field);
const char *report_heading(unsigned field);

/* ---- report.c ---- */

struct rollup_opts report_rollup_opts(const struct report *r, uint32_t event);
/* Built and sorted. -ENOMEM. */
int report_rollup(const struct report *r, uint32_t event, struct rollup *ret);
double report_percent(uint64_t part, uint64_t whole);
/* "5,406" into buf. */
const char *report_number(uint64_t v, char *buf, size_t n);

/* ---- writing: each adds to out; -ENOMEM ---- */

int report_text(const struct report *r, struct buf *out);
int report_json(const struct report *r, struct buf *out);
/* A row per thread. r->load has kept what these columns need. */
#define REPORT_THREAD_COLUMNS (1u << ROLLUP_EVENT | 1u << ROLLUP_COMM | 1u << ROLLUP_TID)
int report_threads(const struct report *r, struct buf *out);
int report_csv(const struct report *r, struct buf *out);
int report_stats(const struct report *r, struct buf *out);
/* The table of an event (0: of all) as text. */
int report_table(const struct report *r, uint32_t event, struct buf *out);
/* The call tree of an event (0: of all). */
int report_tree(const struct report *r, uint32_t event, struct buf *out);
/* All events side by side. */
int report_group(const struct report *r, struct buf *out);
/* The lines below a report: states of the stacks, losses, what has no name. */
void report_account(const struct report *r, struct buf *out);
/* Of it: where user stacks end although no program or thread begins there. */
void report_ends(const struct report *r, struct buf *out);
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
/* Some user stacks were walked by unwind tables while recording. */
bool report_by_tables(const struct report *r);
int report_ends_find(const struct report *r, struct report_ends *ret);
/* " 12.34%", in colour when it is much. */
void report_share(const struct report *r, double percent, struct buf *out);
/* A field as text, not padded; what is not stored as text goes into buf (ROLLUP_TEXT_MAX). */
const char *report_field_text(const struct rollup *t, const struct rollup_row *row, unsigned field,
                              char *buf, size_t n);

#endif
