// SPDX-License-Identifier: MIT
/*
 * record_options.c: knows perf record's spelling. Defaults come from the config file through the same
 * functions, so a value means the same in both places; the command line wins.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/record_options.h"

enum {
	RECORD_EVENT = 1,
	RECORD_PID,
	RECORD_TID,
	RECORD_ALL_CPUS,
	RECORD_CPU,
	RECORD_FREQ,
	RECORD_STRICT_FREQ,
	RECORD_COUNT,
	RECORD_OUTPUT,
	RECORD_G,
	RECORD_CALL_GRAPH,
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
	{ "call-graph", 0, "MODE", "fp[,DEPTH]; fp,defer[,DEPTH]; auto; none", RECORD_CALL_GRAPH },
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
	{ "quiet", 'q', NULL, "say nothing but errors", RECORD_QUIET },
	{ "verbose", 'v', NULL, "say more; -vv prints every attr that is tried", RECORD_VERBOSE },
	{ NULL, 0, NULL, NULL, 0 },
};

/* The value being looked at, and where it came from, for messages. */
struct record_arg {
	const struct cmd *cmd;
	const char *what; /* "-F", or "FILE:LINE: record.freq" */
	const char *text;
};

static int record_wrong(const struct record_arg *a, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

static int record_wrong(const struct record_arg *a, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cmd_error(a->cmd, "%s: %s", a->what, text);
	return -EINVAL;
}

static int record_number(const struct record_arg *a, const char *text, const char *end,
                         uint64_t least, uint64_t most, uint64_t *ret)
{
	uint64_t v = 0;
	const char *p = text;

	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		if (v > (UINT64_MAX - 9) / 10)
			break;
		v = v * 10 + (uint64_t)(*p - '0');
	}
	if (p == text || p != end || v < least || v > most)
		return record_wrong(a, "'%.*s' is not a number from %llu to %llu",
		                    (int)(end - text), text, (unsigned long long)least,
		                    (unsigned long long)most);
	*ret = v;
	return 0;
}

static int record_plain_number(const struct record_arg *a, uint64_t least, uint64_t most,
                               uint64_t *ret)
{
	return record_number(a, a->text, a->text + strlen(a->text), least, most, ret);
}

/* Bytes: "512K", "4M", "1G", "100B". *is_bytes is false for a bare number. */
static int record_size(const struct record_arg *a, uint64_t *ret, bool *is_bytes)
{
	static const char units[] = "BKMGbkmg";
	size_t n = strlen(a->text);
	const char *unit = n ? strchr(units, a->text[n - 1]) : NULL;
	unsigned shift = unit ? (unsigned)((unit - units) % 4) * 10 : 0;

	*is_bytes = unit;
	if (record_number(a, a->text, a->text + n - (unit != NULL), 1, UINT64_MAX >> 31, ret) < 0)
		return -EINVAL;
	*ret <<= shift;
	return 0;
}

static int record_set_pids(struct record_opts *o, const struct record_arg *a)
{
	const char *at = a->text;

	while (true) {
		const char *end = at + strcspn(at, ",");
		pid_t *grown;
		uint64_t v;

		if (record_number(a, at, end, 1, INT32_MAX, &v) < 0)
			return -EINVAL;
		grown = realloc(o->pids, (o->session.n_pids + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		o->pids = grown;
		o->pids[o->session.n_pids++] = (pid_t)v;
		if (!*end)
			return 0;
		at = end + 1;
	}
}

static int record_set_cpus(struct record_opts *o, const struct record_arg *a)
{
	int *cpus = NULL;
	int n = kernel_cpu_list(a->text, &cpus);

	if (n <= 0)
		return record_wrong(a, "'%s' is not a list of CPUs, as 0-3,8", a->text);
	free(o->cpus);
	o->cpus = cpus;
	o->session.n_cpus = (size_t)n;
	return 0;
}

static int record_set_freq(struct record_opts *o, const struct record_arg *a)
{
	uint64_t v = UINT64_MAX;

	if (strcmp(a->text, "max") && record_plain_number(a, 1, 1000000000, &v) < 0)
		return -EINVAL;
	o->session.frequency = v;
	o->session.period = 0;
	return 0;
}

static int record_set_depth(struct record_opts *o, const struct record_arg *a, const char *text)
{
	uint64_t v;

	if (record_number(a, text, text + strlen(text), 1, UINT16_MAX, &v) < 0)
		return -EINVAL;
	o->session.max_stack = (uint16_t)v;
	return 0;
}

static int record_set_call_graph(struct record_opts *o, const struct record_arg *a)
{
	const char *t = a->text;

	if (!strcmp(t, "auto"))
		o->session.callchain = SESSION_CALLCHAIN_AUTO;
	else if (!strcmp(t, "none") || !strcmp(t, "no"))
		o->session.callchain = SESSION_CALLCHAIN_NONE;
	else if (!strncmp(t, "fp,defer", 8) && (!t[8] || t[8] == ','))
		o->session.callchain = SESSION_CALLCHAIN_FP_DEFER;
	else if (!strncmp(t, "fp", 2) && (!t[2] || t[2] == ','))
		o->session.callchain = SESSION_CALLCHAIN_FP;
	else if (!strncmp(t, "dwarf", 5) || !strncmp(t, "lbr", 3))
		return record_wrong(a,
		                    "seam takes stacks by frame pointers: fp, fp,defer, auto; "
		                    "'%s' it cannot record",
		                    t);
	else
		return record_wrong(a, "'%s' is none of fp, fp,defer, auto, none", t);
	o->session.max_stack = 0;
	if (o->session.callchain == SESSION_CALLCHAIN_FP_DEFER && t[8])
		return record_set_depth(o, a, t + 9);
	if (o->session.callchain == SESSION_CALLCHAIN_FP && t[2])
		return record_set_depth(o, a, t + 3);
	return 0;
}

static int record_set_mmap_pages(struct record_opts *o, const struct record_arg *a)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), v;
	bool is_bytes;

	if (record_size(a, &v, &is_bytes) < 0)
		return -EINVAL;
	if (is_bytes)
		v = (v + page - 1) / page;
	if (v > (1ull << 31) / page)
		return record_wrong(a, "'%s': a ring of more than 2 GiB", a->text);
	o->session.mmap_pages = (size_t)v;
	return 0;
}

static int record_set_clockid(struct record_opts *o, const struct record_arg *a)
{
	static const struct {
		const char *name;
		int32_t id;
	} clocks[] = {
		{ "monotonic", CLOCK_MONOTONIC },
		{ "mono", CLOCK_MONOTONIC },
		{ "monotonic_raw", CLOCK_MONOTONIC_RAW },
		{ "raw", CLOCK_MONOTONIC_RAW },
		{ "realtime", CLOCK_REALTIME },
		{ "real", CLOCK_REALTIME },
		{ "boottime", CLOCK_BOOTTIME },
		{ "boot", CLOCK_BOOTTIME },
		{ "tai", CLOCK_TAI },
	};
	const char *name = !strncasecmp(a->text, "CLOCK_", 6) ? a->text + 6 : a->text;
	uint64_t v;

	o->session.use_clockid = true;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		if (!strcasecmp(clocks[i].name, name)) {
			o->session.clockid = clocks[i].id;
			return 0;
		}
	}
	if (*name < '0' || *name > '9')
		return record_wrong(a,
		                    "'%s' is none of monotonic, monotonic_raw, realtime, boottime, "
		                    "tai",
		                    a->text);
	if (record_plain_number(a, 0, 31, &v) < 0)
		return -EINVAL;
	o->session.clockid = (int32_t)v;
	return 0;
}

static int record_set_compress(struct record_opts *o, const struct record_arg *a, uint64_t least)
{
	uint64_t v = 1;

	if (a->text && record_plain_number(a, least, 22, &v) < 0)
		return -EINVAL;
	o->compress_level = (int)v;
	return 0;
}

static int record_set_duration(struct record_opts *o, const struct record_arg *a)
{
	char *end;
	double seconds = strtod(a->text, &end);

	if (end == a->text || *end || !isfinite(seconds) || seconds <= 0 || seconds > 1e9)
		return record_wrong(a, "'%s' is not a time in seconds", a->text);
	o->duration_ms = (uint64_t)ceil(seconds * 1000);
	return 0;
}

static int record_set_events(struct record_opts *o, const struct record_arg *a)
{
	struct seam_error err = { 0 };

	if (event_list_parse(&o->events, a->text, NULL, &err) < 0)
		return record_wrong(a, "%s", err.text);
	return 0;
}

/* Options whose value is more than a switch. */
static int record_set(struct record_opts *o, int id, const struct record_arg *a)
{
	uint64_t v;
	bool is_bytes;
	int error;

	switch (id) {
	case RECORD_EVENT:
		return record_set_events(o, a);
	case RECORD_PID:
	case RECORD_TID:
		if (o->session.n_pids && o->by_tid != (id == RECORD_TID))
			return record_wrong(a, "-p and -t cannot be given together");
		o->by_tid = id == RECORD_TID;
		return record_set_pids(o, a);
	case RECORD_CPU:
		return record_set_cpus(o, a);
	case RECORD_FREQ:
		return record_set_freq(o, a);
	case RECORD_COUNT:
		o->session.frequency = 0;
		return record_plain_number(a, 1, INT64_MAX, &o->session.period);
	case RECORD_CALL_GRAPH:
		return record_set_call_graph(o, a);
	case RECORD_MMAP_PAGES:
		return record_set_mmap_pages(o, a);
	case RECORD_DELAY:
		return record_plain_number(a, 0, INT32_MAX, &o->delay_ms);
	case RECORD_DURATION:
		return record_set_duration(o, a);
	case RECORD_MAX_SIZE:
		return record_size(a, &o->max_size, &is_bytes);
	case RECORD_CLOCKID:
		return record_set_clockid(o, a);
	case RECORD_COMPRESS:
		return record_set_compress(o, a, 1);
	case RECORD_GRACE:
		error = record_plain_number(a, 0, 3600000, &v);
		if (!error)
			o->grace_ms = v ? (uint32_t)v : UINT32_MAX;
		return error;
	default:
		return 0;
	}
}

/* Options that are a switch, and those whose text is taken as it is. */
static void record_switch(struct record_opts *o, int id, const char *text)
{
	switch (id) {
	case RECORD_OUTPUT:
		o->output = text;
		break;
	case RECORD_ALL_CPUS:
		o->system_wide = true;
		break;
	case RECORD_STRICT_FREQ:
		o->session.strict_frequency = true;
		break;
	case RECORD_G:
		o->session.callchain = SESSION_CALLCHAIN_AUTO;
		break;
	case RECORD_NO_INHERIT:
		o->session.no_inherit = true;
		break;
	case RECORD_SWITCH_EVENTS:
		o->session.context_switch = true;
		break;
	case RECORD_NAMESPACES:
		o->session.namespaces = true;
		break;
	case RECORD_CGROUPS:
		o->session.cgroups = true;
		break;
	case RECORD_ALL_USER:
		o->session.all_user = true;
		break;
	case RECORD_ALL_KERNEL:
		o->session.all_kernel = true;
		break;
	case RECORD_DATA:
		o->session.sample_addr = true;
		o->data_maps = true;
		break;
	case RECORD_PHYS_DATA:
		o->session.sample_phys_addr = true;
		break;
	case RECORD_PERIOD:
		o->session.sample_period = true;
		break;
	case RECORD_SAMPLE_CPU:
		o->session.sample_cpu = true;
		break;
	case RECORD_WEIGHT:
		o->session.sample_weight = true;
		break;
	case RECORD_NO_BUILDID:
		o->no_build_ids = true;
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

/* A setting of the config file, as if it were an option. */
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

static int record_config_compress(struct record_opts *o, const struct record_arg *a)
{
	return record_set_compress(o, a, 0);
}

static int record_config_output(struct record_opts *o, const struct record_arg *a)
{
	o->output = a->text;
	return 0;
}

static int record_config(struct record_opts *o, const char *path, const struct cmd *cmd)
{
	struct seam_error err = { 0 };

	if (config_load(&o->config, path, &err) < 0) {
		cmd_error(cmd, "%s", err.text);
		return -EINVAL;
	}
	if (record_from_config(o, cmd, "record.freq", record_set_freq) < 0 ||
	    record_from_config(o, cmd, "record.mmap-pages", record_set_mmap_pages) < 0 ||
	    record_from_config(o, cmd, "record.compression-level", record_config_compress) < 0 ||
	    record_from_config(o, cmd, "record.output", record_config_output) < 0 ||
	    record_from_config(o, cmd, "call-graph.record-mode", record_set_call_graph) < 0)
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

/* The options, twice: first only to find --config, then all, over its values. */
static int record_walk(struct record_opts *o, struct options *walk, const char **config)
{
	char what[40];
	int id;

	while ((id = options_next(walk)) > 0) {
		struct record_arg a = { .cmd = walk->cmd, .text = walk->arg };

		a.what = record_spelling(id, what, sizeof(what));
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

/* What follows from all options together. */
static int record_settle(struct record_opts *o, const struct cmd *cmd)
{
	struct session_opts *s = &o->session;

	if (!o->events.n && record_from_config(o, cmd, "record.events", record_set_events) < 0)
		return OPTIONS_USAGE;
	if (s->all_user && s->all_kernel) {
		cmd_error(cmd, "--all-user and --all-kernel leave nothing to sample");
		return OPTIONS_USAGE;
	}
	if (s->n_pids && (o->system_wide || s->n_cpus)) {
		cmd_error(cmd, "%s cannot be given with %s", o->by_tid ? "-t" : "-p",
		          o->system_wide ? "-a" : "-C");
		return OPTIONS_USAGE;
	}
	if (!strcmp(o->output, "-") && isatty(STDOUT_FILENO)) {
		cmd_error(cmd, "-o -: standard output is a terminal");
		return OPTIONS_USAGE;
	}
	if (s->n_pids)
		s->target = o->by_tid ? SESSION_TASKS : SESSION_PIDS;
	else if (o->system_wide || s->n_cpus || !o->command)
		s->target = SESSION_SYSTEM;
	else
		s->target = SESSION_TASKS;
	s->pids = o->pids;
	s->cpus = o->cpus;
	s->events = &o->events;
	s->build_id = !o->no_build_ids;
	s->log.level = o->quiet ? -1 : o->verbose > 2 ? 2 : o->verbose;
	return 0;
}

int record_options_parse(struct record_opts *ret, int argc, char **argv, const struct cmd *cmd)
{
	struct options walk = options_start(argc, argv, cmd);
	const char *config = NULL;
	int error;

	*ret = (struct record_opts){
		.session.sz = sizeof(ret->session),
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
		ret->command = argv + walk.at;
	return record_settle(ret, cmd);
}

void record_options_free(struct record_opts *o)
{
	event_list_free(&o->events);
	config_free(o->config);
	free(o->pids);
	free(o->cpus);
}
