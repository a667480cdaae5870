/* SPDX-License-Identifier: MIT */
/* live_missing.h: where walks ended for want of unwind information, after what they ran in is gone.
 * */
#ifndef SEAM_RECORDER_LIVE_MISSING_H
#define SEAM_RECORDER_LIVE_MISSING_H

#include "base/arena.h"
#include "base/buf.h"
#include "samples/unwound.h"

#define LIVE_MISSING_MAX 1000u /* entries; what is beyond is summed up */

/* Objects in which walks ended for want of unwind information, with names of their own.
 * Zero-initialise. */
struct live_missing {
	struct buf entries; /* struct unwound_missing */
	struct arena names;
};

/* One entry for equal path and reason: code made at run time is another object in each process, and
 * the same to people. -ENOMEM. */
int live_missing_add(struct live_missing *to, const struct unwound_missing *m, size_t n);
void live_missing_sort(struct live_missing *missing);
void live_missing_free(struct live_missing *missing);

#endif
