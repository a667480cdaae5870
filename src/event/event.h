/* SPDX-License-Identifier: MIT */
/*
 * event.h: what `-e` says, with perf's spelling, as attrs.
 *
 *	software    cpu-clock task-clock page-faults ... always understood
 *	hardware    cycles instructions branch-misses ..., L1-dcache-load-misses and its kin, rNNN
 *	sysfs       pmu/term=value,.../ and pmu/event/, by /sys/bus/event_source/devices
 *	tracepoint  sys:name, * and ? as wildcards, by tracefs (needs it mounted and readable)
 *	modifiers   :u :k :h :G :H :p (up to ppp) :P :I :S :D :W :e in any order; event/.../u too
 *	terms       freq= period= name= call-graph=no|fp|fp,defer|dwarf (in quotes not needed)
 *	            max-stack=
 *	            config= config1= config2= config3= in any /.../ form
 *	groups      {a,b}:S  S: only the leader samples, the others are read with each of its
 *	                     samples
 *
 * Only parses: whether the kernel opens an event is found out by capture/session.c.
 */
#ifndef SEAM_EVENT_EVENT_H
#define SEAM_EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/record.h>

/* Where /proc, /sys and tracefs are looked for; zero-initialise for the running system. Not
 * owned. */
struct event_roots {
	const char *sysfs;   /* NULL: "/sys" */
	const char *tracefs; /* NULL: /sys/kernel/tracing, else /sys/kernel/debug/tracing */
};

enum event_callchain {
	EVENT_CALLCHAIN_INHERIT, /* as the session says */
	EVENT_CALLCHAIN_NO,
	EVENT_CALLCHAIN_FP,
	EVENT_CALLCHAIN_DEFER,
	EVENT_CALLCHAIN_DWARF,
};

struct event {
	char *name; /* as perf writes it: "cycles:u", "pmu/event/"; owned */
	/* type, config*, exclude bits, precise_ip; and, when the terms said so, sample_period with
	 * or without SEAM_ATTR_FREQ. The rest is the session's. */
	struct seam_attr attr;
	bool has_rate;      /* freq= or period= was given */
	bool exclude_given; /* :u, :k or :h was given: the session must not choose */
	bool guest_given;   /* :G or :H was given */
	bool precise_max;   /* :P: the highest precise level that the PMU has */
	bool from_source;   /* its samples are opts.source's own: a dummy, for its id only */
	bool is_default;    /* chosen by event_list_default */
	bool sample_read;   /* :S on the group */
	bool weak;          /* :W: leave the group when it cannot be scheduled */
	enum event_callchain callchain;
	uint16_t max_stack; /* max-stack=, 0: as the session says */
	uint32_t leader;    /* index of the group's leader, its own when alone */
	char *cpus;         /* a PMU's cpumask ("0-3"): open only there; NULL: anywhere; owned */
};

struct event_list {
	struct event *at;
	size_t n;
	size_t capacity;
};

void event_list_free(struct event_list *list);
/*
 * Appends the events of a comma-separated list. On failure the list is as before.
 * -EINVAL: not understood; -ENOENT: an event, PMU or tracepoint that is not there, the text says
 * what is nearest; -EACCES: tracefs is not readable; -ENOMEM. Names at most 255 bytes, 4096 events.
 */
int event_list_parse(struct event_list *list, const char *text, const struct event_roots *roots,
                     struct seam_error *err);
/* Appends the event of a recording without -e: cycles, as precise as the PMU can count them. Where
 * nothing counts cycles, the session replaces them by cpu-clock. */
int event_list_default(struct event_list *list, struct seam_error *err);
/* Lists the symbolic events, for help and completions: true, with a name and its class ("software",
 * "hardware", "hardware cache"), until the end. Start with *i = 0. */
bool event_known(size_t *i, char *name, size_t n, const char **kind);

#endif
