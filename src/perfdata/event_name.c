// SPDX-License-Identifier: MIT
/*
 * event_name.c: see event_name.h. The spellings are those that perf list and perf report show.
 *
 * They matter for recordings without names only, and for the order in which a header lists events.
 * Names that perf would not recognise are "unknown ...", never a guess.
 */
#include "perfdata/event_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software_names[] = {
	"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
};

/* The index of a cache is the lowest byte of config. */
static const char *const cache_names[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
	                                   "iTLB",      "branch",    "node" };
static const char *const cache_op_one[] = { "load", "store", "prefetch" };
static const char *const cache_op_many[] = { "loads", "stores", "prefetches" };

/* A hit is counted in the plural ("LLC-loads"), a miss in the singular ("LLC-load-misses"). */
static void event_name_cache(uint64_t config, struct buf *out)
{
	uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache >= N_OF(cache_names))
		buf_put_text(out, "unknown-ext-hardware-cache-type");
	else if (op >= N_OF(cache_op_one))
		buf_put_text(out, "unknown-ext-hardware-cache-op");
	else if (result > 1)
		buf_put_text(out, "unknown-ext-hardware-cache-result");
	else if (result)
		buf_printf(out, "%s-%s-misses", cache_names[cache], cache_op_one[op]);
	else
		buf_printf(out, "%s-%s", cache_names[cache], cache_op_many[op]);
}

/* Address and kind of access; the length is not part of perf's name. */
static void event_name_breakpoint(const struct seam_attr *attr, struct buf *out)
{
	buf_printf(out, "mem:0x%" PRIx64 ":", attr->config1);
	if (attr->bp_type & 1)
		buf_put_text(out, "r");
	if (attr->bp_type & 2)
		buf_put_text(out, "w");
	if (attr->bp_type & 4)
		buf_put_text(out, "x");
}

/* ":ukpp" ...: only what differs from "count everywhere". */
static void event_name_modifiers(const struct seam_attr *attr, struct buf *out)
{
	const uint64_t levels =
	        SEAM_ATTR_EXCLUDE_KERNEL | SEAM_ATTR_EXCLUDE_USER | SEAM_ATTR_EXCLUDE_HV;
	uint64_t f = attr->flags;
	unsigned precise = f >> SEAM_ATTR_PRECISE_IP_SHIFT & 3;
	/* At most three levels, three p, and two of host and guest. */
	char text[16];
	size_t n = 0;

	if (f & levels) {
		if (!(f & SEAM_ATTR_EXCLUDE_KERNEL))
			text[n++] = 'k';
		if (!(f & SEAM_ATTR_EXCLUDE_USER))
			text[n++] = 'u';
		if (!(f & SEAM_ATTR_EXCLUDE_HV))
			text[n++] = 'h';
	}
	while (precise--)
		text[n++] = 'p';
	if (f & (SEAM_ATTR_EXCLUDE_HOST | SEAM_ATTR_EXCLUDE_GUEST)) {
		if (!(f & SEAM_ATTR_EXCLUDE_HOST))
			text[n++] = 'H';
		if (!(f & SEAM_ATTR_EXCLUDE_GUEST))
			text[n++] = 'G';
	}
	if (n)
		buf_printf(out, ":%.*s", (int)n, text);
}

static void event_name_config(const struct seam_attr *attr, struct buf *out)
{
	uint32_t config = (uint32_t)attr->config;

	if (attr->type == SEAM_TYPE_HW_CACHE)
		event_name_cache(config, out);
	else
		buf_put_text(out, config < N_OF(hardware_names) ? hardware_names[config]
		                                                : "unknown-hardware");
}

/* Machines with two kinds of cores put the PMU's type into the upper half of config. */
static void event_name_hardware(const struct seam_attr *attr, const char *pmu, struct buf *out)
{
	bool of_pmu = attr->config >> 32 && pmu;

	if (of_pmu)
		buf_printf(out, "%s/", pmu);
	event_name_config(attr, out);
	if (of_pmu)
		buf_put_text(out, "/");
}

/* Which PMU's name event_name wants: the one in config's upper half if there is one. */
uint32_t event_name_pmu_type(const struct seam_attr *attr)
{
	bool fixed = attr->type == SEAM_TYPE_HARDWARE || attr->type == SEAM_TYPE_HW_CACHE;

	return fixed && attr->config >> 32 ? (uint32_t)(attr->config >> 32) : attr->type;
}

/* Makes a name from the attr alone, for recordings that do not say one: "cycles:u". pmu is the name
 * of the attr's PMU in the recording, or NULL when it is not known. */
int event_name(const struct seam_attr *attr, const char *pmu, struct buf *out)
{
	switch (attr->type) {
	case SEAM_TYPE_HARDWARE:
	case SEAM_TYPE_HW_CACHE:
		event_name_hardware(attr, pmu, out);
		break;
	case SEAM_TYPE_SOFTWARE:
		buf_put_text(out, attr->config < N_OF(software_names) ? software_names[attr->config]
		                                                      : "unknown-software");
		break;
	case SEAM_TYPE_TRACEPOINT:
		buf_put_text(out, "unknown tracepoint");
		break;
	case SEAM_TYPE_RAW:
		buf_printf(out, "raw 0x%" PRIx64, attr->config);
		break;
	case SEAM_TYPE_BREAKPOINT:
		event_name_breakpoint(attr, out);
		break;
	default:
		if (pmu)
			buf_printf(out, "%s/config=0x%" PRIx64 "/", pmu, attr->config);
		else
			buf_printf(out, "unknown event PMU=%" PRIu32 " config=0x%" PRIx64,
			           attr->type, attr->config);
	}
	event_name_modifiers(attr, out);
	return out->failed ? -ENOMEM : 0;
}
