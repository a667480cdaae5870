// SPDX-License-Identifier: MIT
// diff.c: `seam diff`: what changed between two sets of recordings, and how sure that is.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmds.h"
#include "cli/diff_view.h"
#include "cli/fed_view.h"
#include "cli/report/report_options.h"
#include "cmd/outfile.h"
#include "input/profiled.h"
#include "input/stored.h"
#include "report/diff.h"

#define EXIT_SLOWER 4

/* One command line. table borrows words of argv. */
struct diff_cmd {
	const struct cmd *cmd;
	struct naming naming;
	struct sample_filter filter;
	enum report_form form;
	struct diff table;
	struct stored stored; /* in place of recordings */
	const char *sides[2]; /* of the store: --base, --new */
	bool stdio;           /* text, also on a terminal */
	bool filtered;        /* an option of sample_filter came */
	struct diff_view_load view;
};

enum {
	OPT_SORT = 1,
	OPT_CHILDREN,
	OPT_ABSOLUTE,
	OPT_LIMIT,
	OPT_CONFIDENCE,
	OPT_FAIL,
	OPT_SYMBOL,
	OPT_JSON,
	OPT_CSV,
	OPT_STDIO,
	OPT_BASE,
	OPT_NEW,
};

#define KEY_YES(key) "," key
#define KEY_NO(key) ""
static const char sort_help[] =
#define COLUMN(place, id, key, also, heading, whose, value, kind, keep, needs, diff, ...) \
	KEY_##diff(key)
#include "profile/columns.def"
        " (dso,sym)";

#define WORD_YES(key, help) { key, help },
#define WORD_NO(key, help)
static const struct cmd_word sort_words[] = {
#define COLUMN(place, id, key, also, heading, whose, value, kind, keep, needs, diff, top, help) \
	WORD_##diff(key, help)
#include "profile/columns.def"
	{ 0 },
};

static const struct cmd_words diff_words[] = {
	{ "Sort keys", "-s|--sort", sort_words },
	{ 0 },
};

static const struct option_def diff_options[] = {
	{ "sort", 's', "KEYS", sort_help + 1, OPT_SORT },
	{ "children", 0, NULL, "compare functions with what they called", OPT_CHILDREN },
	{ "absolute", 0, NULL, "compare counts per recording instead of shares", OPT_ABSOLUTE },
	{ "percent-limit", 0, "PERCENT", "leave out what is below this on both sides (0.5)",
	  OPT_LIMIT },
	{ "confidence", 0, "PERCENT", "of the intervals (95)", OPT_CONFIDENCE },
	{ "fail-if-slower", 0, "PERCENT",
	  "exit with 4 if something for sure takes more than PERCENT more", OPT_FAIL },
	{ "symbol", 0, "NAME", "--fail-if-slower looks at this function only; may be repeated",
	  OPT_SYMBOL },
	{ "json", 0, NULL, "as one JSON object", OPT_JSON },
	{ "csv", 0, NULL, "as comma-separated values", OPT_CSV },
	{ "stdio", 0, NULL, "plain text, also on a terminal", OPT_STDIO },
	STORED_URL_OPTION,
	STORED_SPAN_OPTIONS,
	{ "base", 0, "LIST", "of the store, the baseline: version=1.4", OPT_BASE },
	{ "new", 0, "LIST", "of the store, the new side: version=1.5", OPT_NEW },
	SAMPLE_FILTER_OPTIONS,
	NAMING_OPTIONS,
	{ 0 },
};

/* A number from 0 to most. -EINVAL after saying what is wrong. */
static int diff_number(struct diff_cmd *d, const char *option, const char *text, double most,
                       double *ret)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= 0 && v <= most)) {
		cmd_error(d->cmd, "%s: '%s' is not a number from 0 to %g", option, text, most);
		return -EINVAL;
	}
	*ret = v;
	return 0;
}

/* The first operand is the baseline, the second the new side. -EINVAL: there are more. */
static int diff_operand(struct diff_cmd *d, const char *arg)
{
	if (d->table.paths[1]) {
		cmd_error(d->cmd,
		          "two sides: '%s', '%s', and '%s' is one too many; recordings of "
		          "a side are joined by commas",
		          d->table.paths[0], d->table.paths[1], arg);
		return -EINVAL;
	}
	d->table.paths[d->table.paths[0] != NULL] = arg;
	return 0;
}

/* Takes one option of the command line. 0, or -EINVAL after saying what is wrong with its value. */
static int diff_option(struct diff_cmd *d, const struct options *o, int id)
{
	switch (id) {
	case OPTIONS_OPERAND:
		return diff_operand(d, o->arg);
	case OPT_SORT:
		d->table.keys.sort_list = o->arg;
		return 0;
	case OPT_CHILDREN:
		d->table.children = true;
		return 0;
	case OPT_ABSOLUTE:
		d->table.absolute = true;
		return 0;
	case OPT_LIMIT:
		d->table.limit_given = true;
		return diff_number(d, "--percent-limit", o->arg, 100, &d->table.percent_limit);
	case OPT_CONFIDENCE:
		if (diff_number(d, "--confidence", o->arg, 99.9999, &d->table.confidence) < 0)
			return -EINVAL;
		d->table.confidence /= 100;
		return 0;
	case OPT_FAIL:
		return diff_number(d, "--fail-if-slower", o->arg, 1e6, &d->table.fail_above);
	case OPT_SYMBOL:
		return buf_put(&d->table.wanted, &o->arg, sizeof(o->arg));
	case OPT_JSON:
	case OPT_CSV:
		d->form = id == OPT_JSON ? REPORT_JSON : REPORT_CSV;
		return 0;
	case OPT_STDIO:
		d->stdio = true;
		return 0;
	case OPT_BASE:
	case OPT_NEW:
		d->sides[id == OPT_NEW] = o->arg;
		return 0;
	default:
		if (stored_is_option(id)) {
			stored_option(&d->stored, o, id);
			return 0;
		}
		d->filtered |= sample_filter_is_option(id);
		return sample_filter_is_option(id) ? sample_filter_option(&d->filter, o, id)
		                                   : naming_option(&d->naming, o, id);
	}
}

/* Refuses keys whose values mean different things in different recordings. -EINVAL after saying
 * so. */
static int diff_check_keys(const struct diff_cmd *d)
{
	struct buf list = { 0 };
	bool any = false;
	size_t last = 0;

	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++) {
		if (rollup_facts[c].diff)
			continue;
		any |= d->table.keys.fields.columns & 1u << c;
		last = list.n;
		buf_printf(&list, ", %s", rollup_facts[c].key);
	}
	if (any)
		cmd_error(d->cmd, "-s: %.*s and %s do not compare", (int)last - 2,
		          buf_text(&list) + 2, buf_text(&list) + last + 2);
	buf_free(&list);
	return any ? -EINVAL : 0;
}

/* Whether what asks for a store goes together: both sides, and nothing that is for recordings. */
static bool diff_stored_ready(struct diff_cmd *d)
{
	const char *other = d->table.paths[0]              ? "recordings"
	                    : report_keeps(&d->table.keys) ? "a sort key that stores do not keep"
	                    : d->filtered                  ? "--comm and its like: use --where"
	                                                   : NULL;

	if (!stored_ready(&d->stored, d->cmd, other))
		return false;
	if (stored_asked(&d->stored) == (d->sides[0] && d->sides[1]) &&
	    !d->sides[0] == !d->sides[1])
		return true;
	cmd_error(d->cmd, "--store, --base and --new go together");
	return false;
}

/* Checks that the options go together, and chooses the files if none were named. -EINVAL after
 * saying what is wrong. */
static int diff_settle(struct diff_cmd *d)
{
	if (!d->table.keys.sort_list)
		d->table.keys.sort_list = "dso,sym";
	if (report_options_fields(&d->table.keys, d->cmd) < 0 || diff_check_keys(d) < 0)
		return -EINVAL;
	if (d->table.wanted.n &&
	    (d->table.fail_above < 0 || !(d->table.keys.fields.columns & 1u << ROLLUP_SYMBOL))) {
		cmd_error(d->cmd, "--symbol goes with --fail-if-slower and the sort key sym");
		return -EINVAL;
	}
	if (!diff_stored_ready(d))
		return -EINVAL;
	/* A gate is for scripts. */
	d->table.keeps_sides = d->form == REPORT_TEXT && !d->stdio && d->table.fail_above < 0 &&
	                       diff_view_can(&d->table);
	d->table.paths[0] = d->sides[0] ? d->sides[0] : d->table.paths[0];
	d->table.paths[1] = d->sides[1] ? d->sides[1] : d->table.paths[1];
	if (d->table.paths[0] && !d->table.paths[1]) {
		cmd_error(d->cmd, "'%s' is to be compared with what?", d->table.paths[0]);
		return -EINVAL;
	}
	if (!d->table.paths[0]) {
		d->table.paths[0] = "perf.data.old";
		d->table.paths[1] = "perf.data";
		if (access(d->table.paths[0], F_OK) < 0 && errno == ENOENT) {
			cmd_error(d->cmd,
			          "compare what? seam diff OLD NEW; without names, perf.data.old "
			          "(which is not here) and perf.data");
			return -EINVAL;
		}
	}
	return 0;
}

/* Lets a person see the first part of a large baseline. */
static void diff_show_first(struct diff_cmd *d, const struct infile *in,
                            const struct profiled_opts *opts)
{
	struct fed_first first;

	if (fed_view_first(in, &d->naming, opts, &first)) {
		d->view.base(d->view.base_ctx, first.load.profile, first.percent);
		first.load.profile = NULL;
	}
	load_free(&first.load);
	fed_view_first_end(in, &first);
}

/* Lets a person see the baseline, of which the first n recordings are read. It is a copy: those are
 * worked on when all are read. Without memory for it nothing is shown. */
static void diff_show_base(struct diff_cmd *d, size_t n)
{
	struct profile *p;
	int r;

	if (!d->view.base || !d->table.profiles[0])
		return;
	r = profile_new(&p, profile_keeps(d->table.profiles[0]));
	for (size_t i = 0; i < n && r >= 0; i++) {
		r = profile_merge(p, d->table.profiles[i]);
		if (r < 0)
			profile_free(p);
	}
	if (r >= 0)
		d->view.base(d->view.base_ctx, p, 100);
}

/* Reads one recording and keeps its profile until all are read. An exit code. */
static int diff_load_open(struct diff_cmd *d, struct infile *in, size_t run)
{
	const struct profiled_opts opts = {
		.cmd = d->cmd,
		.filter = &d->filter,
		.progress = d->view.progress,
		.load = { .frames = d->table.children || d->table.keeps_sides
		                            ? LOAD_FRAMES_ALL
		                            : LOAD_FRAMES_INNERMOST,
		          .keep = report_keeps(&d->table.keys),
		          .functions = !d->table.keeps_sides,
		          .lines = report_needs(&d->table.keys, ROLLUP_NEEDS_LINES) ||
		                   !d->naming.no_inline,
		          .no_inline = d->naming.no_inline,
		          .early = true },
	};
	struct recording *rec = NULL;
	struct load load = { 0 };
	struct seam_error err = { 0 };
	int rc, r;

	if (d->view.base && !run)
		diff_show_first(d, in, &opts);
	r = profiled_load(in, &d->naming, &opts, &rec, &load, &err);
	if (r == -EINVAL && !err.code) {
		recording_close(rec);
		return EXIT_USAGE;
	}
	if (r >= 0)
		r = diff_add_run(&d->table, &load, run);
	if (r < 0 && r != -ECANCELED)
		cmd_error(d->cmd, "%s: %s", in->path, cmd_reason(&err, r));
	rc = r < 0 ? EXIT_FAILED : infile_verdict(in, d->cmd, rec);
	load_free(&load);
	recording_close(rec);
	return rc;
}

/* Tells which recording is read, before there is anything of it. */
static void diff_reads(struct diff_cmd *d, const char *path, size_t run)
{
	struct progress *p = &d->view.progress;

	d->view.path = path;
	d->view.run = run + 1;
	d->view.runs = d->table.runs;
	if (p->report)
		p->report(p->ctx, "reading", 0, 0);
}

/* Reads one recording as the run with this number. EXIT_OK or EXIT_PARTIAL; any other exit code:
 * what failed was said. */
static int diff_load(struct diff_cmd *d, const char *path, size_t run)
{
	struct infile in = { .path = path };
	int rc;

	diff_reads(d, path, run);
	rc = infile_open(&in, d->cmd);
	if (rc == EXIT_OK)
		rc = diff_load_open(d, &in, run);
	infile_close(&in);
	return rc;
}

/* A file whose name has a comma in it is one recording, not two. */
static size_t diff_count(const char *list)
{
	size_t n = 1;

	if (!access(list, F_OK))
		return 1;
	for (; *list; list++)
		n += *list == ',';
	return n;
}

/* Reads all recordings of a side. EXIT_OK also if one was damaged, which d->view.damaged says; else
 * what failed was said. */
static int diff_load_side(struct diff_cmd *d, size_t side)
{
	const char *list = d->table.paths[side];

	for (size_t i = 0; i < d->table.n_runs[side]; i++) {
		size_t len = d->table.n_runs[side] == 1 ? strlen(list) : strcspn(list, ",");
		char *path = strndup(list, len);
		int rc = path ? diff_load(d, path, side * d->table.n_runs[0] + i) : EXIT_FAILED;

		free(path);
		if (rc == EXIT_PARTIAL)
			d->view.damaged[side] = true;
		else if (rc != EXIT_OK)
			return rc;
		if (!side && (!i || i + 1 == d->table.n_runs[0]))
			diff_show_base(d, i + 1);
		list += len + (list[len] == ',');
	}
	return EXIT_OK;
}

/* Takes each part of a side as a run; those without samples are none. -errno. */
static int diff_take_parts(struct diff_cmd *d, size_t side, struct repeats *parts)
{
	int r = 0;

	for (size_t i = 0; i < parts->n && r >= 0; i++) {
		struct load load = { .profile = parts->at[i] };

		if (!profile_n_rows(load.profile))
			continue;
		r = diff_add_run(&d->table, &load,
		                 side * d->table.n_runs[0] + d->table.n_runs[side]++);
		parts->at[i] = load.profile;
	}
	return r;
}

/* Reads a side of a store: hosts, or spans of time, are its runs. -errno. */
static int diff_load_stored_side(struct diff_cmd *d, struct store *store, size_t side,
                                 struct seam_error *err)
{
	struct repeats parts = { 0 };
	int r = stored_repeats(&d->stored, store, side ? "--new" : "--base", d->sides[side],
	                       DIFF_RUNS_MAX, &parts, err);

	if (r >= 0)
		r = diff_take_parts(d, side, &parts);
	d->table.run_word = parts.by_host ? "host" : "span";
	repeats_free(&parts);
	return r;
}

/* Reads both sides of a store. An exit code. */
static int diff_load_stored(struct diff_cmd *d)
{
	struct seam_error err = { 0 };
	struct store *store = NULL;
	int r = store_open(&store, d->stored.url, STORE_READ, &err);

	d->stored.query.innermost = !d->table.children && !d->table.keeps_sides;
	for (size_t side = 0; side < 2 && r >= 0; side++) {
		r = diff_load_stored_side(d, store, side, &err);
		if (r >= 0 && !side && d->table.n_runs[0])
			diff_show_base(d, d->table.n_runs[0]);
	}
	store_close(store);
	d->table.runs = d->table.n_runs[0] + d->table.n_runs[1];
	if (r < 0)
		cmd_error(d->cmd, "%s", cmd_reason(&err, r));
	return r == -EINVAL ? EXIT_USAGE : r < 0 ? EXIT_FAILED : EXIT_OK;
}

/* The baseline's recordings come first in the table's order of runs. An exit code. */
static int diff_load_all(struct diff_cmd *d)
{
	int rc;

	for (size_t side = 0; side < 2; side++) {
		d->table.n_runs[side] = diff_count(d->table.paths[side]);
		if (d->table.n_runs[side] > DIFF_RUNS_MAX) {
			cmd_error(d->cmd, "at most %u recordings per side", DIFF_RUNS_MAX);
			return EXIT_USAGE;
		}
	}
	d->table.runs = d->table.n_runs[0] + d->table.n_runs[1];
	rc = diff_load_side(d, 0);
	return rc == EXIT_OK ? diff_load_side(d, 1) : rc;
}

/* As text. An exit code. */
static int diff_print(struct diff_cmd *d)
{
	struct buf out = { 0 };
	int rc;

	if (d->form == REPORT_JSON)
		diff_json(&d->table, &out);
	else if (d->form == REPORT_CSV)
		diff_csv(&d->table, &out);
	else
		diff_text(&d->table, &out);
	rc = outfile_print(d->cmd, &out);
	buf_free(&out);
	return rc;
}

/* A gate that could not judge anything fails, so that a misspelled name does not pass for ever. */
static int diff_verdict(const struct diff_cmd *d)
{
	if (d->table.wanted.n && !d->table.n_gated) {
		cmd_error(d->cmd, "none of the functions named by --symbol was sampled on either "
		                  "side: nothing was compared");
		return EXIT_FAILED;
	}
	if (d->table.n_fails)
		return EXIT_SLOWER;
	return d->view.damaged[0] || d->view.damaged[1] ? EXIT_PARTIAL : EXIT_OK;
}

/* An event without samples on one side is not in the table; it is said, because nobody would miss
 * it. */
static void diff_say_one_sided(const struct diff_cmd *d)
{
	for (uint32_t e = 0; (e = diff_one_sided(&d->table, e));)
		cmd_error(d->cmd, "%s was sampled on one side only: not compared",
		          intern_get(&d->table.events, e));
}

/* Loads both sides and compares them. An exit code. */
static int diff_make(void *ctx)
{
	struct diff_cmd *d = ctx;
	int rc = stored_asked(&d->stored) ? diff_load_stored(d) : diff_load_all(d);

	if (rc != EXIT_OK)
		return rc;
	if (!d->table.samples[0] || !d->table.samples[1]) {
		cmd_error(d->cmd, "%s has no samples", d->table.paths[d->table.samples[0] != 0]);
		return EXIT_FAILED;
	}
	if (diff_compare(&d->table) < 0) {
		cmd_error(d->cmd, "out of memory");
		return EXIT_FAILED;
	}
	diff_say_one_sided(d);
	if (!d->table.n_events) {
		cmd_error(d->cmd, "no event was sampled on both sides");
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

/* On the terminal, until the user leaves. An exit code; DIFF_PRINTS: the terminal cannot show
 * it, and all is loaded. */
#define DIFF_PRINTS (-1)
static int diff_show(struct diff_cmd *d)
{
	int rc;

	d->view.load = diff_make;
	d->view.ctx = d;
	rc = diff_view(&d->table, stored_asked(&d->stored) ? NULL : &d->naming, &d->filter,
	               &d->view);
	if (rc == -ENOTTY)
		return d->view.code == EXIT_OK ? DIFF_PRINTS : d->view.code;
	if (rc < 0) {
		cmd_error(d->cmd, "%s", strerror(-rc));
		return EXIT_FAILED;
	}
	/* Whoever leaves early does not ask for the rest. */
	return d->view.stopped ? EXIT_OK : d->view.code;
}

/* Compares, and shows or prints. An exit code; EXIT_SLOWER only with --fail-if-slower. */
static int diff_all(struct diff_cmd *d)
{
	int rc = d->table.keeps_sides ? diff_show(d) : diff_make(d);

	if (rc == DIFF_PRINTS || (rc == EXIT_OK && !d->table.keeps_sides))
		rc = diff_print(d);
	return rc == EXIT_OK && d->table.n_events ? diff_verdict(d) : rc;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int diff_run(int argc, char **argv, const struct cmd *cmd)
{
	struct diff_cmd d = {
		.cmd = cmd,
		.table = { .keys = { .no_children = true },
		           .percent_limit = 0.5,
		           .confidence = 0.95,
		           .fail_above = -1 },
	};
	struct options o = options_start(argc, argv, cmd);
	int id, rc = EXIT_USAGE;

	if (naming_start(&d.naming, cmd) < 0)
		goto out;
	d.table.color = d.naming.color;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || diff_option(&d, &o, id) < 0)
			goto out;
	}
	if (diff_settle(&d) >= 0)
		rc = diff_all(&d);
out:
	diff_free(&d.table);
	sample_filter_free(&d.filter);
	stored_free(&d.stored);
	naming_end(&d.naming);
	return rc;
}

COMMAND(diff) = {
	.name = "diff",
	.synopsis = "[options] [BASELINE[,...] NEW[,...]]",
	.summary = "Compare recordings function by function, and say what is only noise",
	.details = CMD_PARAGRAPHS(
	        "Without operands perf.data.old is compared with perf.data. Each side may be "
	        "several recordings of the same thing, joined by commas. Shown are each side's "
	        "share, the difference, and the ratio, each with an interval that holds the "
	        "truth in 95 of 100 cases (--confidence). Shares are of the side's own total, "
	        "so that a longer run is not a slower one; --absolute compares counts per "
	        "recording (for cpu-clock, CPU time) where both sides did the same work.",
	        "The intervals come from the numbers of samples: k of n samples vary by chance "
	        "alone (Katz's interval of a ratio of proportions). Runs of an unchanged "
	        "program differ by more than that: by what else the machine does, by where "
	        "memory lies. With one recording per side nothing tells by how much, and the "
	        "intervals are too narrow. With several per side a second interval is made of "
	        "how those of a side differ among themselves (Pearson's dispersion, Student's "
	        "t), and the wider of the two is shown. What no recording shows, such as "
	        "another machine or a cold cache on one side only, is in no interval: record "
	        "both sides in turns. Events are compared by name; one that only one side has "
	        "is not compared.",
	        "Functions without a name ([unknown libfoo.so+0x12340]) are compared one by one "
	        "if all recordings that have the object have one build of it, by build-id; else "
	        "they are one row, [unknown], since another build's begin elsewhere.",
	        "--fail-if-slower PERCENT is for CI: of the rows of at least --percent-limit, "
	        "or of the functions given with --symbol, one must be for sure more than "
	        "PERCENT slower: the whole interval of its ratio lies above. As several rows "
	        "are asked about at once, their intervals are widened (Bonferroni), so that one "
	        "in twenty gates fails by chance at most, not one in twenty rows: that holds "
	        "with three or more recordings per side, not with one (docs/diff-noise.md has "
	        "how often each fails falsely, and how small a slow-down each sees). Rows that "
	        "are slower by the figures but not for sure are marked 'maybe' and do not fail.",
	        "On a terminal both sides are walked through by keys (? lists them): the rows, the "
	        "call tree of both, who called a function and what it called, objects, commands, "
	        "its source and instructions with both sides' percents (of the first recording of "
	        "each); what changed most stands first. While the new side is read the baseline is "
	        "there, with ... for what is not known yet. w writes what is shown; FILE.folded "
	        "gets both counts of each stack, for flame graphs of a difference. --stdio, a pipe "
	        "and --fail-if-slower print text.",
	        "--store compares two sides of a store, each a list as --where has it: --store "
	        "sqlite:FILE --base version=1.4 --new version=1.5. Where a side has three hosts "
	        "or more, each is a run (several together above 64); else its time is cut into "
	        "up to eight spans of at least a window. So what hosts, or times, differ by is "
	        "in the intervals; what changed for all at once between the sides' times, such "
	        "as the load, is in none. --from, --to and --where are for both sides.",
	        "--json writes version (1), confidence, between_runs (whether what runs differ "
	        "by is in the intervals), base_recordings, new_recordings, base_samples, "
	        "new_samples, fails, and rows: event, a value per key, base, new, delta, margin "
	        "(as parts of 1, or counts), ratio, ratio_least, ratio_most, dispersion, "
	        "verdict (same, faster, slower), gated, fails.",
	        "Exit status: 0; 1: a recording cannot be read, or no function of --symbol was "
	        "sampled; 2: usage; 3: a recording was damaged, the comparison is of what was "
	        "left; 4: something is slower than --fail-if-slower allows."),
	.options = diff_options,
	.words = diff_words,
	.run = diff_run,
};
