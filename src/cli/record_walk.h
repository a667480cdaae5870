/* SPDX-License-Identifier: MIT */
/* record_walk.h: the user stack of a sample from its registers and a copy of the stack, by the tables that live.h knows. */
#ifndef SEAM_CLI_RECORD_WALK_H
#define SEAM_CLI_RECORD_WALK_H

#include "capture/bpf/live.h"
#include "unwind/walk.h"

/* frames has room for LIVE_FRAMES_MAX. */
void record_walk(struct live *live, const struct live_sample *sample, const struct live_raw *raw,
                 uint64_t *frames, struct walk *ret);

#endif
