// SPDX-License-Identifier: MIT
/*
 * agent.c: `seam agent`: the whole machine, all the time, into a store.
 *
 * It takes seam record's options of what is sampled, and its functions for them; what the agent
 * does is agent/'s.
 */
#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli/cmds.h"
#include "asked/record_offcpu.h"
#include "cli/record/record_say.h"
#include "asked/record_signals.h"
#include "asked/record_values.h"
#include "input/naming.h"
#include "input/stored.h"
#include "store/when.h"

/* Odd, so that it does not run in step with what programs do a round number of times a second. */
#define FREQUENCY 19
/* The length of a window, unless --window says another. */
#define WINDOW_NS 10000000000ULL
#define WINDOW_LEAST_NS 1000000000ULL
#define WINDOW_MOST_NS 600000000000ULL
#define KEEP_NS (30ULL * 86400 * 1000000000)
#define KEEP_BYTES (2ULL << 30)

enum {
	OPT_STORE = 1,
	OPT_FREQ,
	OPT_EVENT,
	OPT_WINDOW,
	OPT_OFF_CPU,
	OPT_DURATION,
	OPT_KEEP,
	OPT_KEEP_BYTES,
	OPT_LABEL,
	OPT_CALL_GRAPH,
};

static const struct option_def agent_options[] = {
	{ "store", 0, "URL", "where windows go: " STORED_KINDS "; may be given more than once",
	  OPT_STORE },
	{ "freq", 'F', "HZ", "samples per second and CPU (default 19)", OPT_FREQ },
	{ "event", 'e', "EVENT", "events to sample, as seam record takes them (cpu-clock)",
	  OPT_EVENT },
	{ "window", 0, "TIME", "length of a window, from 1s to 10m (10s)", OPT_WINDOW },
	{ "off-cpu", 0, NULL, "time off the CPU, too, from 1 ms on", OPT_OFF_CPU },
	{ "call-graph", 0, "MODE", "as seam record takes it (auto)", OPT_CALL_GRAPH },
	{ "duration", 0, "TIME", "end after this long (until SIGTERM)", OPT_DURATION },
	{ "keep", 0, "TIME", "let go of windows that are older (30d); 0: of none", OPT_KEEP },
	{ "keep-size", 0, "SIZE", "let go of the oldest above this (2G); 0: of none",
	  OPT_KEEP_BYTES },
	{ "label", 0, "LABEL=VALUE", "a label of all series: zone=a", OPT_LABEL },
	NAMING_OPTIONS,
	{ 0 },
};

/* One command line. What urls of opts points to belongs to argv, or is default_url. */
struct agent_cmd {
	const struct cmd *cmd;
	struct record_opts o; /* what is recorded */
	struct naming naming;
	char *default_url;
	struct labels all; /* host, kernel, --label */
	struct agent_opts opts;
};

/* A length of time from least to most, in ns. -EINVAL after saying what is wrong. */
static int agent_time(const struct agent_cmd *a, const char *option, const char *text,
                      uint64_t least, uint64_t most, uint64_t *ret)
{
	if (when_parse_duration(text, ret) >= 0 && *ret >= least && *ret <= most)
		return 0;
	cmd_error(a->cmd, "%s: '%s' is no length of time that can be; they are 10s, 2m, 1h30m, 7d",
	          option, text);
	return -EINVAL;
}

/* A bare number is refused: it could be meant as bytes or megabytes. -EINVAL after saying so. */
static int agent_size(struct agent_cmd *a, const char *text)
{
	const struct record_arg arg = { a->cmd, "--keep-size", text };
	bool is_bytes;

	if (!strcmp(text, "0")) {
		a->opts.keep_bytes = 0;
		return 0;
	}
	if (record_values_size(&arg, &a->opts.keep_bytes, &is_bytes) < 0)
		return -EINVAL;
	if (is_bytes)
		return 0;
	cmd_error(a->cmd, "--keep-size: '%s' is no size; they are 500M, 2G", text);
	return -EINVAL;
}

/* Takes one option of the command line. 0, or -EINVAL after saying what is wrong with it. */
static int agent_option(struct agent_cmd *a, const struct options *o, int id)
{
	switch (id) {
	case OPT_STORE:
		if (a->opts.n_urls == AGENT_STORES_MAX) {
			cmd_error(a->cmd, "--store: more than %u", AGENT_STORES_MAX);
			return -EINVAL;
		}
		a->opts.urls[a->opts.n_urls++] = o->arg;
		return 0;
	case OPT_FREQ:
		return record_values_freq(&a->o, &(struct record_arg){ a->cmd, "-F", o->arg });
	case OPT_EVENT:
		return record_values_events(&a->o, &(struct record_arg){ a->cmd, "-e", o->arg });
	case OPT_CALL_GRAPH:
		return record_values_call_graph(&a->o, &(struct record_arg){ a->cmd, "--call-graph",
		                                                             o->arg });
	case OPT_WINDOW:
		return agent_time(a, "--window", o->arg, WINDOW_LEAST_NS, WINDOW_MOST_NS,
		                  &a->opts.window_ns);
	case OPT_DURATION:
		return agent_time(a, "--duration", o->arg, 1, UINT64_MAX, &a->opts.duration_ns);
	case OPT_KEEP:
		return agent_time(a, "--keep", o->arg, 0, UINT64_MAX, &a->opts.keep_ns);
	case OPT_KEEP_BYTES:
		return agent_size(a, o->arg);
	case OPT_OFF_CPU:
		return record_offcpu_time(&a->o, &(struct record_arg){ a->cmd, "--off-cpu", NULL });
	case OPT_LABEL:
		return stored_label(&a->all, a->cmd, o->arg);
	default:
		return naming_option(&a->naming, o, id);
	}
}

/* Sets what was not asked for. -EINVAL after saying what is wrong. */
static int agent_settle(struct agent_cmd *a)
{
	const struct record_arg clock = { a->cmd, "-e", "cpu-clock" };
	struct session_opts *s = &a->o.rec.session;
	struct utsname machine;

	/* Every machine has this clock, also one without a counter of cycles. */
	if (!a->o.events.n && record_values_events(&a->o, &clock) < 0)
		return -EINVAL;
	s->target = SESSION_SYSTEM;
	s->events = a->o.rec.events = &a->o.events;
	s->unwinds = true;
	s->build_id = true;
	if (record_offcpu_settle(&a->o, a->cmd) < 0)
		return -EINVAL;
	if (!a->opts.n_urls) {
		a->default_url = stored_default(true);
		if (!a->default_url) {
			cmd_error(a->cmd, "out of memory");
			return -EINVAL;
		}
		a->opts.urls[a->opts.n_urls++] = a->default_url;
	}
	if (uname(&machine) < 0)
		return 0;
	/* A --label host wins; the kernel is always this machine's. */
	if (!labels_get(&a->all, "host") && labels_set(&a->all, "host", machine.nodename) < 0)
		return -EINVAL;
	return labels_set(&a->all, "kernel", machine.release) < 0 ? -EINVAL : 0;
}

/* For the recorder, which asks while it opens many events. */
static bool agent_is_stopped(void)
{
	bool was_sent;

	return record_signals_asked(&was_sent);
}

/* Runs the agent until it ends. An exit code. A failure that comes of the options is EXIT_USAGE. */
static int agent_do(struct agent_cmd *a)
{
	struct recorder_opts *rec = &a->o.rec;
	struct seam_error err = { 0 };
	int r;

	rec->session.stopped = agent_is_stopped;
	rec->session.log.line = record_say_log;
	rec->session.log.ctx = (void *)a->cmd;
	rec->progress = record_say_progress;
	rec->progress_ctx = (void *)a->cmd;
	a->opts.rec = rec;
	a->opts.wakes = record_signals_wake;
	a->opts.program = "seam " SEAM_VERSION;
	a->opts.symbols = &a->naming.symbols;
	a->opts.no_inline = a->naming.no_inline;
	a->opts.all = &a->all;
	record_signals_catch();
	r = agent_run(&a->opts, &err);
	if (err.code)
		cmd_error(a->cmd, "%s", cmd_reason(&err, r));
	if (r >= 0)
		return EXIT_OK;
	return err.code && r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int agent_command(int argc, char **argv, const struct cmd *cmd)
{
	struct agent_cmd a = {
		.cmd = cmd,
		.o = { .rec = { .sz = sizeof(a.o.rec),
		                .session = { .sz = sizeof(a.o.rec.session),
		                             .frequency = FREQUENCY } },
		       .output = "-",
		       .argc = argc,
		       .argv = argv },
		.opts = { .sz = sizeof(a.opts),
		          .window_ns = WINDOW_NS,
		          .keep_ns = KEEP_NS,
		          .keep_bytes = KEEP_BYTES },
	};
	struct options o = options_start(argc, argv, cmd);
	int id, rc = EXIT_USAGE;

	if (naming_start(&a.naming, cmd) < 0)
		goto out;
	while ((id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_HELP)
			rc = EXIT_OK;
		if (id == OPTIONS_OPERAND)
			cmd_error(cmd, "takes no operand: '%s'", o.arg);
		if (id < 0 || agent_option(&a, &o, id) < 0)
			goto out;
	}
	if (o.at < argc)
		cmd_error(cmd, "takes no operand: '%s'", argv[o.at]);
	else if (agent_settle(&a) >= 0)
		rc = agent_do(&a);
out:
	record_options_free(&a.o);
	naming_end(&a.naming);
	labels_free(&a.all);
	free(a.default_url);
	return rc;
}

COMMAND(agent) = {
	.name = "agent",
	.synopsis = "[options]",
	.summary = "Sample the whole machine all the time, into a store",
	.details = CMD_PARAGRAPHS(
	        "Everything that runs is sampled, 19 times a second and CPU. Stacks are counted "
	        "in memory, named on this machine, and put into the stores as windows of 10 "
	        "seconds; seam report --store answers from there. Without --store it is sqlite: "
	        "with /var/lib/seam/seam.db for root, and seam/seam.db in the state directory "
	        "($XDG_STATE_HOME, ~/.local/state) for a user.",
	        "Samples of one set of labels are a series: comm, exe, build_id, unit, "
	        "container and pod (of the control group), host, kernel; service (the unit, the "
	        "container, or the program's name) and version (the first digits of the "
	        "build-id). --label sets others for all.",
	        "SIGTERM, SIGINT and SIGHUP end it; the last window is put then. A window is in "
	        "the store whole or not at all, however the agent ends. A store that cannot be "
	        "written loses the window: that is said once, and counted as lost samples in "
	        "the next window that it takes. One agent at a time writes to a store.",
	        "Not for months yet: its memory is not bounded (176 to 248 MB after minutes of "
	        "builds on 2 CPUs), and there it takes a seventh of a CPU, most of it to follow "
	        "programs that start. On a quiet machine both are less.",
	        "Exit status: 0; 1: recording is not possible, or a store cannot be written at "
	        "the beginning; 2: usage."),
	.options = agent_options,
	.run = agent_command,
};
