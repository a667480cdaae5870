// SPDX-License-Identifier: MIT
// top.c: `seam top`: where time goes now: its options, when it is refreshed, and where that is
// shown: in the view (view/), which is fed by a thread, or as text.
#include "cli/top/top.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/target.h"
#include "cli/cmds.h"
#include "asked/record_signals.h"
#include "asked/record_values.h"

#define STEP_MS 200  /* at most, until a key that leaves is answered */
#define FIRST_MS 700 /* until the first table of the view, of samples whose user halves came */

enum {
	OPT_EVENT = 1,
	OPT_PID,
	OPT_TID,
	OPT_ALL,
	OPT_CPU,
	OPT_FREQ,
	OPT_CALL_GRAPH,
	OPT_DELAY,
	OPT_ITERATIONS,
	OPT_STDIO,
	OPT_SORT,
	OPT_CHILDREN,
	OPT_NO_CHILDREN,
	OPT_LIMIT,
};

/* A key is in both lists if its row of the .def file says that top sorts by it. */
#define KEY_YES(key) "," key
#define KEY_NO(key) ""
#define COLUMN(place, id, key, also, heading, whose, value, kind, keep, needs, diff, top, help) \
	KEY_##top(key)
static const char sort_keys[] =
#include "profile/columns.def"
        ;
#define COLUMN(place, id, key, also, heading, whose, value, kind, keep, needs, diff, top, help) \
	KEY_##top(key)
static const char sort_help[] =
#include "profile/columns.def"
        " (dso,sym)";

#define WORD_YES(key, help) { key, help },
#define WORD_NO(key, help)
static const struct cmd_word sort_words[] = {
#define COLUMN(place, id, key, also, heading, whose, value, kind, keep, needs, diff, top, help) \
	WORD_##top(key, help)
#include "profile/columns.def"
	{ 0 },
};

static const struct cmd_words top_words[] = {
	{ "Sort keys", "-s|--sort", sort_words },
	{ 0 },
};

static const struct option_def top_options[] = {
	{ "event", 'e', "EVENT", "events to sample, as seam record takes them", OPT_EVENT },
	{ "pid", 'p', "PID[,PID]", "only these processes", OPT_PID },
	{ "tid", 't', "TID[,TID]", "only these threads", OPT_TID },
	{ "all-cpus", 'a', NULL, "everything that runs (the default)", OPT_ALL },
	{ "cpu", 'C', "LIST", "everything that runs on these CPUs: 0-3,8", OPT_CPU },
	{ "freq", 'F', "HZ", "samples per second and CPU (default 999)", OPT_FREQ },
	{ "call-graph", 0, "MODE", "as seam record takes it (auto)", OPT_CALL_GRAPH },
	{ NULL, 'g', NULL, "callchains (always taken)", OPTIONS_ACCEPTED },
	{ "delay", 'd', "SECONDS", "between two refreshes (2)", OPT_DELAY },
	{ "iterations", 'n', "N", "end after N refreshes", OPT_ITERATIONS },
	{ "sort", 's', "KEYS", sort_help + 1, OPT_SORT },
	{ "children", 0, NULL, "in the function or in what it called first", OPT_CHILDREN },
	{ "no-children", 0, NULL, "in the function alone first (the default)", OPT_NO_CHILDREN },
	{ "percent-limit", 0, "PERCENT", "leave out rows below this (0.5)", OPT_LIMIT },
	{ "stdio", 0, NULL, "plain text, one table after the other: the default in a pipe",
	  OPT_STDIO },
	STORED_URL_OPTION,
	STORED_SPAN_OPTIONS,
	NAMING_OPTIONS,
	{ 0 },
};

/* The delay of -d, in ms. -EINVAL after saying what is wrong. */
static int top_seconds(struct top *t, const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= 0.1 && v <= 3600)) {
		cmd_error(t->cmd, "-d: '%s' is not a number of seconds from 0.1 to 3600", text);
		return -EINVAL;
	}
	t->delay_ms = (uint64_t)(v * 1000 + 0.5);
	return 0;
}

/* Takes one option that says what is recorded, and how. 0, or -EINVAL after saying what is
 * wrong. */
static int top_target_option(struct top *t, const struct options *o, int id)
{
	static const char *const spelling[] = {
		[OPT_EVENT] = "-e", [OPT_PID] = "-p",  [OPT_TID] = "-t",
		[OPT_CPU] = "-C",   [OPT_FREQ] = "-F", [OPT_CALL_GRAPH] = "--call-graph"
	};
	const struct record_arg a = { .cmd = t->cmd, .what = spelling[id], .text = o->arg };

	switch (id) {
	case OPT_EVENT:
		return record_values_events(&t->o, &a);
	case OPT_PID:
	case OPT_TID:
		if (t->o.rec.session.n_pids && t->o.rec.by_tid != (id == OPT_TID))
			return record_values_wrong(&a, "-p and -t cannot be given together");
		t->o.rec.by_tid = id == OPT_TID;
		return record_values_pids(&t->o, &a);
	case OPT_CPU:
		return record_values_cpus(&t->o, &a);
	case OPT_FREQ:
		return record_values_freq(&t->o, &a);
	default:
		return record_values_call_graph(&t->o, &a);
	}
}

/* Takes one option of the command line. 0, or -EINVAL after saying what is wrong with its value. */
static int top_option(struct top *t, const struct options *o, int id)
{
	unsigned long long v;
	char *end;

	switch (id) {
	case OPT_ALL:
		t->o.system_wide = true;
		return 0;
	case OPT_DELAY:
		return top_seconds(t, o->arg);
	case OPT_ITERATIONS:
		if (options_u64(o, "-n", 1, UINT32_MAX, &v) < 0)
			return -EINVAL;
		t->iterations = v;
		return 0;
	case OPT_SORT:
		t->view.sort_list = o->arg;
		return 0;
	case OPT_CHILDREN:
	case OPT_NO_CHILDREN:
		t->children = id == OPT_CHILDREN;
		return 0;
	case OPT_LIMIT:
		t->view.percent_limit = strtod(o->arg, &end);
		t->limit_given = true;
		if (end != o->arg && !*end && t->view.percent_limit >= 0)
			return 0;
		cmd_error(t->cmd, "--percent-limit: '%s' is not a number from 0 to 100", o->arg);
		return -EINVAL;
	case OPT_STDIO:
		t->stdio = true;
		return 0;
	default:
		if (stored_is_option(id)) {
			stored_option(&t->stored, o, id);
			return 0;
		}
		return id >= NAMING_SYMFS ? naming_option(&t->naming, o, id)
		                          : top_target_option(t, o, id);
	}
}

/* Checks that the options go together, and sets what is recorded: without tasks or a command the
 * whole system. -EINVAL after saying what is wrong. */
static int top_settle(struct top *t)
{
	struct session_opts *s = &t->o.rec.session;

	if (!t->view.sort_list)
		t->view.sort_list = "dso,sym";
	if (report_options_fields(&t->view, t->cmd) < 0)
		return -EINVAL;
	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
		if (t->view.fields.columns & 1u << c && !rollup_facts[c].top) {
			cmd_error(t->cmd, "-s: top sorts by %s", sort_keys + 1);
			return -EINVAL;
		}
	t->view.no_children = !t->children;
	if (!top_store_ready(t))
		return -EINVAL;
	if (s->n_pids && (t->o.system_wide || s->n_cpus)) {
		cmd_error(t->cmd, "-p and -t cannot be given with -a or -C");
		return -EINVAL;
	}
	s->target = s->n_pids ? t->o.rec.by_tid ? SESSION_TASKS : SESSION_PIDS
	            : t->o.system_wide || s->n_cpus || !t->o.rec.command ? SESSION_SYSTEM
	                                                                 : SESSION_TASKS;
	s->pids = t->o.pids;
	s->cpus = t->o.cpus;
	s->events = t->o.rec.events = &t->o.events;
	s->sample_cpu = true;
	s->unwinds = true;
	s->build_id = true;
	return 0;
}

/* ---- refreshing ---- */

/* Whether nobody looks any more: then what is still to come need not be read or named. */
static bool top_is_left(const struct top *t)
{
	return t->feed && feed_stopped(t->feed);
}

/* Whether a signal, or the user, asked for the end. */
static bool top_is_asked(const struct top *t)
{
	bool was_sent;

	return record_signals_asked(&was_sent) || top_is_left(t);
}

/* Whoever opens the view waits for its first table no longer than for a sample's user half. */
static uint64_t top_delay(const struct top *t)
{
	return t->feed && !t->refreshes && t->delay_ms > FIRST_MS ? FIRST_MS : t->delay_ms;
}

/* Reads until the next refresh is due. *ended: nothing more will come. -errno. */
static int top_step(struct top *t, bool *ended)
{
	uint64_t left = top_delay(t);
	int r = 0;

	/* What ended during the last refresh is shown at once. In small steps, so that the end is
	 * answered at once. */
	while (left && !*ended && r >= 0) {
		uint64_t step = left < STEP_MS ? left : STEP_MS;

		r = top_read(t, (int)step);
		*ended = r > 0 || top_is_asked(t);
		left -= step;
	}
	if (r >= 0 && *ended && !top_is_left(t))
		r = recorder_stop(t->recorder, recorder_until_ns(t->recorder));
	return r < 0 ? r : 0;
}

/* Waits between two refreshes of a store. True: somebody asked for the end. */
static bool top_wait(struct top *t, uint64_t ms)
{
	for (uint64_t step; ms && !top_is_asked(t); ms -= step) {
		step = ms < STEP_MS ? ms : STEP_MS;
		poll(NULL, 0, (int)step);
	}
	return top_is_asked(t);
}

/* One refresh, when it is due. *last: there is no other one after it. -errno, after saying why. */
static int top_next(struct top *t, bool *ended, bool *last)
{
	int r;

	if (stored_asked(&t->stored)) {
		*last = t->refreshes && top_wait(t, t->delay_ms);
		return *last ? 0 : top_store_refresh(t);
	}
	r = top_step(t, ended);
	if (r < 0)
		cmd_error(t->cmd, "reading the rings: %s", strerror(-r));
	*last = *ended;
	if (r >= 0 && !top_is_left(t))
		r = top_refresh(t, *last);
	*ended |= r > 0;
	return r;
}

/* Refreshes until the user leaves, -n is reached, or what is recorded has ended; the rest is shown
 * then, too. -errno, after saying why. */
static int top_loop(struct top *t)
{
	bool ended = false, last = false;
	int r = 0;

	while (r >= 0 && !last && !(t->iterations && t->refreshes >= t->iterations))
		r = top_next(t, &ended, &last);
	return r < 0 ? r : 0;
}

/* ---- where it is shown ---- */

/* As text, one table after the other. -errno. */
static int top_print(void *ctx, struct report *r, struct buf *heading)
{
	int rc;

	(void)ctx;
	buf_put_text(heading, "\n");
	rc = top_tables(r, heading);
	fwrite(heading->bytes, 1, heading->n, stdout);
	fflush(stdout);
	return rc < 0 ? rc : ferror(stdout) ? -EPIPE : 0; /* the reader of the pipe is gone */
}

/* The thread beside the view. What has ended stays on the screen, unless somebody asked. */
static int top_work(void *ctx, struct feed *f)
{
	struct top *t = ctx;
	int r;

	feed_state(f, "sampling");
	r = top_loop(t);
	feed_state(f, "ended");
	if (r < 0)
		return r;
	return top_is_asked(t) || t->iterations ? FEED_LEAVES : FEED_STAYS;
}

/* On the terminal, until the user leaves. -errno. */
static int top_view(struct top *t)
{
	enum rollup_column columns[ROLLUP_COLUMNS];
	const struct view_opts opts = { .sz = sizeof(opts),
		                        .title = "seam top",
		                        .columns = columns,
		                        .n_columns = report_view_columns(&t->view, columns),
		                        .by_self = !t->children,
		                        .percent_limit = t->limit_given ? t->view.percent_limit : 0,
		                        .feed = t->feed,
		                        .live = true };
	int r;

	t->show = top_view_show;
	record_signals_leave(view_give_back);
	r = feed_start(t->feed, top_work, t);
	if (r >= 0)
		r = view_terminal(&opts, t->naming.color);
	feed_end(t->feed);
	return r;
}

/* Chooses where it is shown. An exit code. */
static int top_run_shown(struct top *t)
{
	int r;

	t->show = top_print;
	if (t->stdio || !view_can() || feed_new(&t->feed) < 0)
		return top_loop(t) < 0 ? EXIT_FAILED : EXIT_OK;
	r = top_view(t);
	feed_free(t->feed);
	t->feed = NULL;
	return r < 0 ? EXIT_FAILED : EXIT_OK;
}

/* Ends the command: it need not run longer than it is watched. */
static void top_end_command(struct top *t)
{
	struct target *target = t->recorder ? recorder_command(t->recorder) : NULL;

	if (target && target->started && !target_poll(target))
		target_signal(target, SIGTERM);
}

/* Opens, shows until the end, and gives all back. An exit code. */
static int top_show(struct top *t)
{
	int rc;

	if (stored_asked(&t->stored)) {
		record_signals_catch();
		rc = EXIT_OK;
	} else {
		rc = top_open(t);
	}
	if (rc == EXIT_OK)
		rc = top_run_shown(t);
	top_end_command(t);
	top_close(t);
	return rc;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int top_run(int argc, char **argv, const struct cmd *cmd)
{
	struct top t = {
		.cmd = cmd,
		.o = { .rec = { .sz = sizeof(t.o.rec),
		                .session = { .sz = sizeof(t.o.rec.session), .frequency = 999 } },
		       .output = "-",
		       .argc = argc,
		       .argv = argv },
		.view = { .percent_limit = 0.5, .graph = REPORT_GRAPH_NONE },
		.delay_ms = 2000,
	};
	struct options o = options_start(argc, argv, cmd);
	int id, rc = EXIT_USAGE;

	if (naming_start(&t.naming, cmd) < 0)
		goto out;
	t.view.color = t.naming.color;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_HELP || id == OPTIONS_USAGE || top_option(&t, &o, id) < 0)
			goto out;
	}
	if (o.at < argc)
		t.o.rec.command = argv + o.at;
	if (top_settle(&t) >= 0)
		rc = top_show(&t);
out:
	record_options_free(&t.o);
	stored_free(&t.stored);
	naming_end(&t.naming);
	return rc;
}

COMMAND(top) = {
	.name = "top",
	.lasts = true,
	.synopsis = "[options] [-- command]",
	.summary = "Show where time goes now, with merged stacks, and refresh",
	.details = CMD_PARAGRAPHS(
	        "Without command, -p and -t, everything that runs is shown. Each refresh shows "
	        "the samples since the one before, and says how user stacks are taken: as seam "
	        "record takes them, by BPF programs where they are allowed. They are merged as "
	        "seam report merges them; a sample waits 0.3 seconds for its user half before "
	        "it is shown, so that children's figures are those of whole stacks.",
	        "On a terminal each refresh goes into the view of seam report, with its keys (? "
	        "lists them): the table, the call tree, callers and callees, threads, what became "
	        "of the stacks. What is open stays open; p or Space holds what is shown while "
	        "recording goes on. In a pipe, or with --stdio, the tables follow one another as "
	        "plain text: seam top -d 2 -n 3 | cat. Nothing is written to disk; memory is "
	        "bounded, and samples that find no room are counted in the heading (in the view: "
	        "section 8).",
	        "--store shows what a store has of the last minute (--from -5m: of the last five) "
	        "in place of what runs here, of the series that --where lets through. What an "
	        "agent puts comes in windows: it is as old as they are long.",
	        "A command's standard output goes to standard error; it is sent SIGTERM when "
	        "top ends before it. In the view, what was shown last stays when it has ended.",
	        "Exit status: 0; 1: recording is not possible; 2: usage."),
	.options = top_options,
	.words = top_words,
	.stops_at_operand = true,
	.run = top_run,
};
