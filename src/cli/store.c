// SPDX-License-Identifier: MIT
// store.c: `seam store`: what is in a store, and recordings into it.
#include "cli/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmds.h"
#include "store/when.h"

#define WINDOW_NS 10000000000ULL

enum {
	OPT_CSV = 1,
	OPT_JSON,
	OPT_WINDOW,
	OPT_LABEL,
};

static const struct option_def store_options[] = {
	{ "store", 0, "URL", "the store: " STORED_KINDS " (default: that of seam agent)",
	  STORED_URL },
	STORED_SPAN_OPTIONS,
	{ "window", 0, "TIME", "import: length of a window (10s); series: of a point", OPT_WINDOW },
	{ "label", 0, "LABEL=VALUE", "import: a label of all series: service=checkout", OPT_LABEL },
	{ "csv", 0, NULL, "series as comma-separated values", OPT_CSV },
	{ "json", 0, NULL, "ls and series as one JSON object", OPT_JSON },
	NAMING_OPTIONS,
	{ 0 },
};

static int store_label(struct store_cmd *s, const char *text)
{
	struct labels_filter f = { 0 };
	const char *key, *value;
	size_t at = 0;
	int r = labels_filter_parse(&f, text, &at);
	const struct labels terms = { f.terms };

	if (r < 0)
		cmd_error(s->cmd, "--label: '%s' is no LABEL=VALUE", text);
	for (at = 0; r >= 0 && labels_next(&terms, &at, &key, &value);)
		r = labels_set(&s->labels, key, value);
	labels_filter_free(&f);
	return r < 0 ? -EINVAL : 0;
}

/* Takes one option of the command line. 0, or -EINVAL after saying what is wrong with it. */
static int store_option(struct store_cmd *s, const struct options *o, int id)
{
	switch (id) {
	case OPT_CSV:
		s->form = STORE_CSV;
		return 0;
	case OPT_JSON:
		s->form = STORE_JSON;
		return 0;
	case OPT_WINDOW:
		if (when_parse_duration(o->arg, &s->window_ns) >= 0 && s->window_ns)
			return 0;
		cmd_error(s->cmd, "--window: '%s' is no length of time; they are 10s, 1m, 1h",
		          o->arg);
		return -EINVAL;
	case OPT_LABEL:
		return store_label(s, o->arg);
	default:
		if (!stored_is_option(id))
			return naming_option(&s->naming, o, id);
		stored_option(&s->stored, o, id);
		return 0;
	}
}

static const struct store_word {
	const char *name, *argument; /* NULL: none */
	int (*run)(struct store_cmd *s);
} store_words[] = {
	{ "ls", NULL, store_cmd_ls },
	{ "series", "FUNCTION", store_cmd_series },
	{ "import", "RECORDING", store_cmd_import },
};

/* What is behind `seam store`, with its argument. NULL: it was said what is wrong. */
static const struct store_word *store_word(struct store_cmd *s, const char *const *words, size_t n)
{
	for (size_t i = 0; n && i < sizeof(store_words) / sizeof(store_words[0]); i++) {
		const struct store_word *w = &store_words[i];

		if (strcmp(words[0], w->name) != 0)
			continue;
		if (n == 1 + (w->argument != NULL))
			return w;
		cmd_error(s->cmd, w->argument ? "%s needs one %s" : "%s takes no operand", w->name,
		          w->argument);
		return NULL;
	}
	if (n)
		cmd_error(s->cmd, "'%s' is not ls, series or import", words[0]);
	else
		cmd_error(s->cmd, "ls, series or import is missing");
	return NULL;
}

/* Does what the words ask for, when the options are known. An exit code. */
static int store_do(struct store_cmd *s, const char *const *words, size_t n)
{
	const struct store_word *w = store_word(s, words, n);
	char *url = NULL;
	int rc = EXIT_USAGE;

	if (!w)
		return EXIT_USAGE;
	if (w->run == store_cmd_import) {
		if (s->stored.from || s->stored.to || s->stored.where) {
			cmd_error(s->cmd, "import takes all of a recording");
			return EXIT_USAGE;
		}
		s->window_ns = s->window_ns ? s->window_ns : WINDOW_NS;
		return infile_set(&s->in, s->cmd, words[1]) < 0 ? EXIT_USAGE : w->run(s);
	}
	if (n > 1)
		s->function = words[1];
	if (!s->stored.url)
		s->stored.url = url = stored_default(false);
	if (!url && !s->stored.url)
		return EXIT_FAILED;
	if (stored_settle(&s->stored, s->cmd) >= 0)
		rc = w->run(s);
	free(url);
	return rc;
}

/* The command: reads its options and operands, does the work, and frees everything at one place. An
 * exit code. */
static int store_run(int argc, char **argv, const struct cmd *cmd)
{
	struct store_cmd s = { .cmd = cmd };
	struct options o = options_start(argc, argv, cmd);
	const char *words[3];
	size_t n = 0;
	int id, rc = EXIT_USAGE;

	if (naming_start(&s.naming, cmd) < 0)
		goto out;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_OPERAND && n < sizeof(words) / sizeof(words[0]))
			words[n++] = o.arg;
		else if (id < 0 || store_option(&s, &o, id) < 0)
			goto out;
	}
	for (; o.at < argc && n < sizeof(words) / sizeof(words[0]); o.at++)
		words[n++] = argv[o.at];
	rc = store_do(&s, words, n);
out:
	infile_close(&s.in);
	stored_free(&s.stored);
	labels_free(&s.labels);
	naming_end(&s.naming);
	return rc;
}

const struct cmd cmd_store = {
	.name = "store",
	.synopsis = "ls|series|import [options] [FUNCTION|RECORDING]",
	.summary = "What is in a store of profiles; a recording into it",
	.details =
	        "A store holds windows of samples: what seam agent took, or a recording that was "
	        "imported. seam report --store answers from it.\n\n"
	        "ls lists the series of a store: sets of labels, with their samples and times.\n\n"
	        "series shows the share of a function, with what it called, over time: a line for "
	        "each point, of the first event. --from, --to and --where choose.\n\n"
	        "--json: ls writes version (1), windows, bytes, first_ns, last_ns, series (labels, "
	        "samples, windows, first_ns, last_ns); series writes version (1), function, points "
	        "(time_ns, total, self, all: weights). Times are since 1970. Keys may be added, "
	        "none "
	        "is taken away.\n\n"
	        "import cuts a recording into windows and puts them into the store, with names, "
	        "lines and inlined calls as they are found here. host and kernel are those that "
	        "the recording names. What is imported a second time counts once.\n\n"
	        "Exit status: 0; 1: it could not be done; 2: usage; 3: the recording was damaged "
	        "and what was left is in the store.",
	.options = store_options,
	.run = store_run,
};
