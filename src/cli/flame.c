// SPDX-License-Identifier: MIT
// flame.c: `seam flame FILE -o OUT.html`: a recording, or two, as a flame graph for a browser.
#include "export/flame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmds.h"
#include "cli/side_code.h"
#include "input/compared.h"
#include "input/sample_filter.h"
#include "input/stored.h"
#include "cmd/outfile.h"

enum {
	OPT_INPUT = 1,
	OPT_OUTPUT,
	OPT_BASE,
	OPT_SVG,
	OPT_ICICLE,
	OPT_EVENT,
	OPT_TITLE,
	OPT_MAX_STACK,
	OPT_SOURCE,
};

static const struct option_def flame_options[] = {
	INFILE_OPTION(OPT_INPUT),
	STORED_URL_OPTION,
	STORED_SPAN_OPTIONS,
	{ "output", 'o', "FILE",
	  "where it goes (default: flame.html, or flame.svg; -: standard output)", OPT_OUTPUT },
	{ "base", 0, "FILE", "another recording, to compare with: blue is less, orange is more",
	  OPT_BASE },
	{ "svg", 0, NULL, "a picture, without anything to click (also: -o FILE.svg)", OPT_SVG },
	{ "icicle", 0, NULL, "roots on top", OPT_ICICLE },
	{ "event", 'e', "NAME", "the event that is shown first (svg: that is shown)", OPT_EVENT },
	{ "title", 0, "TEXT", "above the graph (default: the recording's name)", OPT_TITLE },
	{ "max-stack", 0, "N", "at most the N innermost frames of a stack", OPT_MAX_STACK },
	{ "source", 0, NULL,
	  "with source and instructions of the hottest functions in the page (4 MiB of each "
	  "recording)",
	  OPT_SOURCE },
	{ "comm", 0, "LIST", "the same as --comms", ID_FILTER_COMMS },
	ID_FILTER_OPTIONS,
	NAMING_SOURCE_OPTIONS,
	{ 0 },
};

/* One command line. --base is the second side. */
struct flame_run {
	const struct cmd *cmd;
	struct stored stored; /* in place of a recording */
	struct compared both;
	const char *output;
	struct flame_opts opts;
	bool svg, source;
	struct buf sources[FLAME_SIDES]; /* JSON of annotate_page_hottest */
	struct naming naming;
	struct id_filter take;
};

/* Takes one option of the command line. 0, or -EINVAL after saying what is wrong with its value. */
static int flame_option(struct flame_run *f, const struct options *o, int id)
{
	unsigned long long v;

	switch (id) {
	case OPTIONS_OPERAND:
	case OPT_INPUT:
		return infile_set(&f->both.sides[0].in, f->cmd, o->arg);
	case OPT_BASE:
		f->both.n = 2;
		return infile_set(&f->both.sides[1].in, f->cmd, o->arg);
	case OPT_OUTPUT:
		f->output = o->arg;
		return 0;
	case OPT_SVG:
		f->svg = true;
		return 0;
	case OPT_SOURCE:
		f->source = true;
		return 0;
	case OPT_ICICLE:
		f->opts.icicle = true;
		return 0;
	case OPT_EVENT:
		f->opts.event = o->arg;
		return 0;
	case OPT_TITLE:
		f->opts.title = o->arg;
		return 0;
	case OPT_MAX_STACK:
		if (options_u64(o, "--max-stack", 1, UINT32_MAX, &v) < 0)
			return -EINVAL;
		f->both.max_stack = (unsigned)v;
		return 0;
	default:
		if (stored_is_option(id)) {
			stored_option(&f->stored, o, id);
			return 0;
		}
		return id_filter_is_option(id) ? id_filter_option(&f->take, o, id)
		                               : naming_option(&f->naming, o, id);
	}
}

/* Looks up source and instructions of what a side's samples hit most. -errno, which was said. */
static int flame_find_source(struct flame_run *f, size_t side)
{
	struct annotate a = side_code(&f->naming, &f->both.sides[side], compared_builds(&f->both));
	struct buf text = { 0 };
	int r = annotate_page_hottest(&a, ANNOTATE_PAGE_BYTES, &f->sources[side]);

	if (annotate_source_refused(&a, &text))
		cmd_error(f->cmd, "%s", buf_text(&text));
	buf_free(&text);
	side_code_end(&a);
	f->opts.source[side] = (const char *)f->sources[side].bytes;
	f->opts.source_n[side] = f->sources[side].n;
	if (r < 0)
		cmd_error(f->cmd, "%s", strerror(-r));
	return r;
}

/* Takes what a store answers as the first side. An exit code. */
static int flame_load_stored(struct flame_run *f)
{
	struct answer answer = { 0 };
	int code = stored_load(&f->stored, f->cmd, 0, &answer);

	if (code == EXIT_OK) {
		f->both.sides[0].load.profile = answer.load.profile;
		answer.load.profile = NULL;
	}
	answer_free(&answer);
	return code;
}

/* Writes the page or the picture; the file gets its name only when it is whole. */
static int flame_write(struct flame_run *f)
{
	struct flame_side sides[FLAME_SIDES];
	struct outfile file;
	int r;

	for (size_t i = 0; i < f->both.n; i++)
		sides[i] =
		        (struct flame_side){ f->both.sides[i].profile,
			                     stored_asked(&f->stored)   ? f->stored.url
			                     : f->both.sides[i].in.path ? f->both.sides[i].in.path
			                                                : "perf.data",
			                     compared_builds(&f->both) };
	/* A title needs no directories. */
	if (!f->opts.title)
		f->opts.title = export_base_name(sides[0].name);
	r = outfile_open(&file, f->output, 0666);
	if (r >= 0)
		r = (f->svg ? flame_svg : flame_page)(sides, f->both.n, &f->opts, &file.out);
	r = outfile_close(&file, f->cmd, r);
	if (r >= 0 && !outfile_is_stdout(f->output))
		cmd_error(f->cmd, "%s written", f->output);
	return r;
}

/* False after saying what does not go with --store. */
static bool flame_stored_ready(struct flame_run *f)
{
	const char *other = f->both.sides[0].in.path  ? "a recording"
	                    : f->both.n > 1           ? "--base"
	                    : id_filter_any(&f->take) ? "filters of samples (--where)"
	                    : f->both.max_stack       ? "--max-stack"
	                    : f->source               ? "--source"
	                                              : NULL;

	return stored_ready(&f->stored, f->cmd, other);
}

/* Settles the output's name and form. False after saying what is wrong. */
static bool flame_ready(struct flame_run *f)
{
	size_t n = f->output ? strlen(f->output) : 0;

	if (n > 4 && !strcmp(f->output + n - 4, ".svg"))
		f->svg = true;
	if (f->svg && f->source) {
		cmd_error(f->cmd, "--source is for the page, not for a picture");
		return false;
	}
	if (!f->output)
		f->output = f->svg ? "flame.svg" : "flame.html";
	for (size_t i = 0; i < f->both.n; i++) {
		const char *path =
		        f->both.sides[i].in.path ? f->both.sides[i].in.path : "perf.data";

		if (outfile_is(path, f->output)) {
			cmd_error(f->cmd, "-o must name another file than the recording");
			return false;
		}
	}
	return true;
}

/* Loads all sides and writes the graph. An exit code. */
static int flame_main(struct flame_run *f)
{
	int rc = EXIT_OK;

	f->both.keeps = f->source;
	f->both.filter = id_filter_samples(&f->take);
	for (size_t i = 0; i < f->both.n; i++) {
		int code = stored_asked(&f->stored) ? flame_load_stored(f)
		                                    : compared_load(&f->both, i);

		if (code != EXIT_OK && code != EXIT_PARTIAL)
			return code;
		rc = code == EXIT_OK ? rc : code;
	}
	if (compared_settle(&f->both) < 0)
		return EXIT_FAILED;
	for (size_t i = 0; f->source && i < f->both.n; i++)
		if (flame_find_source(f, i) < 0)
			return EXIT_FAILED;
	if (f->opts.event &&
	    !sample_filter_profile_event(f->both.sides[0].profile, f->opts.event, f->cmd))
		return EXIT_USAGE;
	return flame_write(f) < 0 ? EXIT_FAILED : rc;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int flame_run(int argc, char **argv, const struct cmd *cmd)
{
	struct flame_run f = { .cmd = cmd,
		               .both = { .cmd = cmd, .n = 1 },
		               .opts = { .sz = sizeof(f.opts) } };
	struct options o = options_start(argc, argv, cmd);
	int id, rc = EXIT_USAGE;

	f.both.naming = &f.naming;
	if (naming_start(&f.naming, cmd) < 0)
		goto out;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || flame_option(&f, &o, id) < 0)
			goto out;
	}
	if (flame_stored_ready(&f) && flame_ready(&f))
		rc = flame_main(&f);
out:
	compared_free(&f.both);
	for (size_t i = 0; i < FLAME_SIDES; i++)
		buf_free(&f.sources[i]);
	stored_free(&f.stored);
	id_filter_free(&f.take);
	naming_end(&f.naming);
	return rc;
}

COMMAND(flame) = {
	.name = "flame",
	.synopsis = "[options] [FILE]",
	.summary = "A flame graph in one HTML file, to search, zoom, filter and compare",
	.details = CMD_PARAGRAPHS(
	        "The page needs a browser of 2023 or later and no network. It has all events, "
	        "threads and stack states of the recording, its time as a strip in which a span "
	        "can be chosen, and keys: '?' in the page shows them. Stacks that are not whole "
	        "(their walk ended early, their room was full, a part of them never came) hang "
	        "below a hatched cell that says why: '[unfinished: the stack copy ended]'. With "
	        "--base, functions without a name are held against each other only if both "
	        "recordings have the same build of their object. Objects are the same at the same "
	        "path, and else by their names, in whichever directories they lay.",
	        "Where processes have several names, as in a recording of the whole machine, the "
	        "graph begins with a level of them, as perf's flame graph and FlameGraph's have "
	        "it: by name, so that the many short processes of a build are one place. "
	        "'processes' above the graph, or 'p', puts them together, or tells each one apart "
	        "by its number as well. A process has the name of its first thread. A page of more "
	        "than 300,000 different samples opens with them together, and sooner.",
	        "--source puts source and instructions into the page, as seam annotate shows them: "
	        "of "
	        "the functions that most samples hit, up to 256 and 4 MiB, of each recording. "
	        "'seam view' has all.",
	        "Exit status: 0; 1: it could not be done; 2: usage; 3: a recording was damaged "
	        "and the graph is of what was left."),
	.options = flame_options,
	.run = flame_run,
};
