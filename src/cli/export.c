// SPDX-License-Identifier: MIT
// export.c: `seam export --format NAME`: a recording's profile as a file for another tool.
#include "export/export.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmds.h"
#include "input/profiled.h"
#include "input/stored.h"
#include "cmd/outfile.h"

enum {
	OPT_INPUT = 1,
	OPT_OUTPUT,
	OPT_FORMAT,
	OPT_EVENT,
	OPT_ANNOTATE,
	OPT_MAX_STACK,
	OPT_LABELS,
};

/* "folded, pprof or perfetto" */
static const char format_names[] =
#define FORMAT(name, ...) ", " #name
#define LAST_FORMAT(name, ...) " or " #name
#include "export/formats.def"
        ;

static const struct cmd_word format_words[] = {
#define FORMAT(name, extension, keep, events, form, labels, lines, help) \
	{ #name, help " (FILE" extension ")" },
#include "export/formats.def"
	{ 0 },
};

static const struct cmd_words export_words[] = {
	{ "Formats", "-f|--format", format_words },
	{ 0 },
};

static const struct option_def export_options[] = {
	INFILE_OPTION(OPT_INPUT),
	STORED_URL_OPTION,
	STORED_SPAN_OPTIONS,
	{ "format", 'f', "NAME", format_names + 2, OPT_FORMAT },
	{ "output", 'o', "FILE",
	  "where it goes (default and -: standard output); its end may tell the format",
	  OPT_OUTPUT },
	{ "event", 'e', "NAME", "only this event (default: all; folded: the first with samples)",
	  OPT_EVENT },
	{ "annotate", 0, NULL, "folded: _[k] behind kernel functions, _[i] behind inlined ones",
	  OPT_ANNOTATE },
	{ "max-stack", 0, "N", "at most the N innermost frames of a stack", OPT_MAX_STACK },
	{ "sort", 's', "LIST",
	  "for whom threads worked, beside each stack (folded, pprof, firefox, json): trace, span, "
	  "label",
	  OPT_LABELS },
	{ "comm", 0, "LIST", "the same as --comms", ID_FILTER_COMMS },
	ID_FILTER_OPTIONS,
	NAMING_OPTIONS,
	{ 0 },
};

/* One command line: it reads a recording, or a store. */
struct export_run {
	const struct cmd *cmd;
	struct infile in;
	struct stored stored; /* in place of in */
	const char *output, *event;
	const struct export_format *format;
	struct export_opts opts;
	unsigned max_stack, labels; /* PROFILE_KEEP_* */
	struct naming naming;
	struct id_filter take;
};

/* -EINVAL after listing the formats. */
static int export_format_option(struct export_run *e, const char *name)
{
	e->format = export_find(name);
	if (e->format)
		return 0;
	cmd_error(e->cmd, "--format: '%s' is not known; there are:", name);
	for (const struct export_format *f = export_formats; f->name; f++)
		cmd_error(e->cmd, "  %-11s %s", f->name, f->summary);
	return -EINVAL;
}

/* -s trace,span,label: what is kept of labels. -EINVAL after saying what is wrong. */
static int export_labels_option(struct export_run *e, const char *list)
{
	static const struct {
		const char *name;
		unsigned keep;
	} words[] = { { "trace", PROFILE_KEEP_TRACE },
		      { "span", PROFILE_KEEP_SPAN },
		      { "label", PROFILE_KEEP_LABEL } };
	unsigned found;

	for (size_t n; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		found = 0;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].name) == n && !memcmp(words[i].name, list, n))
				found = words[i].keep;
		if (!found) {
			cmd_error(e->cmd, "--sort: '%.*s' is not known: trace, span or label",
			          (int)n, list);
			return -EINVAL;
		}
		e->labels |= found;
	}
	return 0;
}

/* Takes one option of the command line. 0, or -EINVAL after saying what is wrong with its value. */
static int export_option(struct export_run *e, const struct options *o, int id)
{
	unsigned long long v;

	switch (id) {
	case OPTIONS_OPERAND:
	case OPT_INPUT:
		return infile_set(&e->in, e->cmd, o->arg);
	case OPT_OUTPUT:
		e->output = o->arg;
		return 0;
	case OPT_FORMAT:
		return export_format_option(e, o->arg);
	case OPT_EVENT:
		e->event = o->arg;
		return 0;
	case OPT_ANNOTATE:
		e->opts.annotate = true;
		return 0;
	case OPT_MAX_STACK:
		if (options_u64(o, "--max-stack", 1, UINT32_MAX, &v) < 0)
			return -EINVAL;
		e->max_stack = (unsigned)v;
		return 0;
	case OPT_LABELS:
		return export_labels_option(e, o->arg);
	default:
		if (stored_is_option(id)) {
			stored_option(&e->stored, o, id);
			return 0;
		}
		return id_filter_is_option(id) ? id_filter_option(&e->take, o, id)
		                               : naming_option(&e->naming, o, id);
	}
}

/* The only event that has samples, or 0: an event for mappings alone (dummy) must not become a
 * column of costs. */
static uint32_t export_only_event(const struct profile *p)
{
	struct profile_account account;
	uint32_t only = 0;

	for (uint32_t i = 1; i <= profile_n_events(p); i++) {
		profile_account(p, i, &account);
		if (account.samples && only)
			return 0;
		only = account.samples ? i : only;
	}
	return only;
}

/* Chooses the event that is written: that of -e, or the only one with samples. A format of one
 * event leaves out the others, which is said and is no failure. -EINVAL: there is no event of that
 * name. */
static int export_choose_event(struct export_run *e, const struct profile *p)
{
	struct profile_account account;

	if (e->event) {
		e->opts.event = sample_filter_profile_event(p, e->event, e->cmd);
		if (!e->opts.event)
			return -EINVAL;
	}
	if (!e->event)
		e->opts.event = export_only_event(p);
	for (uint32_t i = 1; e->format->one_event && !e->event && i <= profile_n_events(p); i++) {
		profile_account(p, i, &account);
		if (account.samples && i != export_event(p, &e->opts))
			cmd_error(e->cmd,
			          "%llu samples of %s are left out: %s holds one event, -e chooses",
			          (unsigned long long)account.samples, profile_event_name(p, i),
			          e->format->name);
	}
	return 0;
}

/* Rows and names are put in an order that depends on nothing but what they are; then the format
 * writes them. -errno, which was said. */
static int export_profile(struct export_run *e, const struct profile *loaded)
{
	struct profile *p = NULL;
	struct outfile file;
	int r = profile_canonical(&p, loaded);

	if (r < 0) {
		cmd_error(e->cmd, "%s", r == -ENOMEM ? "out of memory" : strerror(-r));
		return r;
	}
	r = outfile_open(&file, e->output, 0666);
	if (r >= 0)
		r = e->format->write(p, &e->opts, &file.out);
	profile_free(p);
	return outfile_close(&file, e->cmd, r);
}

/* Reads the recording, makes a profile with what the format needs, and writes it. An exit code. */
static int export_recording(struct export_run *e)
{
	const struct profiled_opts opts = {
		.cmd = e->cmd,
		.names = true,
		.load = { .keep = e->format->keep | e->labels,
		          .label_lines = true,
		          .max_stack = e->max_stack,
		          .functions = !e->format->lines,
		          .lines = e->format->lines || !e->naming.no_inline,
		          .no_inline = e->naming.no_inline,
		          .filter = id_filter_samples(&e->take) },
	};
	struct recording *rec = NULL;
	struct seam_error err = { 0 };
	struct load load = { 0 };
	int r = profiled_load(&e->in, &e->naming, &opts, &rec, &load, &err), code = EXIT_FAILED;

	if (r < 0)
		cmd_error(e->cmd, "%s", cmd_reason(&err, r));
	else if (export_choose_event(e, load.profile) < 0)
		code = EXIT_USAGE;
	else if (export_profile(e, load.profile) >= 0)
		code = infile_verdict(&e->in, e->cmd, rec);
	load_free(&load);
	recording_close(rec);
	return code;
}

/* Likewise, of a store. */
static int export_stored(struct export_run *e)
{
	struct answer answer = { 0 };
	int code = stored_load(&e->stored, e->cmd, 0, &answer);

	if (code != EXIT_OK)
		return code;
	if (export_choose_event(e, answer.load.profile) < 0)
		code = EXIT_USAGE;
	else if (export_profile(e, answer.load.profile) < 0)
		code = EXIT_FAILED;
	answer_free(&answer);
	return code;
}

/* A store has no single samples. False after saying what does not go with --store. */
static bool export_stored_ready(struct export_run *e)
{
	const char *other = e->in.path                ? "a recording"
	                    : id_filter_any(&e->take) ? "filters of samples (--where)"
	                    : e->max_stack            ? "--max-stack"
	                    : e->labels               ? "--sort"
	                    : e->format->keep & PROFILE_KEEP_SAMPLES ? e->format->name
	                                                             : NULL;

	return stored_ready(&e->stored, e->cmd, other);
}

/* Finds the format, and checks that the output can take it. False after saying what is wrong. */
static bool export_ready(struct export_run *e)
{
	if (!e->format && e->output)
		e->format = export_by_extension(e->output);
	if (!e->format) {
		cmd_error(e->cmd, "--format is needed: %s", format_names + 2);
		return false;
	}
	if (e->format->binary && outfile_is_stdout(e->output) && isatty(STDOUT_FILENO)) {
		cmd_error(e->cmd, "%s is not for a terminal: -o FILE", e->format->name);
		return false;
	}
	if (e->labels && !e->format->labels) {
		cmd_error(
		        e->cmd,
		        "--sort: %s has no place for labels; folded, pprof, firefox and json have",
		        e->format->name);
		return false;
	}
	if (e->output && outfile_is(e->in.path ? e->in.path : "perf.data", e->output)) {
		cmd_error(e->cmd, "-o must name another file than the recording");
		return false;
	}
	return true;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int export_run(int argc, char **argv, const struct cmd *cmd)
{
	struct export_run e = { .cmd = cmd, .opts = { .sz = sizeof(e.opts) } };
	struct options o = options_start(argc, argv, cmd);
	int id, rc = EXIT_USAGE;

	if (naming_start(&e.naming, cmd) < 0)
		goto out;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || export_option(&e, &o, id) < 0)
			goto out;
	}
	if (!export_ready(&e) || !export_stored_ready(&e))
		goto out;
	rc = stored_asked(&e.stored) ? EXIT_OK : infile_open(&e.in, cmd);
	if (rc == EXIT_OK)
		rc = stored_asked(&e.stored) ? export_stored(&e) : export_recording(&e);
out:
	infile_close(&e.in);
	stored_free(&e.stored);
	id_filter_free(&e.take);
	naming_end(&e.naming);
	return rc;
}

COMMAND(export) = {
	.name = "export",
	.synopsis = "[--format NAME] [options] [FILE]",
	.summary = "Write the profile for another tool: flame graphs, pprof, browsers",
	.details = CMD_PARAGRAPHS(
	        "Equal recordings give equal bytes. Without --format, the end of the name that "
	        "-o gives tells the format. callgrind's calls are samples; perfetto is held "
	        "against its schema, as no reader of it could be had where seam is tested.",
	        "json writes one object: version (1), lost, lost_samples, lost_beside, "
	        "skipped_samples, lost_tasks, duplicate_samples, undecoded_samples; events "
	        "(name, unit); states; objects (path, build_id); "
	        "tasks (comm, pid, tid); frames (symbol, object, address, kind, file, line); "
	        "stacks ([parent, frame], outermost first, -1: none); rows (event, task, cpu, "
	        "state, stack, samples, weight). One names another by its index.",
	        "A function without a name is called by where it begins, [unknown "
	        "libfoo.so+0x12340] (see seam report); where not even that is known, by its "
	        "object, [libfoo.so]; in json its symbol is null then, and pprof is told that "
	        "the mapping's functions are not all known.",
	        "A stack that is not whole has a root that is no function and says why, in "
	        "every format: '[unfinished: cut at 127 frames]', '[unfinished: the stack copy "
	        "ended]' (a walk by unwind tables ended early), '[unfinished: still in the "
	        "kernel at the end]' (see seam report). --max-stack gives no such root.",
	        "Exit status: 0; 1: it could not be done; 2: usage; 3: the recording was "
	        "damaged and the file is of what was left."),
	.options = export_options,
	.words = export_words,
	.run = export_run,
};
