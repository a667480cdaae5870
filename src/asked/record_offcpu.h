/* SPDX-License-Identifier: MIT */
/*
 * record_offcpu.h: --off-cpu and --wall: time that threads do not run, beside the samples of what
 * they do. Each returns 0, or -EINVAL after it said on stderr what is wrong.
 */
#ifndef SEAM_ASKED_RECORD_OFFCPU_H
#define SEAM_ASKED_RECORD_OFFCPU_H

#include "asked/record_values.h"

/* "", "500us", "2ms", "1s"; a bare number is of milliseconds. */
int record_offcpu_time(struct record_opts *o, const struct record_arg *a);
/* To be called after all options and before the events are used, because it adds events. */
int record_offcpu_settle(struct record_opts *o, const struct cmd *cmd);

#endif
