/* SPDX-License-Identifier: MIT */
/*
 * live_renew.h: what a live walk holds is bounded by what runs, not by what ever ran.
 *
 * When the process table has doubled since it was last made anew, it is made anew without the
 * processes that ended, and with it what points into it. What was counted of them is kept.
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
