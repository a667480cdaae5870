/* SPDX-License-Identifier: MIT */
/*
 * live_renew.h: keeps the memory of a live walk bounded by what is running, not by all that ever
 * ran.
 *
 * When the process table has become twice as large since it was last made, it is made again without
 * the processes that ended, and so is all that points into it. What was counted for them is kept.
 */
#ifndef SEAM_RECORDER_LIVE_RENEW_H
#define SEAM_RECORDER_LIVE_RENEW_H

#include "samples/unwound.h"

struct live_walk;

#define LIVE_RENEW_BYTES (4u << 20)

/* A walker's part that looks into these tables. -ENOMEM. */
int live_renew_unwound(const struct live_walk *w, const struct proc_table *procs,
                       struct tables *tables, struct unwound **ret);
/* Adds what the walkers found missing to w->missing, most first: once, before they go. -ENOMEM. */
int live_renew_keep_missing(struct live_walk *w);
/* Between rounds: makes the process table anew if it is time to. -ENOMEM: all is as it was. */
int live_renew(struct live_walk *w);

#endif
