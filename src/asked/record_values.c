// SPDX-License-Identifier: MIT
/*
 * record_values.c: knows how perf spells rates, sizes, clocks and callchain modes. Numbers are
 * decimal and whole: what is behind one is an error, never ignored.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "abi/runtime.h"
#include "asked/record_values.h"

/* Says what is wrong with an option's value. Always -EINVAL. */
int record_values_wrong(const struct record_arg *a, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cmd_error(a->cmd, "%s: %s", a->what, text);
	return -EINVAL;
}

/* A number between text and end, of digits alone. -EINVAL after saying what is wrong. */
static int record_values_number(const struct record_arg *a, const char *text, const char *end,
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
		return record_values_wrong(a, "'%.*s' is not a number from %llu to %llu",
		                           (int)(end - text), text, (unsigned long long)least,
		                           (unsigned long long)most);
	*ret = v;
	return 0;
}

/* The whole text as a number. */
int record_values_plain_number(const struct record_arg *a, uint64_t least, uint64_t most,
                               uint64_t *ret)
{
	return record_values_number(a, a->text, a->text + strlen(a->text), least, most, ret);
}

/* Bytes: "512K", "4M", "1G", "100B". *is_bytes is false for a bare number. */
int record_values_size(const struct record_arg *a, uint64_t *ret, bool *is_bytes)
{
	static const char units[] = "BKMGbkmg";
	size_t n = strlen(a->text);
	const char *unit = n ? strchr(units, a->text[n - 1]) : NULL;
	unsigned shift = unit ? (unsigned)((unit - units) % 4) * 10 : 0;

	*is_bytes = unit;
	/* The bound leaves room for the largest unit, 2^30. */
	if (record_values_number(a, a->text, a->text + n - (unit != NULL), 1, UINT64_MAX >> 31,
	                         ret) < 0)
		return -EINVAL;
	*ret <<= shift;
	return 0;
}

/* Adds each number of a comma-separated list to the tasks that are recorded. -EINVAL after saying
 * what is wrong, or -ENOMEM. */
int record_values_pids(struct record_opts *o, const struct record_arg *a)
{
	const char *at = a->text;

	while (true) {
		const char *end = at + strcspn(at, ",");
		pid_t *grown;
		uint64_t v;

		if (record_values_number(a, at, end, 1, INT32_MAX, &v) < 0)
			return -EINVAL;
		/* One by one: somebody typed them. */
		grown = realloc(o->pids, (o->rec.session.n_pids + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		o->pids = grown;
		o->pids[o->rec.session.n_pids++] = (pid_t)v;
		if (!*end)
			return 0;
		at = end + 1;
	}
}

/* The last -C counts. -EINVAL after saying what is wrong. */
int record_values_cpus(struct record_opts *o, const struct record_arg *a)
{
	int *cpus = NULL;
	int n = kernel_cpu_list(a->text, &cpus);

	if (n <= 0)
		return record_values_wrong(a, "'%s' is not a list of CPUs, as 0-3,8", a->text);
	free(o->cpus);
	o->cpus = cpus;
	o->rec.session.n_cpus = (size_t)n;
	return 0;
}

/* A frequency replaces a period, and the other way round: the later option counts. */
int record_values_freq(struct record_opts *o, const struct record_arg *a)
{
	uint64_t v = UINT64_MAX;

	if (strcmp(a->text, "max") && record_values_plain_number(a, 1, 1000000000, &v) < 0)
		return -EINVAL;
	o->rec.session.frequency = v;
	o->rec.session.period = 0;
	return 0;
}

/* Frames of a callchain (attr.sample_max_stack has 16 bits). */
static int record_values_depth(struct record_opts *o, const struct record_arg *a, const char *text)
{
	uint64_t v;

	if (record_values_number(a, text, text + strlen(text), 1, UINT16_MAX, &v) < 0)
		return -EINVAL;
	o->rec.session.max_stack = (uint16_t)v;
	return 0;
}

/* What stands behind "dwarf,defer" says when a stack is deferred (kwalk). */
static int record_values_dwarf_defer(struct record_opts *o, const struct record_arg *a,
                                     const char *rest)
{
	if (!*rest)
		o->rec.bpf_when = KWALK_HYBRID;
	else if (!strcmp(rest, "=always"))
		o->rec.bpf_when = KWALK_ALWAYS;
	else if (!strcmp(rest, "=never"))
		o->rec.bpf_when = KWALK_NEVER;
	else
		return record_values_wrong(
		        a, "'%s' is none of dwarf,defer, dwarf,defer=always, dwarf,defer=never",
		        a->text);
	o->rec.session.callchain = SESSION_CALLCHAIN_AUTO; /* the same order */
	o->rec.session.max_stack = 0;
	return 0;
}

/* As perf has it: bytes, rounded up to words. */
static int record_values_stack_size(struct record_opts *o, const struct record_arg *a,
                                    const char *text)
{
	uint64_t v;

	if (record_values_number(a, text, text + strlen(text), 1, SESSION_STACK_SIZE_MAX, &v) < 0)
		return -EINVAL;
	o->rec.session.stack_size = (uint32_t)((v + 7) / 8 * 8);
	return 0;
}

/* Takes perf's spelling, a mode with a size or a depth behind it, and forgets what an earlier
 * --call-graph set. -EINVAL after saying what is wrong. */
int record_values_call_graph(struct record_opts *o, const struct record_arg *a)
{
	const char *t = a->text;

	o->rec.bpf_when = KWALK_HYBRID;
	if (!strncmp(t, "dwarf,defer", 11))
		return record_values_dwarf_defer(o, a, t + 11);
	if (!strcmp(t, "auto"))
		o->rec.session.callchain = SESSION_CALLCHAIN_AUTO;
	else if (!strcmp(t, "none") || !strcmp(t, "no"))
		o->rec.session.callchain = SESSION_CALLCHAIN_NONE;
	else if (!strncmp(t, "fp,defer", 8) && (!t[8] || t[8] == ','))
		o->rec.session.callchain = SESSION_CALLCHAIN_FP_DEFER;
	else if (!strncmp(t, "fp", 2) && (!t[2] || t[2] == ','))
		o->rec.session.callchain = SESSION_CALLCHAIN_FP;
	else if (!strncmp(t, "dwarf", 5) && (!t[5] || t[5] == ','))
		o->rec.session.callchain = SESSION_CALLCHAIN_DWARF;
	else if (!strncmp(t, "lbr", 3))
		return record_values_wrong(a, "seam takes no stacks from branch records (lbr): fp, "
		                              "fp,defer, dwarf, dwarf,defer, auto");
	else
		return record_values_wrong(
		        a, "'%s' is none of dwarf,defer, dwarf, fp, fp,defer, auto, none", t);
	o->rec.session.max_stack = 0;
	o->rec.session.stack_size = 0;
	if (o->rec.session.callchain == SESSION_CALLCHAIN_DWARF && t[5])
		return record_values_stack_size(o, a, t + 6);
	if (o->rec.session.callchain == SESSION_CALLCHAIN_FP_DEFER && t[8])
		return record_values_depth(o, a, t + 9);
	if (o->rec.session.callchain == SESSION_CALLCHAIN_FP && t[2])
		return record_values_depth(o, a, t + 3);
	return 0;
}

/* -EINVAL after saying what is wrong. */
int record_values_unwind_memory(struct record_opts *o, const struct record_arg *a)
{
	bool is_bytes;

	if (record_values_size(a, &o->rec.unwind_memory, &is_bytes) < 0)
		return -EINVAL;
	if (o->rec.unwind_memory < 1 << 20 || o->rec.unwind_memory > 4ull << 30)
		return record_values_wrong(a, "'%s' is not between 1M and 4G", a->text);
	return 0;
}

/* A bare number is pages, a size is rounded up to them. session_open makes a power of two of it. */
int record_values_mmap_pages(struct record_opts *o, const struct record_arg *a)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), v;
	bool is_bytes;

	if (record_values_size(a, &v, &is_bytes) < 0)
		return -EINVAL;
	if (is_bytes)
		v = (v + page - 1) / page;
	if (v > (1ull << 31) / page)
		return record_values_wrong(a, "'%s': a ring of more than 2 GiB", a->text);
	o->rec.session.mmap_pages = (size_t)v;
	return 0;
}

/* Names of interpreters; those that are not named are not wanted. */
int record_values_runtimes(struct record_opts *o, const struct record_arg *a)
{
	char known[256] = "";
	size_t n = 0;

	o->rec.runtimes = 0;
	for (const char *at = a->text; *at; at += n + (at[n] == ',')) {
		n = strcspn(at, ",");
		if (!runtime_of_name(at, n)) {
			o->rec.runtimes = 0;
			break;
		}
		o->rec.runtimes |= 1u << runtime_of_name(at, n);
	}
	o->rec.no_runtimes = RUNTIMES_ALL & ~o->rec.runtimes;
	if (o->rec.runtimes)
		return 0;
	n = 0;
	for (unsigned k = 0; k < RUNTIMES && n < sizeof(known); k++)
		if (runtime_name(k))
			n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", n ? ", " : "",
			                      runtime_name(k));
	return record_values_wrong(a, "'%s' is not a list of %s", a->text, known);
}

/* Takes a name, with or without CLOCK_ and in upper or lower case, or a number up to 31. -EINVAL
 * after saying what is wrong. */
int record_values_clockid(struct record_opts *o, const struct record_arg *a)
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

	o->rec.session.use_clockid = true;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		if (!strcasecmp(clocks[i].name, name)) {
			o->rec.session.clockid = clocks[i].id;
			return 0;
		}
	}
	if (*name < '0' || *name > '9')
		return record_values_wrong(
		        a,
		        "'%s' is none of monotonic, monotonic_raw, realtime, boottime, "
		        "tai",
		        a->text);
	if (record_values_plain_number(a, 0, 31, &v) < 0)
		return -EINVAL;
	o->rec.session.clockid = (int32_t)v;
	return 0;
}

/* Without a level it is 1, zstd's fastest of those. */
int record_values_compress(struct record_opts *o, const struct record_arg *a, uint64_t least)
{
	uint64_t v = 1;

	if (a->text && record_values_plain_number(a, least, 22, &v) < 0)
		return -EINVAL;
	o->compress_level = (int)v;
	return 0;
}

/* Fractions are taken: 0.5 is half a second. */
int record_values_duration(struct record_opts *o, const struct record_arg *a)
{
	char *end;
	double seconds = strtod(a->text, &end);

	if (end == a->text || *end || !isfinite(seconds) || seconds <= 0 || seconds > 1e9)
		return record_values_wrong(a, "'%s' is not a time in seconds", a->text);
	o->duration_ms = (uint64_t)ceil(seconds * 1000);
	return 0;
}

/* Adds to the events; --event may be repeated. */
int record_values_events(struct record_opts *o, const struct record_arg *a)
{
	struct seam_error err = { 0 };

	if (event_list_parse(&o->events, a->text, NULL, &err) < 0)
		return record_values_wrong(a, "%s", err.text);
	return 0;
}
