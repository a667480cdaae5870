// SPDX-License-Identifier: MIT
// explain.c: `seam explain FILE`: a recording in twenty lines.
#include "explain/explain.h"

#include <string.h>

#include "cli/cmds.h"
#include "cli/schema.h"
#include "cmd/outfile.h"
#include "input/profiled.h"

enum {
	EXPLAIN_INPUT = 1,
	EXPLAIN_JSON,
	EXPLAIN_SCHEMA,
};

struct explain_cmd {
	const struct cmd *cmd;
	struct infile in;
	struct naming naming;
	struct sample_filter filter;
	struct report show;
	const char *archive; /* as given; NULL: none */
	bool json, schema;
};

/* What the commands that are shown need to read the same samples of the same recording with the
 * same names: lists that end with NULL. */
struct explain_args {
	const char *input[3], *names[NAMING_ARGS_MAX + 1];
	const char *tasks[SAMPLE_FILTER_ARGS_MAX + 1], *time[3];
	struct buf texts[3];
};

static void explain_args(struct explain_cmd *e, struct explain_args *a)
{
	size_t n = 0;

	if (e->in.path) {
		a->input[n++] = "-i";
		a->input[n++] = e->in.path;
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
	const struct explain_from from = { args.input, args.names, args.tasks, args.time,
		                           e->filter.events };
	struct explain x = { 0 };
	struct buf out = { 0 };
	int rc, code = EXIT_FAILED;

	explain_args(e, &args);
	rc = explain_find(&x, &e->show, e->in.path ? e->in.path : "perf.data", &from);
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
	rc = e.schema ? schema_print(cmd) : explain_do(&e);
out:
	load_free(&e.show.load);
	recording_close(e.show.rec);
	infile_close(&e.in);
	sample_filter_free(&e.filter);
	naming_end(&e.naming);
	return rc;
}

static const struct option_def explain_options[] = {
	INFILE_OPTION(EXPLAIN_INPUT),
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
	        "--json writes one object: version (1), recording, event, samples, seconds, "
	        "cpu_seconds, findings (section, id, percent or null, text, command: a list of "
	        "arguments, which is empty where there is none). Keys may be added, none is taken "
	        "away.",
	        "Exit status: 0; 1: the recording cannot be read; 2: usage; 3: it was damaged, and "
	        "this is of what was left."),
	.options = explain_options,
	.run = explain_run,
};
