// SPDX-License-Identifier: MIT
/*
 * record_options.c: knows perf record's spelling. Defaults come from the config file through the
 * same functions, so a value means the same in both places; the command line wins.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asked/record_options.h"
#include "asked/record_filter.h"
#include "asked/record_offcpu.h"
#include "asked/record_values.h"
#include "recorder/live.h"

enum {
	RECORD_EVENT = 1,
	RECORD_PID,
	RECORD_TID,
	RECORD_UID,
	RECORD_COMM,
	RECORD_CGROUP,
	RECORD_OFF_CPU,
	RECORD_WALL,
	RECORD_PYTHON,
	RECORD_NO_PYTHON,
	RECORD_RUNTIMES,
	RECORD_NO_RUNTIMES,
	RECORD_NO_CONTEXT,
	RECORD_ALL_CPUS,
	RECORD_CPU,
	RECORD_FREQ,
	RECORD_STRICT_FREQ,
	RECORD_COUNT,
	RECORD_OUTPUT,
	RECORD_G,
	RECORD_CALL_GRAPH,
	RECORD_KEEP_STACKS,
	RECORD_UNWIND_THREADS,
	RECORD_MMAP_PAGES,
	RECORD_DELAY,
	RECORD_DURATION,
	RECORD_MAX_SIZE,
	RECORD_CLOCKID,
	RECORD_NO_INHERIT,
	RECORD_COMPRESS,
	RECORD_SWITCH_EVENTS,
	RECORD_NAMESPACES,
	RECORD_CGROUPS,
	RECORD_ALL_USER,
	RECORD_ALL_KERNEL,
	RECORD_DATA,
	RECORD_PHYS_DATA,
	RECORD_PERIOD,
	RECORD_TIMESTAMP,
	RECORD_SAMPLE_CPU,
	RECORD_WEIGHT,
	RECORD_NO_BUILDID,
	RECORD_GRACE,
	RECORD_UNWIND_MEMORY,
	RECORD_CONFIG,
	RECORD_QUIET,
	RECORD_VERBOSE,
};

const struct option_def record_option_defs[] = {
	{ "event", 'e', "EVENT", "events to sample, comma-separated; may be repeated",
	  RECORD_EVENT },
	{ "pid", 'p', "PID[,PID]", "record processes that run already, with all their threads",
	  RECORD_PID },
	{ "tid", 't', "TID[,TID]", "record single threads", RECORD_TID },
	{ "uid", 'u', "USER[,USER]", "only tasks of these users, by name or number", RECORD_UID },
	{ "comm", 0, "NAME[,NAME]", "only threads of these names", RECORD_COMM },
	{ "cgroup", 'G', "PATH[,PATH]", "only tasks of these cgroups, and of those below them",
	  RECORD_CGROUP },
	{ "all-cpus", 'a', NULL, "record everything that runs (default without command, -p and -t)",
	  RECORD_ALL_CPUS },
	{ "cpu", 'C', "LIST", "record everything that runs on these CPUs: 0-3,8", RECORD_CPU },
	{ "freq", 'F', "HZ", "samples per second and CPU, or max (default 4000)", RECORD_FREQ },
	{ "strict-freq", 0, NULL, "fail when the kernel does not allow the frequency",
	  RECORD_STRICT_FREQ },
	{ "count", 'c', "N", "a sample every N events instead", RECORD_COUNT },
	{ "output", 'o', "FILE", "file to write (default perf.data); - is standard output",
	  RECORD_OUTPUT },
	{ NULL, 'g', NULL, "callchains, the best that this machine allows (the default)",
	  RECORD_G },
	{ "call-graph", 0, "MODE",
	  "dwarf,defer[=always|=never]; fp[,DEPTH]; fp,defer[,DEPTH]; dwarf[,SIZE]; auto; none",
	  RECORD_CALL_GRAPH },
	{ "keep-stacks", 0, NULL,
	  "dwarf: keep the stack copies, to be unwound when the file is read", RECORD_KEEP_STACKS },
	{ "unwind-threads", 0, "N", "dwarf: threads that unwind while recording (default 1)",
	  RECORD_UNWIND_THREADS },
	{ "unwind-memory", 0, "SIZE",
	  "dwarf,defer: memory for unwind tables in the kernel, 1M to 4G (default 1G)",
	  RECORD_UNWIND_MEMORY },
	{ "off-cpu", 0, "[TIME]",
	  "also a sample for each TIME that a thread does not run: 500us, 2ms (default 1ms)",
	  RECORD_OFF_CPU },
	{ "off-cpu-thresh", 0, "MS", "the same, as perf spells it", RECORD_OFF_CPU },
	{ "wall", 0, NULL,
	  "all time of each thread: cpu-clock, whose periods add up, and --off-cpu", RECORD_WALL },
	{ "runtimes", 0, "LIST",
	  "functions of these interpreters in the stacks, and of no others: python (CPython 3.8 to "
	  "3.15), v8 (JavaScript of Node 18 to 26), hotspot (Java: OpenJDK 17, 21, 25), php (8.2, "
	  "8.4), ruby (3.1, 3.3, 3.4), perl (5.36, 5.40, 5.42); fail where BPF programs, which "
	  "walk them, are not allowed. By default all, where they are: those that the command's "
	  "words lead to, or that run already, at the first sample, others from when a process is "
	  "seen to run one; what is named here is ready at the first sample",
	  RECORD_RUNTIMES },
	{ "no-runtimes", 0, NULL, "only native stacks of interpreters", RECORD_NO_RUNTIMES },
	{ "python", 0, NULL, "functions of Python in the stacks, or fail as --runtimes does",
	  RECORD_PYTHON },
	{ "no-context", 0, NULL,
	  "do not ask for whom threads work (OpenTelemetry's traces, Go's labels)",
	  RECORD_NO_CONTEXT },
	{ "no-python", 0, NULL, "only native stacks of Python's processes", RECORD_NO_PYTHON },
	{ "mmap-pages", 'm', "N", "size of the ring of each CPU: pages, or bytes as 512K, 4M",
	  RECORD_MMAP_PAGES },
	{ "delay", 'D', "MS", "start sampling this long after the command started", RECORD_DELAY },
	{ "duration", 0, "SECONDS", "stop by itself; a command is sent SIGTERM then",
	  RECORD_DURATION },
	{ "max-size", 0, "SIZE", "stop when the file is this large: 100M, 2G", RECORD_MAX_SIZE },
	{ "clockid", 'k', "CLOCK", "clock of the times: monotonic, monotonic_raw, boottime ...",
	  RECORD_CLOCKID },
	{ "no-inherit", 'i', NULL, "do not follow children", RECORD_NO_INHERIT },
	{ "compression-level", 'z', "[LEVEL]", "compress with zstd, 1 to 22 (-z is 1)",
	  RECORD_COMPRESS },
	{ "switch-events", 0, NULL, "record context switches", RECORD_SWITCH_EVENTS },
	{ "namespaces", 0, NULL, "record namespaces", RECORD_NAMESPACES },
	{ "all-cgroups", 0, NULL, "record cgroups", RECORD_CGROUPS },
	{ "all-user", 0, NULL, "sample user space only", RECORD_ALL_USER },
	{ "all-kernel", 0, NULL, "sample the kernel only", RECORD_ALL_KERNEL },
	{ "data", 'd', NULL, "record data addresses and mappings", RECORD_DATA },
	{ "phys-data", 0, NULL, "record physical data addresses", RECORD_PHYS_DATA },
	{ "period", 'P', NULL, "record the period of each sample", RECORD_PERIOD },
	{ "timestamp", 'T', NULL, "record times (always done)", RECORD_TIMESTAMP },
	{ "sample-cpu", 0, NULL, "record the CPU of each sample", RECORD_SAMPLE_CPU },
	{ "weight", 'W', NULL, "record weights", RECORD_WEIGHT },
	{ "no-buildid", 'B', NULL, "do not record build-ids", RECORD_NO_BUILDID },
	{ "grace", 0, "MS", "wait this long for deferred stacks at the end (default 100)",
	  RECORD_GRACE },
	{ "config", 0, "FILE", "read defaults from here", RECORD_CONFIG },
	{ "raw-samples", 'R', NULL, "record the fields of tracepoints (always done)",
	  OPTIONS_ACCEPTED },
	{ "no-buildid-cache", 'N', NULL, "copy no files to a cache (never done)",
	  OPTIONS_ACCEPTED },
	{ "quiet", 'q', NULL, "say nothing but errors", RECORD_QUIET },
	{ "verbose", 'v', NULL, "say more; -vv prints every attr that is tried", RECORD_VERBOSE },
	{ NULL, 0, NULL, NULL, 0 },
};

/* Sets an option whose value is more than a switch. */
static int record_set(struct record_opts *o, int id, const struct record_arg *a)
{
	uint64_t v;
	bool is_bytes;
	int error;

	switch (id) {
	case RECORD_EVENT:
		return record_values_events(o, a);
	case RECORD_PID:
	case RECORD_TID:
		if (o->rec.session.n_pids && o->rec.by_tid != (id == RECORD_TID))
			return record_values_wrong(a, "-p and -t cannot be given together");
		o->rec.by_tid = id == RECORD_TID;
		return record_values_pids(o, a);
	case RECORD_UID:
		return record_filter_uid(o, a);
	case RECORD_COMM:
		return record_filter_comm(o, a);
	case RECORD_CGROUP:
		return record_filter_cgroup(o, a);
	case RECORD_OFF_CPU:
		return record_offcpu_time(o, a);
	case RECORD_CPU:
		return record_values_cpus(o, a);
	case RECORD_FREQ:
		return record_values_freq(o, a);
	case RECORD_COUNT:
		o->rec.session.frequency = 0;
		return record_values_plain_number(a, 1, INT64_MAX, &o->rec.session.period);
	case RECORD_CALL_GRAPH:
		return record_values_call_graph(o, a);
	case RECORD_UNWIND_THREADS:
		error = record_values_plain_number(a, 1, LIVE_THREADS_MAX, &v);
		if (!error)
			o->rec.unwind_threads = (unsigned)v;
		return error;
	case RECORD_MMAP_PAGES:
		return record_values_mmap_pages(o, a);
	case RECORD_DELAY:
		return record_values_plain_number(a, 0, INT32_MAX, &o->delay_ms);
	case RECORD_DURATION:
		return record_values_duration(o, a);
	case RECORD_MAX_SIZE:
		return record_values_size(a, &o->max_size, &is_bytes);
	case RECORD_CLOCKID:
		return record_values_clockid(o, a);
	case RECORD_COMPRESS:
		return record_values_compress(o, a, 1);
	case RECORD_UNWIND_MEMORY:
		return record_values_unwind_memory(o, a);
	case RECORD_RUNTIMES:
		return record_values_runtimes(o, a);
	case RECORD_GRACE:
		/* In the options of a recording 0 means the default, so none at all is the largest
		 * number. */
		error = record_values_plain_number(a, 0, 3600000, &v);
		if (!error)
			o->rec.grace_ms = v ? (uint32_t)v : UINT32_MAX;
		return error;
	default:
		return 0;
	}
}

/* Sets an option that is a switch, or whose text is taken as it is. */
static void record_switch(struct record_opts *o, int id, const char *text)
{
	switch (id) {
	case RECORD_OUTPUT:
		o->output = text;
		break;
	case RECORD_ALL_CPUS:
		o->system_wide = true;
		break;
	case RECORD_WALL:
		o->rec.wall = true;
		break;
	case RECORD_PYTHON:
		o->rec.runtimes |= 1u << RUNTIME_PYTHON;
		o->rec.no_runtimes &= ~(1u << RUNTIME_PYTHON);
		break;
	case RECORD_NO_PYTHON:
		o->rec.runtimes &= ~(1u << RUNTIME_PYTHON);
		o->rec.no_runtimes |= 1u << RUNTIME_PYTHON;
		break;
	case RECORD_NO_RUNTIMES:
		o->rec.runtimes = 0;
		o->rec.no_runtimes = RUNTIMES_ALL;
		break;
	case RECORD_NO_CONTEXT:
		o->rec.no_context = true;
		break;
	case RECORD_STRICT_FREQ:
		o->rec.session.strict_frequency = true;
		break;
	case RECORD_G:
		o->rec.session.callchain = SESSION_CALLCHAIN_AUTO;
		break;
	case RECORD_KEEP_STACKS:
		o->rec.keep_stacks = true;
		break;
	case RECORD_NO_INHERIT:
		o->rec.session.no_inherit = true;
		break;
	case RECORD_SWITCH_EVENTS:
		o->rec.session.context_switch = true;
		break;
	case RECORD_NAMESPACES:
		o->rec.session.namespaces = true;
		break;
	case RECORD_CGROUPS:
		o->rec.session.cgroups = true;
		break;
	case RECORD_ALL_USER:
		o->rec.session.all_user = true;
		break;
	case RECORD_ALL_KERNEL:
		o->rec.session.all_kernel = true;
		break;
	case RECORD_DATA:
		o->rec.session.sample_addr = true;
		o->rec.data_maps = true;
		break;
	case RECORD_PHYS_DATA:
		o->rec.session.sample_phys_addr = true;
		break;
	case RECORD_PERIOD:
		o->rec.session.sample_period = true;
		break;
	case RECORD_SAMPLE_CPU:
		o->rec.session.sample_cpu = true;
		break;
	case RECORD_WEIGHT:
		o->rec.session.sample_weight = true;
		break;
	case RECORD_NO_BUILDID:
		o->rec.no_build_ids = true;
		break;
	case RECORD_QUIET:
		o->quiet = true;
		break;
	case RECORD_VERBOSE:
		o->verbose++;
		break;
	default:
		break;
	}
}

/* Takes a setting of the config file as if it were an option. 0 also where the file does not set
 * it. */
static int record_from_config(struct record_opts *o, const struct cmd *cmd, const char *name,
                              int (*set)(struct record_opts *, const struct record_arg *))
{
	struct record_arg a = {
		.cmd = cmd,
		.what = config_where(o->config, name),
		.text = config_get(o->config, name),
	};

	return a.text ? set(o, &a) : 0;
}

/* For record_from_config: here 0 stands for no compression. */
static int record_config_compress(struct record_opts *o, const struct record_arg *a)
{
	return record_values_compress(o, a, 0);
}

/* For record_from_config. The text lives as long as o->config. */
static int record_config_output(struct record_opts *o, const struct record_arg *a)
{
	o->output = a->text;
	return 0;
}

/* Reads the config file, and takes its settings. path NULL: the file where it is looked for.
 * -EINVAL after saying what is wrong. */
static int record_config(struct record_opts *o, const char *path, const struct cmd *cmd)
{
	struct seam_error err = { 0 };

	if (config_load(&o->config, path, &err) < 0) {
		cmd_error(cmd, "%s", err.text);
		return -EINVAL;
	}
	if (record_from_config(o, cmd, "record.freq", record_values_freq) < 0 ||
	    record_from_config(o, cmd, "record.mmap-pages", record_values_mmap_pages) < 0 ||
	    record_from_config(o, cmd, "record.compression-level", record_config_compress) < 0 ||
	    record_from_config(o, cmd, "record.output", record_config_output) < 0 ||
	    record_from_config(o, cmd, "call-graph.record-mode", record_values_call_graph) < 0)
		return -EINVAL;
	return 0;
}

/* "-F" or "--call-graph", as it is spelled in the table. */
static const char *record_spelling(int id, char *text, size_t n)
{
	for (const struct option_def *d = record_option_defs; d->id; d++) {
		if (d->id == id && d->short_name)
			snprintf(text, n, "-%c", d->short_name);
		else if (d->id == id)
			snprintf(text, n, "--%s", d->long_name);
	}
	return text;
}

/* Walks the options. It is called twice: first only to find --config, then for all, which replace
 * the config file's values. */
static int record_walk(struct record_opts *o, struct options *walk, const char **config)
{
	char what[40];
	int id;

	while ((id = options_next(walk)) > 0) {
		struct record_arg a = { .cmd = walk->cmd, .text = walk->arg };

		a.what = record_spelling(id, what, sizeof(what));
		/* The first walk only looks for --config: the file's values must be set before
		 * those of other options. */
		if (config && id == RECORD_CONFIG)
			*config = walk->arg;
		if (config)
			continue;
		if (record_set(o, id, &a) < 0)
			return OPTIONS_USAGE;
		record_switch(o, id, walk->arg);
	}
	return id == OPTIONS_END ? 0 : id;
}

/* Sets what follows from all options together, and checks that they go together. */
static int record_settle(struct record_opts *o, const struct cmd *cmd)
{
	struct session_opts *s = &o->rec.session;

	/* -e adds to what is there, so the file's events count only where none was given. */
	if (!o->events.n && record_from_config(o, cmd, "record.events", record_values_events) < 0)
		return OPTIONS_USAGE;
	if (s->all_user && s->all_kernel) {
		cmd_error(cmd, "--all-user and --all-kernel leave nothing to sample");
		return OPTIONS_USAGE;
	}
	if (s->n_pids && (o->system_wide || s->n_cpus)) {
		cmd_error(cmd, "%s cannot be given with %s", o->rec.by_tid ? "-t" : "-p",
		          o->system_wide ? "-a" : "-C");
		return OPTIONS_USAGE;
	}
	if (!strcmp(o->output, "-") && isatty(STDOUT_FILENO)) {
		cmd_error(cmd, "-o -: standard output is a terminal");
		return OPTIONS_USAGE;
	}
	if (s->n_pids)
		s->target = o->rec.by_tid ? SESSION_TASKS : SESSION_PIDS;
	else if (o->system_wide || s->n_cpus || !o->rec.command)
		s->target = SESSION_SYSTEM;
	else
		s->target = SESSION_TASKS;
	o->rec.events = &o->events;
	if (record_offcpu_settle(o, cmd) < 0 || record_filter_settle(o, cmd) < 0)
		return OPTIONS_USAGE;
	s->pids = o->pids;
	s->cpus = o->cpus;
	s->events = &o->events;
	s->unwinds = !o->rec.keep_stacks;
	s->build_id = !o->rec.no_build_ids;
	s->log.level = o->quiet ? -1 : o->verbose > 2 ? 2 : o->verbose;
	return 0;
}

/* The options are walked twice, because those on the command line win over the file that --config
 * names. */
int record_options_parse(struct record_opts *ret, int argc, char **argv, const struct cmd *cmd)
{
	struct options walk = options_start(argc, argv, cmd);
	const char *config = NULL;
	int error;

	*ret = (struct record_opts){
		.rec = { .sz = sizeof(ret->rec), .session.sz = sizeof(ret->rec.session) },
		.output = "perf.data",
		.argc = argc,
		.argv = argv,
	};
	error = record_walk(ret, &walk, &config);
	if (error)
		return error;
	if (record_config(ret, config, cmd) < 0)
		return OPTIONS_USAGE;
	walk = options_start(argc, argv, cmd);
	error = record_walk(ret, &walk, NULL);
	if (error)
		return error;
	if (walk.at < argc)
		ret->rec.command = argv + walk.at;
	return record_settle(ret, cmd);
}

/* What a failed parse left is freed, too. */
void record_options_free(struct record_opts *o)
{
	event_list_free(&o->events);
	config_free(o->config);
	free(o->pids);
	free(o->cpus);
}
