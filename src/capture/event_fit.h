/* SPDX-License-Identifier: MIT */
/*
 * event_fit.h: a list of events for a machine that has not all of them.
 */
#ifndef SEAM_CAPTURE_EVENT_FIT_H
#define SEAM_CAPTURE_EVENT_FIT_H

#include "capture/event.h"
#include "capture/features.h"
#include "capture/log.h"

/*
 * Leaves out what the processor's PMU does not have (instructions, cache-misses, r1a8 ... in most
 * virtual machines), as long as an event is left, and says each. Cycles stay: the session has
 * cpu-clock for them. What leads a group hands it on. How many were left out.
 */
size_t event_list_fit(struct event_list *list, struct features *features, const struct log *log);

#endif
