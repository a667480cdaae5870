/* SPDX-License-Identifier: MIT */
/*
 * report.h: what the files of `seam report` share: what was asked for, and what there is to show.
 * report.c reads and decides, report_text.c and report_json.c write, report_account.c tells what
 * became of every sample.
 */
#ifndef SEAM_CLI_REPORT_H
#define SEAM_CLI_REPORT_H

#include "cli/infile.h"
#include "cli/naming.h"
#include "cli/take.h"
#include "pipeline/load.h"
#include "profile/rollup.h"
#include "profile/tree.h"

enum report_graph {
	REPORT_GRAPH_CALLER,
	REPORT_GRAPH_CALLEE,
	REPORT_GRAPH_NONE
};

struct report {
	const struct cmd *cmd;
	struct infile in;
	struct naming naming;
	struct take take;
	unsigned columns; /* 1u << enum rollup_column */
	bool no_children, samples_column, stats, json, color, threads;
	double percent_limit;
	enum report_graph graph;
	unsigned max_stack;
	const char *dsos, *symbols; /* lists: only these rows are shown */
	struct recording *rec;
	struct load load;
};

/* True when the row passes --dsos and --symbols. */
bool report_shows(const struct report *r, const struct rollup *t, const struct rollup_row *row);
double report_percent(uint64_t part, uint64_t whole);
/* "5,406" into buf. */
const char *report_number(uint64_t v, char *buf, size_t n);
/* "comm", "dso": the sort key of a column; its heading. */
const char *report_key(enum rollup_column column);
const char *report_heading(enum rollup_column column);

int report_text(const struct report *r, struct buf *out);
int report_json(const struct report *r, struct buf *out);
/* A row per thread. r->load has kept what these columns need. */
#define REPORT_THREAD_COLUMNS (1u << ROLLUP_EVENT | 1u << ROLLUP_COMM | 1u << ROLLUP_TID)
int report_threads(const struct report *r, struct buf *out);
int report_stats(const struct report *r, struct buf *out);
/* The lines below a report: states of the stacks, losses, what has no name. */
void report_account(const struct report *r, struct buf *out);

#endif
