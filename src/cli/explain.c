// SPDX-License-Identifier: MIT
// explain.c: `seam explain FILE`: a recording in twenty lines.
#include "explain/explain.h"

#include <string.h>

#include "cli/cmds.h"
#include "cli/schema.h"
#include "cmd/outfile.h"
#include "cmd/pager.h"
#include "input/profiled.h"
#include "input/stored.h"

enum {
	EXPLAIN_INPUT = 1,
	EXPLAIN_JSON,
	EXPLAIN_SCHEMA,
};

struct explain_cmd {
	const struct cmd *cmd;
	struct infile in;
	struct stored stored; /* in place of in */
	struct answer answer;
	struct naming naming;
	struct sample_filter filter;
	struct report show;
	const char *archive; /* as given; NULL: none */
	bool json, schema;
};

/* What the commands that are shown need to read the same samples of the same recording with the
 * same names: lists that end with NULL. */
struct explain_args {
	const char *input[STORED_ARGS_MAX + 1], *names[NAMING_ARGS_MAX + 1];
	const char *tasks[SAMPLE_FILTER_ARGS_MAX + 1], *time[3];
	struct buf texts[3];
};

static void explain_args(struct explain_cmd *e, struct explain_args *a)
{
	if (stored_asked(&e->stored)) {
		stored_args(&e->stored, a->input);
		return;
	}
	if (e->in.path) {
		a->input[0] = "-i";
		a->input[1] = e->in.path;
	}
	naming_args(&e->naming, e->archive, a->names);
	sample_filter_args(&e->filter, "Te", a->texts, a->tasks);
	if (e->filter.span) {
		a->time[0] = "--time";
		a->time[1] = e->filter.span;
	}
}

/* Makes the sentences of the loaded report, and prints them. An exit code. */
static int explain_print(struct explain_cmd *e)
{
	struct explain_args args = { 0 };
	const struct explain_from from = {
		.input = args.input,
		.names = args.names,
		.tasks = args.tasks,
		.time = args.time,
		.events = e->filter.events,
		.stored = stored_asked(&e->stored),
	};
	const char *name = from.stored ? e->stored.url : e->in.path ? e->in.path : "perf.data";
	struct explain x = { 0 };
	struct buf out = { 0 };
	int rc, code = EXIT_FAILED;

	explain_args(e, &args);
	rc = explain_find(&x, &e->show, name, &from);
	x.columns = pager_columns();
	if (rc >= 0)
		rc = e->json ? explain_json(&x, &out) : explain_text(&x, e->naming.color, &out);
	if (rc < 0)
		cmd_error(e->cmd, "%s", strerror(-rc));
	else
		code = outfile_print(e->cmd, &out);
	explain_free(&x);
	buf_free(&out);
	for (size_t i = 0; i < sizeof(args.texts) / sizeof(args.texts[0]); i++)
		buf_free(&args.texts[i]);
	return code;
}

/* Reads the recording. An exit code. */
static int explain_do(struct explain_cmd *e)
{
	const struct profiled_opts opts = {
		.cmd = e->cmd,
		.filter = &e->filter,
		.names = true,
		.load = { .keep = EXPLAIN_KEEPS,
		          .lines = !e->naming.no_inline,
		          .no_inline = e->naming.no_inline },
	};
	struct seam_error err = { 0 };
	int code = infile_open(&e->in, e->cmd), rc;

	if (code != EXIT_OK)
		return code;
	rc = profiled_load(&e->in, &e->naming, &opts, &e->show.rec, &e->show.load, &err);
	if (rc == -EINVAL && !err.code) /* said */
		return EXIT_USAGE;
	if (rc < 0) {
		cmd_error(e->cmd, "%s", cmd_reason(&err, rc));
		return EXIT_FAILED;
	}
	code = explain_print(e);
	return code == EXIT_OK ? infile_verdict(&e->in, e->cmd, e->show.rec) : code;
}

/* Asks the store. An exit code. */
static int explain_do_stored(struct explain_cmd *e)
{
	int code = stored_load(&e->stored, e->cmd, 0, &e->answer);

	if (code == EXIT_OK)
		code = sample_filter_answer(&e->filter, e->cmd, &e->answer);
	if (code != EXIT_OK)
		return code;
	/* The report takes over what the answer loaded. */
	e->show.load = e->answer.load;
	e->answer.load = (struct load){ 0 };
	return explain_print(e);
}

/* False after saying what does not go with --store. */
static bool explain_ready(struct explain_cmd *e)
{
	const char *other = e->in.path                          ? "a recording"
	                    : sample_filter_any_ids(&e->filter) ? "filters of samples (--where)"
	                                                        : NULL;

	return stored_ready(&e->stored, e->cmd, other);
}

/* Says what was asked for. An exit code. */
static int explain_main(struct explain_cmd *e)
{
	if (e->schema)
		return schema_print(e->cmd);
	if (!explain_ready(e))
		return EXIT_USAGE;
	return stored_asked(&e->stored) ? explain_do_stored(e) : explain_do(e);
}

/* Takes one option. 0, or -EINVAL after saying what is wrong. */
static int explain_option(struct explain_cmd *e, const struct options *o, int id)
{
	switch (id) {
	case OPTIONS_OPERAND:
	case EXPLAIN_INPUT:
		return infile_set(&e->in, e->cmd, o->arg);
	case EXPLAIN_JSON:
		e->json = true;
		return 0;
	case EXPLAIN_SCHEMA:
		e->schema = true;
		return 0;
	case NAMING_ARCHIVE:
		e->archive = o->arg;
		return naming_option(&e->naming, o, id);
	default:
		if (stored_is_option(id)) {
			stored_option(&e->stored, o, id);
			return 0;
		}
		return sample_filter_is_option(id) ? sample_filter_option(&e->filter, o, id)
		                                   : naming_option(&e->naming, o, id);
	}
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int explain_run(int argc, char **argv, const struct cmd *cmd)
{
	struct explain_cmd e = { .cmd = cmd };
	struct options o = options_start(argc, argv, cmd);
	int id, rc = EXIT_USAGE;

	if (naming_start(&e.naming, cmd) < 0)
		goto out;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || explain_option(&e, &o, id) < 0)
			goto out;
	}
	rc = explain_main(&e);
out:
	load_free(&e.show.load);
	answer_free(&e.answer);
	stored_free(&e.stored);
	recording_close(e.show.rec);
	infile_close(&e.in);
	sample_filter_free(&e.filter);
	naming_end(&e.naming);
	return rc;
}

static const struct option_def explain_options[] = {
	INFILE_OPTION(EXPLAIN_INPUT),
	STORED_URL_OPTION,
	STORED_SPAN_OPTIONS,
	{ "json", 0, NULL, "the same as one JSON object", EXPLAIN_JSON },
	{ "json-schema", 0, NULL, "the JSON Schema of that object, and nothing else",
	  EXPLAIN_SCHEMA },
	SAMPLE_FILTER_OPTIONS,
	NAMING_OPTIONS,
	{ 0 },
};

COMMAND(explain) = {
	.name = "explain",
	.synopsis = "[options] [FILE]",
	.summary = "Say in twenty lines where the time went and what to look at",
	.details = CMD_PARAGRAPHS(
	        "Four sections: where the time goes (threads, objects, functions, and the "
	        "innermost function that half of it passes through), what stands out (kinds of "
	        "work that many functions share, as page faults, memory allocation or locks; one "
	        "thread that does nearly all), how good the stacks are, and what to try next. "
	        "Below "
	        "a sentence stands the command that shows it.",
	        "Shares are of the event with the most samples, which the first line names, of "
	        "those "
	        "that count time or cycles where there are any; -e asks for another. A kind "
	        "of work is known by the names of functions: a stack counts once for each kind "
	        "that "
	        "one of its functions has, so these shares overlap, and code without names is in "
	        "none. Nothing is guessed of what the recording does not hold.",
	        "With --store it is of windows of a store: of a service, of hosts, of a day. A "
	        "store has no processes, threads and losses of single files, so nothing is said "
	        "of these.",
	        "--json writes one object: version (1), recording, event, samples, seconds, "
	        "cpu_seconds, findings (section, id, percent or null, text, command: a list of "
	        "arguments, which is empty where there is none). Keys may be added, none is taken "
	        "away.",
	        "Exit status: 0; 1: the recording cannot be read; 2: usage; 3: it was damaged, and "
	        "this is of what was left."),
	.options = explain_options,
	.run = explain_run,
};
