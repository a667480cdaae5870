/* SPDX-License-Identifier: MIT */
/*
 * report_options.h: what `seam report` was asked for. report_options.c takes the command line,
 * report.c reads the recording and decides; the room report/ writes text, report_view.c hands it to
 * the room view/ for a terminal.
 */
#ifndef SEAM_CLI_REPORT_OPTIONS_H
#define SEAM_CLI_REPORT_OPTIONS_H

#include "cmd/cmd.h"
#include "input/infile.h"
#include "input/naming.h"
#include "input/profiled.h"
#include "input/sample_filter.h"
#include "input/stored.h"
#include "report/report.h"

enum report_form {
	REPORT_TEXT,
	REPORT_JSON,
	REPORT_CSV,
};

struct report_cmd {
	const struct cmd *cmd;
	struct infile in;
	struct naming naming;
	struct sample_filter filter;
	struct stored stored; /* in place of in */
	struct answer answer; /* of the store: show.load is taken from it */
	struct report show;
	struct flat flat; /* of a report of a store that shows no stacks */
	enum report_form form;
	bool stats, tasks, dump, schema; /* in place of a report */
	bool header, header_only, full;  /* what the recording says about itself; full: all of it */
	bool stdio;                      /* text, also on a terminal */
	bool limit_given;                /* show.percent_limit is not only the default */
	struct buf sort_list;            /* of --by */
	uint64_t slice_ns;
	bool slice_asked;   /* by --time-quantum: slices stay as long as that */
	const char *dsos;   /* a list: only frames of these objects have rows */
	const char *parent; /* regular expression: callers named so are parents */
};

extern const struct option_def report_options[];
extern const struct cmd_words report_words[];
/* 0, or -EINVAL after saying why. */
int report_option(struct report_cmd *r, const struct options *o, int id);
/* To be called after the options, before report_options_fields: makes --by a sort key. -EINVAL
 * after saying what is wrong. */
int report_options_by(struct report_cmd *r);
/* To be called after the options: checks that they go together. -EINVAL after saying why not. */
int report_options_end(struct report_cmd *r);
/* To be called before the options: takes what the config file says of reports. -EINVAL: it makes no
 * sense, which was said. */
int report_config(struct report_cmd *r);
/* Sets the fields of a report (report_fields_set). -EINVAL after saying why. */
int report_options_fields(struct report *show, const struct cmd *cmd);

/* ---- report_load.c ---- */

/* Whether the report can be shown on the terminal, to be walked through. */
bool report_view_fits(const struct report_cmd *r);
/* Compares each distinct frame with --dsos, --symbols and --symbol-filter, once. -ENOMEM. */
int report_mark_shown(struct report_cmd *r);
/* Marks the names that the sort key parent looks for. -EINVAL after saying what is wrong;
 * -ENOMEM. */
int report_mark_parents(struct report_cmd *r);
struct profiled_opts report_load_opts(struct report_cmd *r);
/* Fills r->show. -EINVAL without a text in err: what is wrong was said. */
int report_load(struct report_cmd *r, const struct profiled_opts *opts, struct seam_error *err);
/* The same of a store. An exit code; on EXIT_USAGE and EXIT_FAILED it was said. */
int report_load_stored(struct report_cmd *r);

/* ---- report_view.c ---- */

/* What the view's sections of threads and of time need. */
#define VIEW_KEEPS (PROFILE_KEEP_PID | PROFILE_KEEP_TID | PROFILE_KEEP_SLICE)

/* Where the view alone asks for slices of time, they are longer rather than more rows than these,
 * which take some 150 bytes each. */
#define REPORT_VIEW_ROWS (1u << 20)

/* The columns of the view's table; room for ROLLUP_COLUMNS. How many. */
size_t report_view_columns(const struct report *show, enum rollup_column *columns);
/* Opens the recording, or asks the store, and shows it while it is read. An exit code;
 * REPORT_PRINTS: it cannot be shown, and *loaded is what report_load returned. */
#define REPORT_PRINTS (-1)
int report_view_read(struct report_cmd *r, int *loaded, struct seam_error *err);

#endif
