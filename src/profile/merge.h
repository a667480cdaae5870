/* SPDX-License-Identifier: MIT */
/* merge.h: a copy of a profile in an order that the caller gives. For canon.c only. */
#ifndef SEAM_PROFILE_MERGE_H
#define SEAM_PROFILE_MERGE_H

#include "profile/profile.h"

/* All of from into the empty profile to: its rows and samples as their indices stand in the
 * arrays. */
int merge_in_order(struct profile *to, const struct profile *from, const uint32_t *rows,
                   const uint32_t *samples);

#endif
