// SPDX-License-Identifier: MIT
/* names.c: the event names that need no file: software, hardware, hardware cache, rNNN, and which
 * of them a wrong name was meant to be. Numbers are the ABI's (PERF_COUNT_SW_*, _HW_*), and rNNN is
 * the processor's own, in hexadecimal. */
#include "event/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/edits.h"

struct name_def {
	const char *name, *alias; /* alias: NULL if there is none */
	uint64_t config;
};

static const struct name_def names_software[] = {
	{ "cpu-clock", NULL, 0 },
	{ "task-clock", NULL, 1 },
	{ "page-faults", "faults", 2 },
	{ "context-switches", "cs", 3 },
	{ "cpu-migrations", "migrations", 4 },
	{ "minor-faults", NULL, 5 },
	{ "major-faults", NULL, 6 },
	{ "alignment-faults", NULL, 7 },
	{ "emulation-faults", NULL, 8 },
	{ "dummy", NULL, 9 },
	{ "bpf-output", NULL, 10 },
	{ "cgroup-switches", NULL, 11 },
};

static const struct name_def names_hardware[] = {
	{ "cycles", "cpu-cycles", 0 },
	{ "instructions", NULL, 1 },
	{ "cache-references", NULL, 2 },
	{ "cache-misses", NULL, 3 },
	{ "branches", "branch-instructions", 4 },
	{ "branch-misses", NULL, 5 },
	{ "bus-cycles", NULL, 6 },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", 7 },
	{ "stalled-cycles-backend", "idle-cycles-backend", 8 },
	{ "ref-cycles", NULL, 9 },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

// Hardware cache: config = cache | operation << 8 | result << 16.
enum {
	LOAD = 1,
	STORE = 2,
	PREFETCH = 4
};

/* In the order of PERF_COUNT_HW_CACHE_*, because the index is the number. */
static const struct {
	const char *name;
	unsigned operations; // those that exist
} names_caches[] = {
	{ "L1-dcache", LOAD | STORE | PREFETCH },
	{ "L1-icache", LOAD | PREFETCH },
	{ "LLC", LOAD | STORE | PREFETCH },
	{ "dTLB", LOAD | STORE | PREFETCH },
	{ "iTLB", LOAD },
	{ "branch", LOAD },
	{ "node", LOAD | STORE | PREFETCH },
};

/* Likewise, of PERF_COUNT_HW_CACHE_OP_*. */
static const struct {
	const char *accesses, *misses;
} names_operations[] = {
	{ "loads", "load-misses" },
	{ "stores", "store-misses" },
	{ "prefetches", "prefetch-misses" },
};

/* Of each cache each operation, as accesses and as misses. */
#define CACHE_NAMES (COUNT(names_caches) * COUNT(names_operations) * 2)

// Gives the i-th cache event; false: that cache has no such operation.
static bool names_cache(size_t i, char *name, size_t n, uint64_t *config)
{
	size_t miss = i % 2, op = i / 2 % 3, cache = i / 6;

	if (!(names_caches[cache].operations & 1u << op))
		return false;
	snprintf(name, n, "%s-%s", names_caches[cache].name,
	         miss ? names_operations[op].misses : names_operations[op].accesses);
	*config = cache | op << 8 | miss << 16;
	return true;
}

/* By its name or its alias. */
static bool names_in(const struct name_def *defs, size_t n, const char *name, uint64_t *config)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(defs[i].name, name) ||
		    (defs[i].alias && !strcmp(defs[i].alias, name))) {
			*config = defs[i].config;
			return true;
		}
	}
	return false;
}

/* Cache events are found in upper and lower case. rNNN is a raw event, with its number in
 * hexadecimal. */
bool names_find(const char *name, uint32_t *type, uint64_t *config)
{
	char text[64], *end;
	uint64_t found;

	if (names_in(names_software, COUNT(names_software), name, config)) {
		*type = SEAM_TYPE_SOFTWARE;
		return true;
	}
	if (names_in(names_hardware, COUNT(names_hardware), name, config)) {
		*type = SEAM_TYPE_HARDWARE;
		return true;
	}
	for (size_t i = 0; i < CACHE_NAMES; i++) {
		if (!names_cache(i, text, sizeof(text), &found) || strcasecmp(text, name))
			continue;
		*config = found;
		*type = SEAM_TYPE_HW_CACHE;
		return true;
	}
	if (name[0] != 'r' || !name[1] ||
	    strspn(name + 1, "0123456789abcdefABCDEF") != strlen(name + 1))
		return false;
	errno = 0;
	found = strtoull(name + 1, &end, 16);
	if (errno)
		return false;
	*config = found;
	*type = SEAM_TYPE_RAW;
	return true;
}

/* *i runs over the tables, one behind the other; operations that a cache does not have are passed
 * over. n: the size of `name`; longer names are cut. */
bool event_known(size_t *i, char *name, size_t n, const char **kind)
{
	uint64_t config;
	size_t at = (*i)++;

	if (at < COUNT(names_software)) {
		snprintf(name, n, "%s", names_software[at].name);
		*kind = "software";
		return true;
	}
	at -= COUNT(names_software);
	if (at < COUNT(names_hardware)) {
		snprintf(name, n, "%s", names_hardware[at].name);
		*kind = "hardware";
		return true;
	}
	at -= COUNT(names_hardware);
	while (at < CACHE_NAMES && !names_cache(at, name, n, &config)) {
		at++;
		(*i)++;
	}
	*kind = "hardware cache";
	return at < CACHE_NAMES;
}

/* known may be NULL: a row without an alias. */
static void names_closer(const char *name, const char *known, unsigned *best, char *near, size_t n)
{
	unsigned d = known ? edits_between(name, known) : *best;

	if (d < *best) {
		*best = d;
		snprintf(near, n, "%s", known);
	}
}

/* NULL: no name is near enough to be worth asking about. */
const char *names_nearest(const char *name, char *near, size_t n)
{
	unsigned best = edits_most(name);
	unsigned start = best;
	char text[64];
	const char *kind;
	size_t i = 0;

	while (event_known(&i, text, sizeof(text), &kind))
		names_closer(name, text, &best, near, n);
	for (i = 0; i < COUNT(names_software); i++)
		names_closer(name, names_software[i].alias, &best, near, n);
	for (i = 0; i < COUNT(names_hardware); i++)
		names_closer(name, names_hardware[i].alias, &best, near, n);
	return best < start ? near : NULL;
}
