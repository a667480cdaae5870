// SPDX-License-Identifier: MIT
/* event_unit.c: see event_unit.h. Knows which of the kernel's events count time, and how recorders
 * name time off the CPU. aggregate/ asks when it builds a profile, so that reports and exports can
 * write a unit behind a sum. */
#include "abi/event_unit.h"

#include <string.h>

enum { /* of perf_sw_ids */
	SW_CPU_CLOCK = 0,
	SW_TASK_CLOCK = 1,
	SW_DUMMY = 9,
	SW_BPF_OUTPUT = 10
};
enum { /* of perf_hw_id: the lower half; the upper one says which kind of core */
	HW_CPU_CYCLES = 0
};

/*
 * "offcpu-time" with or without modifiers behind it: perf's, and seam's other reasons not to run.
 *
 * The software event itself counts nothing: BPF programs put the time into its samples.
 */
bool event_unit_is_off_cpu(const char *name)
{
	return name && !strncmp(name, "offcpu-", 7);
}

/* The tracepoints of the scheduler whose count is a time: the kernel hands it over as the
 * period. */
static bool unit_is_sched_stat(const char *name)
{
	static const char prefix[] = "sched:sched_stat_";
	static const char *const rest[] = { "wait", "sleep", "iowait", "blocked", "runtime" };

	if (!name || strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return false;
	name += sizeof(prefix) - 1;
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
		size_t n = strlen(rest[i]);

		/* Modifiers ("sched_stat_sleep:u") follow a colon. */
		if (!strncmp(name, rest[i], n) && (!name[n] || name[n] == ':'))
			return true;
	}
	return false;
}

/*
 * Says whether an event's periods are nanoseconds. A frequency whose samples carry no period leaves
 * nothing to add up but the samples themselves, which are no time.
 */
bool event_unit_is_time(const struct seam_event *event)
{
	const struct seam_attr *attr = &event->attr;

	if (attr->flags & SEAM_ATTR_FREQ && !(attr->sample_type & SEAM_SAMPLE_PERIOD))
		return false;
	if (attr->type == SEAM_TYPE_TRACEPOINT)
		return unit_is_sched_stat(event->name);
	if (attr->type != SEAM_TYPE_SOFTWARE)
		return false;
	switch (attr->config) {
	case SW_CPU_CLOCK:
	case SW_TASK_CLOCK:
		return true;
	case SW_DUMMY:
	case SW_BPF_OUTPUT:
		return event_unit_is_off_cpu(event->name);
	default:
		return false;
	}
}

/* Half of what a thread runs is not what it used. */
static bool unit_is_whole(const struct seam_attr *attr)
{
	return !(attr->flags & (SEAM_ATTR_EXCLUDE_USER | SEAM_ATTR_EXCLUDE_KERNEL)) &&
	       (!(attr->flags & SEAM_ATTR_FREQ) || attr->sample_type & SEAM_SAMPLE_PERIOD);
}

/* Clocks of both kinds tick in nanoseconds that the thread ran, so their periods are its CPU
 * time. */
bool event_unit_is_cpu_time(const struct seam_event *event)
{
	const struct seam_attr *attr = &event->attr;

	return attr->type == SEAM_TYPE_SOFTWARE &&
	       (attr->config == SW_CPU_CLOCK || attr->config == SW_TASK_CLOCK) &&
	       unit_is_whole(attr);
}

/* The upper half of config names the PMU of a hybrid machine; cycles of both kinds of core are
 * cycles. */
bool event_unit_is_cycles(const struct seam_event *event)
{
	return event->attr.type == SEAM_TYPE_HARDWARE &&
	       (uint32_t)event->attr.config == HW_CPU_CYCLES;
}

bool event_unit_is_cpu_cycles(const struct seam_event *event)
{
	return event_unit_is_cycles(event) && unit_is_whole(&event->attr);
}
