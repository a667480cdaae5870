// SPDX-License-Identifier: MIT
// evlist.c: `seam evlist`: the events of a recording and how they were opened.
#include "inspect/evlist.h"

#include "cli/cmds.h"
#include "input/source.h"

enum {
	EVLIST_VERBOSE = 1,
	EVLIST_FREQ,
	EVLIST_GROUP
};

struct evlist {
	struct source source;
	struct evlist_opts opts;
};

/* 0; -1: reading failed, which was said. The events of a stream are among its records, so it is
 * read to its end first. */
static int evlist_learn(struct evlist *l)
{
	struct seam_record record;
	int rc = 0;

	if (!evlist_is_known(l->source.reader))
		while ((rc = source_next(&l->source, &record)) > 0)
			;
	return rc;
}

/* Prints the events of one recording. An exit code. */
static int evlist_print(struct evlist *l)
{
	struct buf out = { 0 };
	int code = source_open(&l->source), verdict;

	if (code != EXIT_OK)
		return code;
	if (evlist_learn(l) < 0) {
		source_close(&l->source);
		return EXIT_FAILED;
	}
	l->opts.reader = l->source.reader;
	evlist_text(&l->opts, &out);
	code = source_print(&l->source, &out);
	verdict = source_verdict(&l->source);
	buf_free(&out);
	source_close(&l->source);
	return code == EXIT_OK ? verdict : code;
}

/* The command: reads its options, prints the events, and frees everything at one place. An exit
 * code. */
static int evlist_run(int argc, char **argv, const struct cmd *self)
{
	struct options o = options_start(argc, argv, self);
	struct evlist l = { .source.cmd = self };
	int id, code;

	while ((id = options_next(&o)) != OPTIONS_END) {
		switch (id) {
		case EVLIST_VERBOSE:
			l.opts.verbose = true;
			break;
		case EVLIST_FREQ:
			l.opts.freq = true;
			break;
		case EVLIST_GROUP:
			l.opts.group = true;
			break;
		case OPTIONS_HELP:
			return EXIT_OK;
		default:
			code = source_option(&l.source, id, o.arg);
			if (code != EXIT_OK)
				return EXIT_USAGE;
		}
	}
	return evlist_print(&l);
}

static const struct option_def evlist_options[] = {
	SOURCE_OPTIONS,
	{ "verbose", 'v', NULL, "all fields that are not zero", EVLIST_VERBOSE },
	{ "freq", 'F', NULL, "the sampling frequency or period", EVLIST_FREQ },
	{ "group", 'g', NULL, "groups in braces", EVLIST_GROUP },
	{ 0 },
};

COMMAND(evlist) = {
	.name = "evlist",
	.synopsis = "[options] [FILE]",
	.summary = "List the events of a recording",
	.options = evlist_options,
	.run = evlist_run,
};
