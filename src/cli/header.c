// SPDX-License-Identifier: MIT
// header.c: `seam header`: what a recording says about itself.
#include "cli/header.h"

#include <string.h>

#include "cli/cmds.h"
#include "inspect/header.h"

enum {
	HEADER_FULL = 1
};

struct header_cmd {
	struct source source;
	bool full;
};

/* For header_text: what it cannot read. */
static void header_say(void *ctx, const char *text)
{
	cmd_error(ctx, "%s", text);
}

/* Shared with dump and report --header. Does not print. An exit code. */
int header_of(const struct source *s, bool full, struct buf *out)
{
	const struct header_opts opts = { .reader = s->reader,
		                          .path = s->path,
		                          .full = full,
		                          .say = header_say,
		                          .ctx = (void *)s->cmd };
	int r = header_text(&opts, out);

	if (r < 0)
		cmd_error(s->cmd, "%s", strerror(-r));
	return r < 0 ? EXIT_FAILED : r ? EXIT_PARTIAL : EXIT_OK;
}

/* Shared with report --header-only. An exit code. */
int header_print(struct source *s, bool full)
{
	struct buf out = { 0 };
	int code, features, verdict;

	code = source_open(s);
	if (code != EXIT_OK)
		return code;
	features = header_of(s, full, &out);
	code = source_print(s, &out);
	verdict = source_verdict(s);
	buf_free(&out);
	source_close(s);
	if (code != EXIT_OK)
		return code;
	return features != EXIT_OK ? features : verdict;
}

/* The command: reads its options, prints the header's text, and frees everything at one place. An
 * exit code. */
static int header_run(int argc, char **argv, const struct cmd *self)
{
	struct options o = options_start(argc, argv, self);
	struct header_cmd h = { .source.cmd = self };
	int id;

	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			return EXIT_OK;
		if (id == HEADER_FULL)
			h.full = true;
		else if (source_option(&h.source, id, o.arg) != EXIT_OK)
			return EXIT_USAGE;
	}
	return header_print(&h.source, h.full);
}

static const struct option_def header_options[] = {
	SOURCE_OPTIONS,
	{ "header", 'I', NULL, "topologies, caches and memory too", HEADER_FULL },
	{ 0 },
};

COMMAND(header) = {
	.name = "header",
	.synopsis = "[options] [FILE]",
	.summary = "Show what a recording says about itself",
	.options = header_options,
	.run = header_run,
};
