// SPDX-License-Identifier: MIT
// report.c: `seam report`: where the time went, and what became of every sample's stack.
#include "cli/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OPT_INPUT = 1,
	OPT_SORT,
	OPT_CHILDREN,
	OPT_NO_CHILDREN,
	OPT_GRAPH,
	OPT_NO_GRAPH,
	OPT_LIMIT,
	OPT_STATS,
	OPT_JSON,
	OPT_STDIO,
	OPT_SAMPLES,
	OPT_MAX_STACK,
	OPT_THREADS,
	OPT_DSOS,
	OPT_SYMBOLS,
};

static const struct option_def report_options[] = {
	INFILE_OPTION(OPT_INPUT),
	{ "sort", 's', "KEYS", "columns: comm,pid,tid,cpu,dso,sym,event,state (comm,dso,sym)",
	  OPT_SORT },
	{ "children", 0, NULL, "count callees into their callers' rows (the default)",
	  OPT_CHILDREN },
	{ "no-children", 0, NULL, "only where samples hit", OPT_NO_CHILDREN },
	{ "call-graph", 'g', "ORDER", "call tree by caller (the default), callee, or none",
	  OPT_GRAPH },
	{ "hide-call-graph", 'G', NULL, "as -g none", OPT_NO_GRAPH },
	{ "percent-limit", 0, "PERCENT", "leave out rows and branches below this (0.5)",
	  OPT_LIMIT },
	{ "show-nr-samples", 'n', NULL, "a column with the number of samples", OPT_SAMPLES },
	{ "threads", 'T', NULL, "first a table of threads: the counts of each event, and their sum",
	  OPT_THREADS },
	{ "dsos", 'd', "LIST", "only rows of these objects", OPT_DSOS },
	{ "symbols", 'S', "LIST", "only rows of these functions", OPT_SYMBOLS },
	{ "max-stack", 0, "N", "at most the N innermost frames of a stack", OPT_MAX_STACK },
	{ "stats", 0, NULL, "how many records of which type, and the states of the stacks",
	  OPT_STATS },
	{ "json", 0, NULL, "the same as one JSON object", OPT_JSON },
	{ "stdio", 0, NULL, "accepted: text is the only form", OPT_STDIO },
	TAKE_OPTIONS,
	NAMING_OPTIONS,
	{ 0 },
};

static const struct {
	const char *key, *also, *heading;
} columns[ROLLUP_COLUMNS] = {
	[ROLLUP_EVENT] = { "event", NULL, "Event" },
	[ROLLUP_COMM] = { "comm", NULL, "Command" },
	[ROLLUP_PID] = { "pid", NULL, "PID" },
	[ROLLUP_TID] = { "tid", NULL, "TID" },
	[ROLLUP_CPU] = { "cpu", NULL, "CPU" },
	[ROLLUP_STATE] = { "state", NULL, "Stack state" },
	[ROLLUP_OBJECT] = { "dso", "object", "Object" },
	[ROLLUP_SYMBOL] = { "sym", "symbol", "Symbol" },
};

const char *report_key(enum rollup_column column)
{
	return columns[column].key;
}

const char *report_heading(enum rollup_column column)
{
	return columns[column].heading;
}

static int report_sort_option(struct report *r, const char *list)
{
	r->columns = 0;
	while (*list) {
		size_t len = strcspn(list, ","), c;

		for (c = 0; c < ROLLUP_COLUMNS; c++)
			if ((strlen(columns[c].key) == len && !memcmp(columns[c].key, list, len)) ||
			    (columns[c].also && strlen(columns[c].also) == len &&
			     !memcmp(columns[c].also, list, len)))
				break;
		if (c == ROLLUP_COLUMNS) {
			cmd_error(r->cmd,
			          "-s: '%.*s' is not a sort key; there are "
			          "comm,pid,tid,cpu,dso,sym,event,state",
			          (int)len, list);
			return -EINVAL;
		}
		r->columns |= 1u << c;
		list += len + (list[len] == ',');
	}
	if (r->columns)
		return 0;
	cmd_error(r->cmd, "-s: no sort key is given");
	return -EINVAL;
}

/* perf's -g takes a list ("caller,0.5,callee"): the order is what is looked for in it. */
static int report_graph_option(struct report *r, const char *list)
{
	if (take_in_list(list, "none"))
		r->graph = REPORT_GRAPH_NONE;
	else if (take_in_list(list, "callee"))
		r->graph = REPORT_GRAPH_CALLEE;
	else if (take_in_list(list, "caller"))
		r->graph = REPORT_GRAPH_CALLER;
	else {
		cmd_error(r->cmd, "-g: '%s' is none of caller, callee, none", list);
		return -EINVAL;
	}
	return 0;
}

static int report_limit_option(struct report *r, const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= 0 && v <= 100)) {
		cmd_error(r->cmd, "--percent-limit: '%s' is not a number from 0 to 100", text);
		return -EINVAL;
	}
	r->percent_limit = v;
	return 0;
}

static int report_flag(struct report *r, const struct options *o, int id)
{
	unsigned long long v;

	switch (id) {
	case OPT_CHILDREN:
	case OPT_NO_CHILDREN:
		r->no_children = id == OPT_NO_CHILDREN;
		return 0;
	case OPT_NO_GRAPH:
		r->graph = REPORT_GRAPH_NONE;
		return 0;
	case OPT_STATS:
		r->stats = true;
		return 0;
	case OPT_JSON:
		r->json = true;
		return 0;
	case OPT_STDIO:
		return 0;
	case OPT_THREADS:
		r->threads = true;
		return 0;
	case OPT_SAMPLES:
		r->samples_column = true;
		return 0;
	case OPT_MAX_STACK:
		if (options_u64(o, "--max-stack", 1, UINT32_MAX, &v) < 0)
			return -EINVAL;
		r->max_stack = (unsigned)v;
		return 0;
	default:
		return take_is_option(id) ? take_option(&r->take, o, id)
		                          : naming_option(&r->naming, o, id);
	}
}

static int report_option(struct report *r, const struct options *o, int id)
{
	switch (id) {
	case OPTIONS_OPERAND:
	case OPT_INPUT:
		return infile_set(&r->in, r->cmd, o->arg);
	case OPT_SORT:
		return report_sort_option(r, o->arg);
	case OPT_GRAPH:
		return report_graph_option(r, o->arg);
	case OPT_LIMIT:
		return report_limit_option(r, o->arg);
	case OPT_DSOS:
		r->dsos = o->arg;
		return 0;
	case OPT_SYMBOLS:
		r->symbols = o->arg;
		return 0;
	default:
		return report_flag(r, o, id);
	}
}

bool report_shows(const struct report *r, const struct rollup *t, const struct rollup_row *row)
{
	char buf[16];

	if (r->dsos &&
	    !take_in_list(r->dsos, rollup_text(t, row, ROLLUP_OBJECT, buf, sizeof(buf))) &&
	    !take_in_list(
	            r->dsos,
	            profile_text(t->profile,
	                         profile_object_at(t->profile, row->value[ROLLUP_OBJECT])->path)))
		return false;
	return !r->symbols ||
	       take_in_list(r->symbols, rollup_text(t, row, ROLLUP_SYMBOL, buf, sizeof(buf)));
}

double report_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

const char *report_number(uint64_t v, char *buf, size_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);
	size_t at = 0;

	for (int i = 0; i < len && at + 2 < n; i++) {
		if (i && (len - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = 0;
	return buf;
}

static bool report_take(void *ctx, const struct seam_stitched *sample, const char *comm)
{
	return take_id(ctx, &sample->sample.id, comm);
}

static int report_load(struct report *r, struct seam_error *err)
{
	struct load_opts opts = {
		.sz = sizeof(opts),
		.keep = (r->columns & 1u << ROLLUP_PID ? PROFILE_KEEP_PID : 0) |
		        (r->threads || r->columns & 1u << ROLLUP_TID ? PROFILE_KEEP_TID : 0) |
		        (r->columns & 1u << ROLLUP_CPU ? PROFILE_KEEP_CPU : 0),
		.max_stack = r->max_stack,
		.symbols = &r->naming.symbols,
		.lines = !r->naming.no_inline && !r->stats,
		.progress = infile_progress(),
		.take = take_any(&r->take) ? report_take : NULL,
		.take_ctx = &r->take,
	};
	struct recording_opts learn = { .sz = sizeof(learn), .progress = infile_progress() };
	int rc = recording_open(&r->rec, r->in.reader, &learn, err);

	if (rc >= 0)
		rc = load_recording(&r->load, r->rec, &opts, err);
	infile_progress_end();
	return rc;
}

static int report_show(struct report *r)
{
	struct seam_error err = { 0 };
	struct buf out = { 0 };
	int rc = report_load(r, &err);

	if (rc >= 0)
		rc = r->json    ? report_json(r, &out)
		     : r->stats ? report_stats(r, &out)
		                : report_text(r, &out);
	if (rc >= 0 && out.failed)
		rc = -ENOMEM;
	if (rc >= 0 && (fwrite(out.bytes, 1, out.n, stdout) != out.n || fflush(stdout)))
		rc = -(errno ? errno : EIO);
	buf_free(&out);
	if (rc == -EPIPE)
		return EXIT_FAILED;
	if (rc < 0) {
		cmd_error(r->cmd, "%s", err.code ? err.text : strerror(-rc));
		return EXIT_FAILED;
	}
	return infile_verdict(&r->in, r->cmd, r->rec);
}

static int report_run(int argc, char **argv, const struct cmd *cmd)
{
	const char *no_color = getenv("NO_COLOR");
	struct report r = {
		.cmd = cmd,
		.columns = 1u << ROLLUP_COMM | 1u << ROLLUP_OBJECT | 1u << ROLLUP_SYMBOL,
		.percent_limit = 0.5,
		.color = isatty(STDOUT_FILENO) && !(no_color && *no_color),
	};
	struct options o = options_start(argc, argv, cmd);
	int id, rc = EXIT_USAGE;

	naming_start(&r.naming);
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || report_option(&r, &o, id) < 0)
			goto out;
	}
	rc = infile_open(&r.in, cmd);
	if (rc == EXIT_OK)
		rc = report_show(&r);
out:
	load_free(&r.load);
	recording_close(r.rec);
	infile_close(&r.in);
	take_free(&r.take);
	return rc;
}

const struct cmd cmd_report = {
	.name = "report",
	.synopsis = "[options] [FILE]",
	.summary = "Show where the time went, and what became of every stack",
	.details =
	        "A table of functions (children: in it or in what it called; self: in it alone), a "
	        "call tree, and an account of every sample's stack. Percentages are of the event's "
	        "count, not of the number of samples.\n\n"
	        "--json writes one object: version (1), samples, not_taken, lost, lost_samples, "
	        "duplicate_samples, undecoded_samples; states (name: samples); stitch (counters of "
	        "deferred records); ends (why stacks that were walked while recording ended: "
	        "stacks); "
	        "events (name, samples, weight); columns; rows (event, then a "
	        "value per column, self, total, self_samples, total_samples), by falling total; "
	        "unnamed (object, state, samples, reason). Keys may be added, none is taken "
	        "away.\n\n"
	        "Exit status: 0; 1: the recording cannot be read; 2: usage; 3: it was damaged and "
	        "the report is of what was left.",
	.options = report_options,
	.run = report_run,
};
