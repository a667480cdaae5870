/* SPDX-License-Identifier: MIT */
/*
 * parts.h: what event.c asks of its neighbours: numbers and errors (text.c), terms and
 * modifiers (terms.c), names that are always known (names.c), PMUs of sysfs
 * (pmu.c), tracepoints (tracepoint.c). Only files of this room include it.
 */
#ifndef SEAM_EVENT_PARTS_H
#define SEAM_EVENT_PARTS_H

#include "event/event.h"

#define EVENT_NAME_MOST 255u

/* One term of "/a=1,b/": value NULL: none was given. */
struct event_term {
	const char *name, *value;
};

#define EVENT_ITEM_MOST 1024u

struct event_parser {
	struct event_list *list;
	const struct event_roots *roots;
	struct seam_error *err;
	char item[EVENT_ITEM_MOST]; /* the item being parsed, for messages */
};

struct modifiers {
	bool user, kernel, hv, guest, host, idle, read, pinned, weak, exclusive, precise_max;
	unsigned precise;
};

/* -- text.c -- */
/* Fills the parser's error: returns -code. */
int event_fail(struct event_parser *p, int code, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* A number as events spell it: decimal, 0x, 0. */
bool event_number(const char *text, uint64_t *ret);

/* -- terms.c -- */
/* Adds ":upp" to *m. */
int terms_modifiers(struct event_parser *p, const char *text, struct modifiers *m);
void terms_apply(struct event *e, const struct modifiers *m);
/* Reads "a=1,b", which is cut in place. pmu NULL: a symbolic event or a tracepoint, which takes
 * perf's own terms only. */
int terms_parse(struct event_parser *p, struct event *e, char *text, const char *pmu);

/* -- names.c -- */
/* Fills type and config for a symbolic name or for rNNN; false: it is neither, and both are
 * unchanged. */
bool names_find(const char *name, uint32_t *type, uint64_t *config);
/* The known name that is most like a wrong one; NULL: none is. The name may lie in near[n]. */
const char *names_nearest(const char *name, char *near, size_t n);

/* -- pmu.c -- */
/* True when sysfs has the PMU. */
bool pmu_exists(const struct event_roots *roots, const char *pmu);
/* type, and cpus from cpumask. */
int pmu_begin(const struct event_roots *roots, const char *pmu, struct event *event,
              struct seam_error *err);
/* Applies one term that is not perf's own: a field of format/ or an event of events/. */
int pmu_term(const struct event_roots *roots, const char *pmu, const struct event_term *term,
             struct event *event, struct seam_error *err);

/* -- tracepoint.c -- */
/* Calls add for each tracepoint that fits; 0, or what add returned, or -ENOENT, -EACCES. */
int tracepoint_find(const struct event_roots *roots, const char *system, const char *name,
                    int (*add)(void *ctx, const char *system, const char *name, uint64_t id),
                    void *ctx, struct seam_error *err);

#endif
