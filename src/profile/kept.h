/* SPDX-License-Identifier: MIT */
/* kept.h: what a profile keeps that was found out of it, until it is filled again or freed; for
 * those files of this room that find it. */
#ifndef SEAM_PROFILE_KEPT_H
#define SEAM_PROFILE_KEPT_H

#include <stdatomic.h>

#include "profile/profile.h"

/* What segments_of found, in one piece of memory; NULL: nothing yet. A profile that is not filled
 * any more is read by any number of threads: who puts it there first wins. */
_Atomic(void *) *profile_segments(const struct profile *p);

#endif
