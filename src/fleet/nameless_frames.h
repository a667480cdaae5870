/* SPDX-License-Identifier: MIT */
/* nameless_frames.h: which objects of a profile from a store have frames without a name. */
#ifndef SEAM_FLEET_NAMELESS_FRAMES_H
#define SEAM_FLEET_NAMELESS_FRAMES_H

#include "aggregate/load.h"
#include "store/store.h"

/* Whether a frame of a store's answer has no name. */
bool nameless_frames_has(const struct profile *p, const struct profile_frame *f);
/* Fills load's unnamed and taken_unnamed from its profile; the reasons are those that were found
 * when the windows were made. texts: holds them; buf_free when load is freed. -ENOMEM. */
int nameless_frames(struct load *load, const struct store_found *found, struct buf *texts);

#endif
