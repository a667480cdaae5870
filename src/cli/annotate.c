// SPDX-License-Identifier: MIT
// annotate.c: `seam annotate`: a function's source and instructions, and which of them samples hit.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate/annotate.h"
#include "cli/cmds.h"
#include "cmd/outfile.h"
#include "input/profiled.h"

/* One command line. show points into all others, so it is freed first. */
struct annotate_cmd {
	const struct cmd *cmd;
	struct infile in;
	struct naming naming;
	struct sample_filter filter;
	const char *symbol; /* as given; NULL: the one with most samples */
	bool json;
	struct annotate show;
};

enum {
	OPT_INPUT = 1,
	OPT_SYMBOL,
	OPT_JSON,
	OPT_STDIO,
	OPT_NO_SOURCE,
	OPT_LIMIT,
};

static const struct option_def annotate_options[] = {
	INFILE_OPTION(OPT_INPUT),
	OPTIONS_FORCE,
	{ "symbol", 's', "NAME", "as the operand: the function", OPT_SYMBOL },
	{ "no-source", 0, NULL, "read no source files: their names and line numbers only",
	  OPT_NO_SOURCE },
	{ "percent-limit", 0, "PERCENT", "list no lines below this above the code (0.5)",
	  OPT_LIMIT },
	{ "json", 0, NULL, "as one JSON object", OPT_JSON },
	{ "stdio", 0, NULL, "accepted: text is the only form", OPT_STDIO },
	{ "objdump", 0, "PATH", "accepted: instructions are read without objdump",
	  OPTIONS_ACCEPTED },
	SAMPLE_FILTER_OPTIONS,
	NAMING_SOURCE_OPTIONS,
	{ 0 },
};

/* Takes one option of the command line. 0, or -EINVAL after saying what is wrong with its value. */
static int annotate_option(struct annotate_cmd *a, const struct options *o, int id)
{
	char *end;

	switch (id) {
	case OPT_INPUT:
		return infile_set(&a->in, a->cmd, o->arg);
	case OPTIONS_OPERAND:
	case OPT_SYMBOL:
		if (a->symbol) {
			cmd_error(a->cmd,
			          "one function at a time: '%s' or '%s'; the recording is "
			          "given with -i",
			          a->symbol, o->arg);
			return -EINVAL;
		}
		a->symbol = o->arg;
		return 0;
	case OPT_LIMIT:
		a->show.percent_limit = strtod(o->arg, &end);
		if (end != o->arg && !*end && a->show.percent_limit >= 0 &&
		    a->show.percent_limit <= 100)
			return 0;
		cmd_error(a->cmd, "--percent-limit: '%s' is not a number from 0 to 100", o->arg);
		return -EINVAL;
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPT_NO_SOURCE:
		a->show.no_source = true;
		return 0;
	case OPT_STDIO:
		return 0;
	default:
		return sample_filter_is_option(id) ? sample_filter_option(&a->filter, o, id)
		                                   : naming_option(&a->naming, o, id);
	}
}

/* Reads the recording and makes a profile without source lines: those are looked up for the
 * function alone. With --native samples are where they hit the interpreter, not in what it ran. */
static int annotate_load(struct annotate_cmd *a, struct seam_error *err)
{
	const struct profiled_opts opts = { .cmd = a->cmd,
		                            .filter = &a->filter,
		                            .load.machine = a->naming.native };

	return profiled_load(&a->in, &a->naming, &opts, &a->show.rec, &a->show.load, err);
}

/* Chooses function and event, counts the samples, and reads the code. -ENOENT: there is nothing to
 * show; it was said. -errno, not said. */
static int annotate_find(struct annotate_cmd *a)
{
	bool several = false;
	int r = annotate_choose(&a->show, a->symbol);

	a->show.kernel_release = seam_reader_feature_string(a->in.reader, SEAM_FEATURE_OSRELEASE);
	if (r >= 0 && !a->show.name) {
		cmd_error(a->cmd, "no sample hit a function with a name");
		return -ENOENT;
	}
	if (r >= 0)
		r = annotate_choose_event(&a->show, &several);
	if (several)
		cmd_error(a->cmd, "several events: %s is shown; -e chooses another",
		          profile_event_name(a->show.load.profile, a->show.event));
	if (r >= 0)
		r = annotate_count(&a->show);
	if (r >= 0 && !a->show.n_functions) {
		cmd_error(a->cmd,
		          "no sample hit '%s' itself; 'seam report --no-children -s sym' "
		          "lists what was hit",
		          a->show.name);
		return -ENOENT;
	}
	for (size_t i = 0; i < a->show.n_functions && r >= 0; i++)
		r = annotate_code(&a->show, &a->show.functions[i]);
	return r;
}

/* Loads, finds and prints. An exit code. */
static int annotate_show(struct annotate_cmd *a)
{
	struct seam_error err = { 0 };
	struct buf out = { 0 };
	int rc;

	a->show.search = &a->naming.symbols.search;
	a->show.sources = a->naming.archive.dir;
	a->show.dirs = naming_source_dirs(&a->naming);
	a->show.color = a->naming.color;
	rc = annotate_load(a, &err);
	if (rc == -EINVAL && !err.code) /* said */
		return EXIT_USAGE;
	if (rc >= 0) {
		rc = annotate_find(a);
		if (rc == -ENOENT) /* said */
			return EXIT_FAILED;
	}
	if (rc >= 0) {
		if (a->json)
			annotate_json(&a->show, &out);
		else
			annotate_text(&a->show, &out);
		rc = out.failed ? -ENOMEM : 0;
	}
	if (rc < 0)
		cmd_error(a->cmd, "%s", cmd_reason(&err, rc));
	else if (outfile_print(a->cmd, &out) != EXIT_OK)
		rc = -EIO;
	buf_free(&out);
	if (rc < 0)
		return EXIT_FAILED;
	return infile_verdict(&a->in, a->cmd, a->show.rec);
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int annotate_run(int argc, char **argv, const struct cmd *cmd)
{
	struct annotate_cmd a = {
		.cmd = cmd,
		.show.percent_limit = 0.5,
	};
	struct options o = options_start(argc, argv, cmd);
	int id, rc = EXIT_USAGE;

	if (naming_start(&a.naming, cmd) < 0)
		goto out;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || annotate_option(&a, &o, id) < 0)
			goto out;
	}
	rc = infile_open(&a.in, cmd);
	if (rc == EXIT_OK)
		rc = annotate_show(&a);
out:
	annotate_free(&a.show);
	recording_close(a.show.rec);
	infile_close(&a.in);
	sample_filter_free(&a.filter);
	naming_end(&a.naming);
	return rc;
}

COMMAND(annotate) = {
	.name = "annotate",
	.synopsis = "[options] [-i FILE] [SYMBOL]",
	.summary = "Show a function's source and instructions with the samples that hit them",
	.details = CMD_PARAGRAPHS(
	        "Without SYMBOL the function that most samples hit is shown. Percentages are of "
	        "the function's own samples (self, not what it called). Above the code stand "
	        "its source lines by samples; a line's text is shown where its file is on this "
	        "machine.",
	        "A file is shown only if it ends as sources do and really is in its program's, the "
	        "current, the system's (/usr, /opt) or a --source-dir directory (a home, /tmp: not "
	        "deeper in it): debugging information names any file. What is not shown is said.",
	        "SYMBOL may be any address in a function, OBJECT+0xADDRESS (libfoo.so+0x12345, "
	        "as objdump counts), and a function without a name as a report calls it: "
	        "'[unknown libfoo.so+0x12340]'. A function of Python may be given as Class.method: "
	        "its source is shown with the samples of each line, and no instructions. With "
	        "--native samples that hit the interpreter itself count there, and not for the "
	        "function that it ran.",
	        "Disassembly and lines are made inside seam, of the file whose build-id was "
	        "recorded; another file of that name is not shown. Instructions that were "
	        "inlined from elsewhere stand under the line they were written in. A sample is "
	        "shown at the instruction that the event named: with software clocks that is "
	        "one behind the slow one, often the next. A function of the kernel is shown "
	        "from its vmlinux (-k FILE, or found by build-id and release), of a module from "
	        "its file, as they were built: what the kernel patched at run time is not seen, "
	        "and calls out of a module have no target yet. Without the file it is listed by "
	        "address. Code that a program made at run time is shown out of its jitdump "
	        "(node --perf-prof, LLVM, perf's agent for Java), where it was in most samples "
	        "if it was compiled more than once, and not at all if other code took its "
	        "place.",
	        "--json writes version (1), symbol, event, functions (one per object that has "
	        "it): object, build_id, samples, weight, outside_samples, reason (why there is "
	        "no code), instructions (address, size, text, file, line, samples, weight), "
	        "lines (file, line, text, samples, weight), by falling weight.",
	        "Colours are for terminals, and not where NO_COLOR is set.",
	        "Exit status: 0; 1: the recording cannot be read, or no sample hit SYMBOL; 2: "
	        "usage; 3: the recording was damaged."),
	.options = annotate_options,
	.run = annotate_run,
};
