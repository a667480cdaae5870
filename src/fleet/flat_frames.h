/* SPDX-License-Identifier: MIT */
/* flat_frames.h: what frames are where an answer has sums in place of stacks (profile/flat.h). */
#ifndef SEAM_FLEET_FLAT_FRAMES_H
#define SEAM_FLEET_FLAT_FRAMES_H

#include "base/intern.h"
#include "profile/flat.h"

/* Zero-initialise; flat_frames_free. */
struct flat_frames {
	const struct flat *flat;
	struct intern numbers; /* of rollup_frame_number */
};

/* A struct flat's frame; ctx: a struct flat_frames. */
int flat_frames_say(void *ctx, const struct profile *p, uint32_t frame, struct flat_frame *ret);
void flat_frames_free(struct flat_frames *f);

#endif
