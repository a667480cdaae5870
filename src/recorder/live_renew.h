/* SPDX-License-Identifier: MIT */
/*
 * live_renew.h: what a live walk holds is bounded by what runs, not by what ever ran.
 *
 * When the process table has doubled since it was last made anew, it is made anew without the
 * processes that ended, and with it what points into it. What was counted of them is kept.
 */
#ifndef SEAM_RECORDER_LIVE_RENEW_H
#define SEAM_RECORDER_LIVE_RENEW_H

#include "base/arena.h"
#include "base/buf.h"
#include "samples/unwound.h"

struct live_walk;

#define LIVE_RENEW_BYTES (4u << 20)
#define LIVE_MISSING_MAX 1000u /* places; what is beyond is summed up */

/* Places where walks ended for want of unwind information, with names of their own.
 * Zero-initialise. */
struct live_missing {
	struct buf resolver; /* struct unwound_missing */
	struct arena names;
};

/* One entry for equal path and reason: code made at run time is another object in each process, and
 * the same to people. -ENOMEM. */
int live_missing_add(struct live_missing *to, const struct unwound_missing *m, size_t n);
void live_missing_sort(struct live_missing *missing);
void live_missing_free(struct live_missing *missing);

/* Between rounds: makes the process table anew if it is time to. -ENOMEM: all is as it was. */
int live_renew(struct live_walk *w);

#endif
