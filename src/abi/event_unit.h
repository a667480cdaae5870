/* SPDX-License-Identifier: MIT */
/*
 * event_unit.h: what the periods of an event's samples are counted in. Most count something
 * (cycles, faults); some are nanoseconds, of time on the CPU or off it.
 */
#ifndef SEAM_ABI_EVENT_UNIT_H
#define SEAM_ABI_EVENT_UNIT_H

#include <stdbool.h>

#include <seam/record.h>

/* Whether the periods are nanoseconds. The type of the event tells; its name decides only where the
 * type does not. */
bool event_unit_is_time(const struct seam_event *event);
/* True: the periods of a thread's samples add up to what it used of its CPU, in nanoseconds or in
 * cycles; nothing of it is excluded. */
bool event_unit_is_cpu_time(const struct seam_event *event);
bool event_unit_is_cpu_cycles(const struct seam_event *event);
/* Whether the periods are cycles, of a part of what runs, too. */
bool event_unit_is_cycles(const struct seam_event *event);
/* Whether an event of this name counts time in which a task did not run. */
bool event_unit_is_off_cpu(const char *name);

#endif
