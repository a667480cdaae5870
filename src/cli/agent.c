// SPDX-License-Identifier: MIT
/*
 * agent.c: `seam agent`: the whole machine, all the time, into a store.
 *
 * It takes seam record's options of what is sampled, and its functions for them; what the agent
 * does is agent/'s.
 */
#include "agent/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli/cmds.h"
#include "asked/record_offcpu.h"
#include "cli/record/record_say.h"
#include "asked/record_signals.h"
#include "asked/record_values.h"
#include "cmd/settings.h"
#include "input/naming.h"
#include "input/stored.h"
#include "base/when.h"

/* Odd, so that it does not run in step with what programs do a round number of times a second. */
#define FREQUENCY 19
/* The length of a window, unless --window says another. */
#define WINDOW_NS 10000000000ULL
#define WINDOW_LEAST_NS 1000000000ULL
#define WINDOW_MOST_NS 600000000000ULL
#define KEEP_NS (30ULL * 86400 * 1000000000)
#define KEEP_BYTES (2ULL << 30)
#define DAY_BYTES 250000000ULL
#define MEMORY (150ULL << 20)

enum {
	OPT_STORE = 1,
	OPT_FREQ,
	OPT_EVENT,
	OPT_WINDOW,
	OPT_OFF_CPU,
	OPT_DURATION,
	OPT_KEEP,
	OPT_KEEP_BYTES,
	OPT_DAY_BYTES,
	OPT_LABEL,
	OPT_CALL_GRAPH,
	OPT_MAX_CPU,
	OPT_MEMORY,
	OPT_SERIES,
	OPT_METRICS,
	OPT_CONFIG,
	OPT_CHECK,
};

static const struct option_def agent_options[] = {
	{ "store", 0, "URL",
	  "where windows go: " STORED_KINDS ", or those of seam push; may be given more than once",
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
	{ "day-size", 0, "SIZE",
	  "fold rare stacks where a day of an SQLite store takes more (250M); 0: never",
	  OPT_DAY_BYTES },
	{ "label", 0, "LABEL=VALUE", "a label of all series: zone=a", OPT_LABEL },
	{ "series", 0, "KEYS", "pid, tid: a series for each process, for each thread (many)",
	  OPT_SERIES },
	{ "max-cpu", 0, "PERCENT", "of one CPU: above it the rate is lowered (no limit)",
	  OPT_MAX_CPU },
	{ "memory", 0, "SIZE",
	  "what the agent may have (150M, or the least that can be kept); 0: no limit",
	  OPT_MEMORY },
	{ "metrics", 0, "ADDRESS", "/metrics and /health there: 127.0.0.1:9464 (nowhere)",
	  OPT_METRICS },
	{ "config", 0, "FILE", "options, labels and rules from here; SIGHUP reads it again",
	  OPT_CONFIG },
	{ "check", 0, NULL, "say what it would do, and what is wrong, and do nothing", OPT_CHECK },
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
	struct settings settings;
	const char *config; /* their file; NULL: none */
	struct process_opts processes;
	bool check, urls_of_config; /* check only; no --store came yet */
	struct agent_opts opts;
};

/* Set by SIGHUP: the config file is to be read again. */
static volatile sig_atomic_t agent_hup;

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
static int agent_size(const struct agent_cmd *a, const char *option, const char *text,
                      uint64_t *ret)
{
	const struct record_arg arg = { a->cmd, option, text };
	bool is_bytes;

	if (!strcmp(text, "0")) {
		*ret = 0;
		return 0;
	}
	if (record_values_size(&arg, ret, &is_bytes) < 0)
		return -EINVAL;
	if (is_bytes)
		return 0;
	cmd_error(a->cmd, "%s: '%s' is no size; they are 500M, 2G", option, text);
	return -EINVAL;
}

/* Without --memory. With many CPUs it is more. */
static uint64_t agent_default_memory(void)
{
	uint64_t least = agent_memory_least();

	return least > MEMORY ? least : MEMORY;
}

/* Whether the limit of memory is one that can be kept. -EINVAL after saying that it is not. */
static int agent_enough(const struct agent_cmd *a)
{
	uint64_t least = agent_memory_least();

	if (!a->opts.memory || a->opts.memory >= least)
		return 0;
	cmd_error(a->cmd, "--memory: %lluM cannot be kept here, at least %lluM can",
	          (unsigned long long)(a->opts.memory >> 20), (unsigned long long)(least >> 20));
	return -EINVAL;
}

/* --max-cpu, --series. -EINVAL after saying what is wrong. */
static int agent_limit(struct agent_cmd *a, int id, const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (id == OPT_SERIES) {
		a->processes.tid = strstr(text, "tid") != NULL;
		a->processes.pid = !strcmp(text, "pid") || !strcmp(text, "pid,tid");
		if (a->processes.pid || !strcmp(text, "tid"))
			return 0;
		cmd_error(a->cmd, "--series: '%s' is not pid, tid or pid,tid", text);
	} else if (end == text || *end || !(v > 0 && v <= 100000)) {
		cmd_error(a->cmd, "--max-cpu: '%s' is no percentage above 0", text);
	} else {
		a->opts.max_cpu = v;
		return 0;
	}
	return -EINVAL;
}

/* Takes one option of the command line. 0, or -EINVAL after saying what is wrong with it. */
static int agent_option(struct agent_cmd *a, const struct options *o, int id)
{
	switch (id) {
	case OPT_STORE:
		/* Stores of the command line stand for those of the config file. */
		if (a->urls_of_config && o->argv)
			a->opts.n_urls = 0;
		a->urls_of_config &= !o->argv;
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
		return agent_size(a, "--keep-size", o->arg, &a->opts.keep_bytes);
	case OPT_DAY_BYTES:
		return agent_size(a, "--day-size", o->arg, &a->opts.day_bytes);
	case OPT_MEMORY:
		return agent_size(a, "--memory", o->arg, &a->opts.memory) < 0 ? -EINVAL
		                                                              : agent_enough(a);
	case OPT_MAX_CPU:
	case OPT_SERIES:
		return agent_limit(a, id, o->arg);
	case OPT_METRICS:
		a->opts.metrics = o->arg;
		return 0;
	case OPT_CONFIG:
	case OPT_CHECK:
		a->check |= id == OPT_CHECK;
		return 0;
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

/* Takes one line of the config file. -EINVAL after saying what is wrong with it. */
static int agent_setting(struct agent_cmd *a, const struct setting *s)
{
	struct options o;
	int r = -EINVAL;

	if (!strcmp(s->section, "agent")) {
		r = settings_option(s, a->cmd, &o);
		if (r == OPTIONS_END || r == OPTIONS_USAGE)
			return r == OPTIONS_END ? 0 : -EINVAL;
		r = r == OPT_CONFIG || r == OPT_CHECK ? -EINVAL : agent_option(a, &o, r);
	} else if (!strcmp(s->section, "labels")) {
		r = labels_set(&a->all, s->name, s->value);
	} else if (!strcmp(s->section, "service") || !strcmp(s->section, "version")) {
		r = rules_add(&a->processes.rules, s->section, s->name, s->value);
	}
	if (r < 0)
		cmd_error(a->cmd, "%s: '%s' cannot be in [%s] so", s->where, s->name, s->section);
	return r;
}

/* Reads the config file, if there is one on the command line: first, because that wins. */
static int agent_config(struct agent_cmd *a, int argc, char **argv)
{
	struct options o = options_start(argc, argv, a->cmd);
	struct seam_error err = { 0 };
	int id, r = 0;

	while ((id = options_next(&o)) != OPTIONS_END && id != OPTIONS_USAGE && id != OPTIONS_HELP)
		if (id == OPT_CONFIG)
			a->config = o.arg;
	if (id < 0)
		return id;
	if (a->config && settings_load(&a->settings, a->config, &err) < 0) {
		cmd_error(a->cmd, "%s", err.text);
		return OPTIONS_USAGE;
	}
	for (size_t i = 0; i < a->settings.n && r >= 0; i++)
		r = agent_setting(a, &a->settings.at[i]);
	return r < 0 ? OPTIONS_USAGE : 0;
}

static void agent_free(struct agent_cmd *a)
{
	record_options_free(&a->o);
	naming_end(&a->naming);
	labels_free(&a->all);
	rules_free(&a->processes.rules);
	settings_free(&a->settings);
	free(a->default_url);
}

/* All that a command line and its config file ask for; agent_free, also on failure. 0, OPTIONS_HELP
 * or OPTIONS_USAGE, which were said. */
static int agent_parse(struct agent_cmd *a, int argc, char **argv, const struct cmd *cmd)
{
	struct options o = options_start(argc, argv, cmd);
	int id;

	*a = (struct agent_cmd){
		.cmd = cmd,
		.o = { .rec = { .sz = sizeof(a->o.rec),
		                .session = { .sz = sizeof(a->o.rec.session),
		                             .frequency = FREQUENCY } },
		       .output = "-",
		       .argc = argc,
		       .argv = argv },
		.urls_of_config = true,
		.opts = { .sz = sizeof(a->opts),
		          .window_ns = WINDOW_NS,
		          .keep_ns = KEEP_NS,
		          .keep_bytes = KEEP_BYTES,
		          .day_bytes = DAY_BYTES,
		          .memory = agent_default_memory() },
	};
	if (naming_start(&a->naming, cmd) < 0)
		return OPTIONS_USAGE;
	id = agent_config(a, argc, argv);
	while (id >= 0 && (id = options_next(&o)) != OPTIONS_END) {
		if (id == OPTIONS_OPERAND)
			cmd_error(cmd, "takes no operand: '%s'", o.arg);
		if (id == OPTIONS_OPERAND || (id > 0 && agent_option(a, &o, id) < 0))
			id = OPTIONS_USAGE;
	}
	if (!id && o.at < argc) {
		cmd_error(cmd, "takes no operand: '%s'", argv[o.at]);
		id = OPTIONS_USAGE;
	}
	return id ? id : agent_settle(a) < 0 ? OPTIONS_USAGE : 0;
}

/* For the recorder, which asks while it opens many events. */
static bool agent_is_stopped(void)
{
	bool was_sent;

	return record_signals_asked(&was_sent);
}

static void agent_on_hup(int number)
{
	agent_hup = number;
}

/* Two command lines: what is done, and what a reload asks for. */
struct agent_runs {
	struct agent_cmd at[2];
	unsigned now;
	bool ready; /* the other one is to come */
};

/* For agent_run: after SIGHUP, whether the config file makes sense. If not, that is said, and
 * nothing changes. */
static bool agent_anew(void *ctx)
{
	struct agent_runs *runs = ctx;
	const struct agent_cmd *a = &runs->at[runs->now];
	struct agent_cmd *next = &runs->at[!runs->now];

	if (!agent_hup || runs->ready)
		return runs->ready;
	agent_hup = 0;
	runs->ready = !agent_parse(next, a->o.argc, a->o.argv, a->cmd);
	cmd_error(a->cmd, runs->ready ? "%s was read again" : "%s: the settings stay as they were",
	          a->config);
	if (!runs->ready)
		agent_free(next);
	return runs->ready;
}

/* Fills what an agent is told that is not on the command line. */
static void agent_fill(struct agent_runs *runs)
{
	struct agent_cmd *a = &runs->at[runs->now];
	struct recorder_opts *rec = &a->o.rec;

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
	a->opts.processes = &a->processes;
	a->opts.anew = a->config ? agent_anew : NULL;
	a->opts.anew_ctx = runs;
}

/* Runs the agent until it ends, with other options after each reload. An exit code. A failure that
 * comes of the options is EXIT_USAGE. */
static int agent_do(struct agent_runs *runs)
{
	const struct sigaction hup = { .sa_handler = agent_on_hup, .sa_flags = SA_RESTART };
	const struct cmd *cmd = runs->at[0].cmd;
	struct seam_error err = { 0 };
	int r;

	agent_fill(runs);
	record_signals_catch();
	if (runs->at[0].check)
		return agent_check(&runs->at[0].opts) < 0 ? EXIT_FAILED : EXIT_OK;
	if (runs->at[0].config)
		sigaction(SIGHUP, &hup, NULL);
	while ((r = agent_run(&runs->at[runs->now].opts, &err)) == AGENT_ANEW) {
		agent_free(&runs->at[runs->now]);
		runs->now = !runs->now;
		runs->ready = false;
		agent_fill(runs);
	}
	if (err.code)
		cmd_error(cmd, "%s", cmd_reason(&err, r));
	if (r >= 0)
		return EXIT_OK;
	return err.code && r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

/* The command: reads its options, does the work, and frees everything at one place. An exit
 * code. */
static int agent_command(int argc, char **argv, const struct cmd *cmd)
{
	struct agent_runs runs = { 0 };
	int id = agent_parse(&runs.at[0], argc, argv, cmd);
	int rc = id == OPTIONS_HELP ? EXIT_OK : id ? EXIT_USAGE : agent_do(&runs);

	agent_free(&runs.at[runs.now]);
	if (runs.ready)
		agent_free(&runs.at[!runs.now]);
	return rc;
}

COMMAND(agent) = {
	.name = "agent",
	.lasts = true,
	.synopsis = "[options]",
	.summary = "Sample the whole machine all the time, into a store",
	.details = CMD_PARAGRAPHS(
	        "Everything that runs is sampled, 19 times a second and CPU. Stacks are counted "
	        "in memory, named on this machine, and put into the stores as windows of 10 "
	        "seconds; seam report --store answers from there. Without --store it is sqlite: "
	        "with /var/lib/seam/seam.db for root, and seam/seam.db in the state directory "
	        "($XDG_STATE_HOME, ~/.local/state) for a user.",
	        "Samples of one set of labels are a series: comm, exe, build_id, host, kernel; "
	        "unit, container, pod, pod_uid (of the control group); namespace, pod, "
	        "container_name, image (where the kubelet, containerd, CRI-O, Podman or Docker "
	        "keep them); service and version. A rule names the service, or else the program "
	        "itself (OpenTelemetry's process context, OTEL_SERVICE_NAME, "
	        "OTEL_RESOURCE_ATTRIBUTES), the unit, the container, or the program's file. A "
	        "version comes from a rule, from OpenTelemetry, from the image's name, or is the "
	        "first digits of the build-id. What --label says wins. Processes that ended "
	        "before their window did have what their samples say.",
	        "--config FILE has options below [agent] (freq = 19, off-cpu = true), labels "
	        "below [labels] (zone = a), and rules below [service] and [version]: checkout = "
	        "unit=checkout-*.service,exe=/opt/*. What is in front is the label's value; "
	        "conditions are patterns of labels, of cgroup (the path) and of env.NAME, which "
	        "must all fit; the first rule that fits holds, and sees what rules above it set. "
	        "The command line wins. SIGHUP reads the file again: if it makes no sense, that "
	        "is said and nothing changes.",
	        "SIGTERM and SIGINT end it, and SIGHUP without --config; the last window is put "
	        "then. A window is in the store whole or not at all, however the agent ends. A "
	        "store that cannot be written loses the window: that is said once, and counted "
	        "as lost samples in the next window that it takes. There is one agent on a "
	        "machine, by a lock in /run/seam ($RUNTIME_DIRECTORY).",
	        "--max-cpu is of one CPU, and of all that the agent does. After two windows that "
	        "took more, or some whose average is more, it samples less often, down to once a "
	        "second, and later more often again. Weights are time, so sums stay true. What it "
	        "costs to follow programs "
	        "that start does not become less by that.",
	        "--memory: what the process may have resident, pages of files included. The "
	        "kernel's unwind tables have a quarter of what is above 40 MB, samples that wait "
	        "an eighth. Where there is no room for the symbols or the debugging information of "
	        "a large "
	        "program, its functions or lines have no names in that window. A limit that "
	        "cannot be kept on this machine is refused, with the least one that can; --check "
	        "says that one, too.",
	        "--check says what it would do and what is wrong: whether the stores can be "
	        "written, the address of --metrics be listened at, and stacks be taken. Nothing "
	        "is sampled.",
	        "Exit status: 0; 1: recording is not possible, or a store cannot be written at "
	        "the beginning; 2: usage, or a config file that makes no sense."),
	.options = agent_options,
	.run = agent_command,
};
