/* SPDX-License-Identifier: MIT */
/*
 * event_fit.h: makes a list of events fit a machine that does not have all of them.
 */
#ifndef SEAM_CAPTURE_EVENT_FIT_H
#define SEAM_CAPTURE_EVENT_FIT_H

#include "event/event.h"
#include "capture/features.h"
#include "capture/log.h"

/*
 * Removes the events that the processor's PMU does not have (instructions, cache-misses, r1a8 ...
 * in most virtual machines), as long as one event is left, and reports each. Cycles stay, because
 * the session has cpu-clock in their place. If the leader of a group is removed, the next event
 * leads it. Returns how many were removed.
 */
size_t event_list_fit(struct event_list *list, struct features *features, const struct log *log);

#endif
