// SPDX-License-Identifier: MIT
/*
 * report_options.c: the command line of `seam report`, in perf's spelling.
 *
 * Nothing is read or computed here. The lists of keys come from the .def files, so the help is
 * never older than the code.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report_options.h"

#define WIDTH_MAX 4096u /* of a column */

enum {
	OPT_INPUT = 1,
	OPT_SORT,
	OPT_FIELDS,
	OPT_CHILDREN,
	OPT_NO_CHILDREN,
	OPT_GRAPH,
	OPT_NO_GRAPH,
	OPT_LIMIT,
	OPT_STATS,
	OPT_JSON,
	OPT_CSV,
	OPT_STDIO,
	OPT_SAMPLES,
	OPT_MAX_STACK,
	OPT_DSOS,
	OPT_SYMBOLS,
	OPT_PARENT,
	OPT_SLICE,
	OPT_GROUP,
	OPT_THREADS,
	OPT_QUIET,
	OPT_HEADER,
	OPT_HEADER_ONLY,
	OPT_FULL,
	OPT_DUMP,
	OPT_TASKS,
	OPT_HIERARCHY,
	OPT_SEPARATOR,
	OPT_WIDTHS,
	OPT_SYMBOL_FILTER,
	OPT_SCHEMA,
};

static const char sort_help[] =
#define COLUMN(place, id, key, ...) "," key
#include "profile/columns.def"
        " (comm,dso,sym)";

static const char fields_help[] = "what rows show: sort keys and "
#define FIRST_FIGURE(id, key, ...) key
#define FIGURE(id, key, ...) "," key
#include "profile/columns.def"
        ;

static const struct cmd_word sort_words[] = {
#define COLUMN(place, id, key, also, heading, whose, value, kind, keep, needs, diff, top, help) \
	{ key, help },
#include "profile/columns.def"
	{ 0 },
};

static const struct cmd_word figure_words[] = {
#define FIGURE(id, key, also, heading, width, share, value, help) { key, help },
#include "profile/columns.def"
	{ 0 },
};

const struct cmd_words report_words[] = {
	{ "Sort keys", "-s|--sort|-F|--fields", sort_words },
	{ "Figures", "-s|--sort|-F|--fields", figure_words },
	{ 0 },
};

const struct option_def report_options[] = {
	INFILE_OPTION(OPT_INPUT),
	STORED_OPTIONS,
	{ "sort", 's', "KEYS", sort_help + 1, OPT_SORT },
	{ "fields", 'F', "LIST", fields_help, OPT_FIELDS },
	{ "children", 0, NULL, "count callees into their callers' rows (the default)",
	  OPT_CHILDREN },
	{ "no-children", 0, NULL, "only where samples hit", OPT_NO_CHILDREN },
	{ "call-graph", 'g', "ORDER", "call tree by caller (the default), callee, or none",
	  OPT_GRAPH },
	{ "hide-call-graph", 'G', NULL, "as -g none", OPT_NO_GRAPH },
	{ "percent-limit", 0, "PERCENT", "leave out rows and branches below this (0.5)",
	  OPT_LIMIT },
	{ "show-nr-samples", 'n', NULL, "a column with the number of samples", OPT_SAMPLES },
	{ "dsos", 'd', "LIST", "only rows of these objects", OPT_DSOS },
	{ "symbols", 'S', "LIST", "only rows of these functions; the call tree begins at them",
	  OPT_SYMBOLS },
	{ "symbol-filter", 0, "TEXT", "only rows of functions with TEXT in their name",
	  OPT_SYMBOL_FILTER },
	{ "parent", 'p', "REGEX", "callers that the sort key parent tells apart", OPT_PARENT },
	{ "time-quantum", 0, "TIME", "slice of the sort key time: 100ms (the default), 10us, 1s",
	  OPT_SLICE },
	{ "time-slice", 0, "TIME", "as --time-quantum", OPT_SLICE },
	{ "threads", 'T', NULL, "first a table of threads: the counts of each event, and their sum",
	  OPT_THREADS },
	{ "group", 0, NULL, "all events side by side in one table", OPT_GROUP },
	{ "hierarchy", 0, NULL, "rows of the first sort key, below each those of the second ...",
	  OPT_HIERARCHY },
	{ "field-separator", 't', "SEP",
	  "SEP between fields, no padding; a '.' for each SEP in a name; no account and tree",
	  OPT_SEPARATOR },
	{ "column-widths", 'w', "LIST",
	  "widths of the columns, names are cut to them; 0: as needed, on a terminal, too",
	  OPT_WIDTHS },
	{ "quiet", 'q', NULL, "rows alone: no headings, no account; a tree only with -g",
	  OPT_QUIET },
	{ "max-stack", 0, "N", "at most the N innermost frames of a stack", OPT_MAX_STACK },
	{ "stats", 0, NULL, "how many records of which type, and the states of the stacks",
	  OPT_STATS },
	{ "header", 0, NULL, "first what seam header says", OPT_HEADER },
	{ "header-only", 0, NULL, "what seam header says, and no report", OPT_HEADER_ONLY },
	{ "show-info", 'I', NULL, "as --header, with topologies, caches and memory", OPT_FULL },
	{ "tasks", 0, NULL, "in place of a report: every task, below the one that made it",
	  OPT_TASKS },
	{ "dump-raw-trace", 'D', NULL, "in place of a report: every record, as seam dump",
	  OPT_DUMP },
	{ "json", 0, NULL, "the same as one JSON object", OPT_JSON },
	{ "json-schema", 0, NULL, "the JSON Schema of that object, and nothing else", OPT_SCHEMA },
	{ "csv", 0, NULL, "the rows as comma-separated values", OPT_CSV },
	{ "stdio", 0, NULL, "text, also on a terminal", OPT_STDIO },
	{ NULL, 'c', "LIST", "as --comms", ID_FILTER_COMMS },
	OPTIONS_FORCE,
	SAMPLE_FILTER_OPTIONS,
	NAMING_SOURCE_OPTIONS,
	{ 0 },
};

/* perf's -g takes a list ("caller,0.5,callee"); only the order is looked for in it. */
static int report_graph_option(struct report_cmd *r, const char *list)
{
	if (id_filter_in_list(list, "none"))
		r->show.graph = REPORT_GRAPH_NONE;
	else if (id_filter_in_list(list, "callee"))
		r->show.graph = REPORT_GRAPH_CALLEE;
	else if (id_filter_in_list(list, "caller"))
		r->show.graph = REPORT_GRAPH_CALLER;
	else {
		cmd_error(r->cmd, "-g: '%s' is none of caller, callee, none", list);
		return -EINVAL;
	}
	r->show.graph_given = true;
	return 0;
}

/* "10,0,20" */
static int report_widths_option(struct report_cmd *r, const char *list)
{
	const size_t most = sizeof(r->show.widths) / sizeof(r->show.widths[0]);
	const char *at = list;

	for (r->show.n_widths = 0; r->show.n_widths < most; at++) {
		char *end;
		unsigned long v = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : WIDTH_MAX + 1;

		if (v > WIDTH_MAX || (*end && *end != ','))
			break;
		r->show.widths[r->show.n_widths++] = (unsigned)v;
		if (!*end)
			return 0;
		at = end;
	}
	cmd_error(r->cmd, "-w: '%s' is no list of at most %zu widths from 0 to %u", list, most,
	          WIDTH_MAX);
	return -EINVAL;
}

/* Refuses a separator that may stand in a number, because it would cut the number in two. */
static int report_separator_option(struct report_cmd *r, const char *text)
{
	if (*text && !strpbrk(text, ".%0123456789")) {
		r->show.separator = text;
		return 0;
	}
	cmd_error(r->cmd,
	          *text ? "-t: '%s' cannot stand between fields: numbers hold it"
	                : "-t: '%s' is no text to stand between fields",
	          text);
	return -EINVAL;
}

/* A percentage from the option or the config file. -EINVAL after saying what is wrong. */
static int report_limit_option(struct report_cmd *r, const char *what, const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= 0 && v <= 100)) {
		cmd_error(r->cmd, "%s: '%s' is not a number from 0 to 100", what, text);
		return -EINVAL;
	}
	r->show.percent_limit = v;
	r->limit_given = true;
	return 0;
}

/* "100ms"; nanoseconds without a unit, as perf has it. */
static int report_slice_option(struct report_cmd *r, const char *text)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", 1 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }
	};
	char *end;
	unsigned long long v = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;

	for (size_t i = 0; v && v <= 1000000000 && i < sizeof(units) / sizeof(units[0]); i++)
		/* The bound keeps the product below 2^64. */
		if (!strcmp(end, units[i].name)) {
			r->slice_ns = v * units[i].ns;
			r->slice_asked = true;
			return 0;
		}
	cmd_error(r->cmd, "--time-quantum: '%s' is no length of time; they are 100ms, 10us, 1s",
	          text);
	return -EINVAL;
}

/* Takes one option whose value is a list or a text, and those of the filter and of naming. 0, or
 * -EINVAL after saying what is wrong. */
static int report_list_option(struct report_cmd *r, const struct options *o, int id)
{
	switch (id) {
	case OPT_SORT:
		r->show.sort_list = o->arg;
		return 0;
	case OPT_FIELDS:
		r->show.field_list = o->arg;
		return 0;
	case OPT_DSOS:
		r->dsos = o->arg;
		return 0;
	case OPT_SYMBOLS:
		r->show.symbols = o->arg;
		return 0;
	case OPT_PARENT:
		r->parent = o->arg;
		return 0;
	case OPT_SYMBOL_FILTER:
		r->show.symbol_filter = o->arg;
		return 0;
	case OPT_SEPARATOR:
		return report_separator_option(r, o->arg);
	case OPT_WIDTHS:
		return report_widths_option(r, o->arg);
	default:
		if (stored_is_option(id)) {
			stored_option(&r->stored, o, id);
			return 0;
		}
		return sample_filter_is_option(id) ? sample_filter_option(&r->filter, o, id)
		                                   : naming_option(&r->naming, o, id);
	}
}

/* Takes an option about what is shown beside a report, or in its place; true: it is one of
 * these. */
static bool report_other(struct report_cmd *r, int id)
{
	switch (id) {
	case OPT_QUIET:
		r->show.quiet = true;
		return true;
	case OPT_HIERARCHY:
		r->show.hierarchy = true;
		return true;
	case OPT_HEADER:
		r->header = true;
		return true;
	case OPT_HEADER_ONLY:
		r->header_only = true;
		return true;
	case OPT_FULL:
		r->header = r->full = true;
		return true;
	case OPT_TASKS:
		r->tasks = true;
		return true;
	case OPT_SCHEMA:
		r->schema = true;
		return true;
	case OPT_DUMP:
		r->dump = true;
		return true;
	default:
		return false;
	}
}

/* Takes one option that is a switch; all others are for report_list_option. */
static int report_flag(struct report_cmd *r, const struct options *o, int id)
{
	switch (id) {
	case OPT_CHILDREN:
	case OPT_NO_CHILDREN:
		r->show.no_children = id == OPT_NO_CHILDREN;
		return 0;
	case OPT_NO_GRAPH:
		r->show.graph = REPORT_GRAPH_NONE;
		return 0;
	case OPT_STATS:
		r->stats = true;
		return 0;
	case OPT_JSON:
	case OPT_CSV:
		r->form = id == OPT_JSON ? REPORT_JSON : REPORT_CSV;
		return 0;
	case OPT_STDIO:
		r->stdio = true;
		return 0;
	case OPT_SAMPLES:
		r->show.samples_column = true;
		return 0;
	case OPT_THREADS:
		r->show.threads = true;
		return 0;
	case OPT_GROUP:
		r->show.group = true;
		return 0;
	default:
		return report_list_option(r, o, id);
	}
}

/* Takes the config file's defaults, before any option. -EINVAL after saying what is wrong. */
int report_config(struct report_cmd *r)
{
	const struct config *c = r->naming.config;
	const char *limit = config_get(c, "report.percent-limit");
	struct seam_error err = { 0 };
	bool children = true;

	r->show.sort_list = config_get(c, "report.sort");
	if (config_bool(c, "report.children", &children, &err) < 0) {
		cmd_error(r->cmd, "%s", err.text);
		return -EINVAL;
	}
	r->show.no_children = !children;
	return limit ? report_limit_option(r, config_where(c, "report.percent-limit"), limit) : 0;
}

/* Takes one option of the command line; the functions above take those that are not here. */
int report_option(struct report_cmd *r, const struct options *o, int id)
{
	unsigned long long v;

	switch (id) {
	case OPTIONS_OPERAND:
	case OPT_INPUT:
		return infile_set(&r->in, r->cmd, o->arg);
	case OPT_GRAPH:
		return report_graph_option(r, o->arg);
	case OPT_LIMIT:
		return report_limit_option(r, "--percent-limit", o->arg);
	case OPT_SLICE:
		return report_slice_option(r, o->arg);
	case OPT_MAX_STACK:
		if (options_u64(o, "--max-stack", 1, UINT32_MAX, &v) < 0)
			return -EINVAL;
		r->show.max_stack = (unsigned)v;
		return 0;
	default:
		return report_other(r, id) ? 0 : report_flag(r, o, id);
	}
}

/* Names what a store cannot answer, or NULL. */
static const char *report_not_stored(const struct report_cmd *r)
{
	return r->in.path                          ? "a recording"
	       : sample_filter_any_ids(&r->filter) ? "filters of samples (--where, --from, --to)"
	       : r->show.threads                   ? "-T"
	       : r->show.max_stack                 ? "--max-stack"
	       : r->stats                          ? "--stats"
	       : r->tasks                          ? "--tasks"
	       : r->dump                           ? "-D"
	       : r->header || r->header_only       ? "--header"
	                                           : NULL;
}

/* A store has no processes, threads, CPUs and slices of time. */
static int report_stored_end(struct report_cmd *r)
{
	const char *other = stored_asked(&r->stored) ? report_not_stored(r) : NULL;

	if (other) {
		cmd_error(r->cmd, "--store does not go with %s", other);
		return -EINVAL;
	}
	for (unsigned c = 0; stored_asked(&r->stored) && c < ROLLUP_COLUMNS; c++)
		if (r->show.fields.columns & 1u << c &&
		    rollup_facts[c].keep & ~(unsigned)PROFILE_KEEP_LABEL) {
			cmd_error(r->cmd, "-s %s: a store does not keep it", report_key(c));
			return -EINVAL;
		}
	return 0;
}

/* Whether the list names one of the figures. */
static bool report_has_figure(const char *list)
{
#define FIGURE(id, key, also, ...)                                                   \
	if (id_filter_in_list(list, key) || (also && id_filter_in_list(list, also))) \
		return true;
#include "profile/columns.def"
	return false;
}

/* With --by, rows stand below each other by the label's value, unless -s or -F names the place of
 * the label. */
int report_options_by(struct report_cmd *r)
{
	const char *list = r->show.sort_list ? r->show.sort_list : "comm,dso,sym";

	if (stored_settle(&r->stored, r->cmd) < 0)
		return -EINVAL;
	if (!r->stored.by || r->show.field_list || id_filter_in_list(list, "label"))
		return 0;
	buf_put_text(&r->sort_list, "label,");
	/* Rows are ordered by what stands before the first figure, so the usual figures come behind
	 * the label. */
	if (!report_has_figure(list))
		buf_printf(&r->sort_list, "%soverhead,%s",
		           r->show.no_children ? "" : "overhead_children,",
		           r->show.samples_column ? "sample," : "");
	buf_put_text(&r->sort_list, list);
	r->show.sort_list = buf_text(&r->sort_list);
	return 0;
}

/* --hierarchy, -t, -w and --header shape text: they do not go with --json and --csv. */
int report_options_end(struct report_cmd *r)
{
	const char *shape = r->show.hierarchy   ? "--hierarchy"
	                    : r->show.separator ? "-t"
	                    : r->show.n_widths  ? "-w"
	                                        : NULL;

	if (shape && (r->form != REPORT_TEXT || r->show.group)) {
		cmd_error(r->cmd, "%s shapes the table as text: not with %s", shape,
		          r->show.group           ? "--group"
		          : r->form == REPORT_CSV ? "--csv"
		                                  : "--json");
		return -EINVAL;
	}
	if (r->show.hierarchy && (r->show.separator || r->show.n_widths)) {
		cmd_error(r->cmd, "--hierarchy has one column of names: not with -t and -w");
		return -EINVAL;
	}
	if (r->header && r->form != REPORT_TEXT) {
		cmd_error(r->cmd, "--header is text: not with --json and --csv");
		return -EINVAL;
	}
	return report_stored_end(r);
}

/* Shared with diff and top. -EINVAL after saying what is wrong. */
int report_options_fields(struct report *show, const struct cmd *cmd)
{
	struct buf why = { 0 };
	int rc = report_fields_set(show, &why);

	if (rc < 0)
		cmd_error(cmd, "%s", why.failed ? strerror(ENOMEM) : buf_text(&why));
	buf_free(&why);
	return rc;
}
