/* SPDX-License-Identifier: MIT */
/*
 * offcpu.h: time that threads do not run, beside the samples of what they do. One event for each
 * reason not to run, so that every reader of perf.data tells them apart.
 */
#ifndef SEAM_RECORDER_OFFCPU_H
#define SEAM_RECORDER_OFFCPU_H

#include "recorder/opts.h"

#define OFFCPU_NS_DEFAULT 1000000u

/* If o->away_ns or o->wall asks for it, adds the events behind those that are there, or behind the
 * default ones. -errno of event_list_parse, and err says why. */
int offcpu_settle(struct recorder_opts *o, struct seam_error *err);

#endif
