/* SPDX-License-Identifier: MIT */
/* merge.h: a copy of a profile in an order that the caller gives, for canon.c; what merge.c alone
 * may change in a profile. */
#ifndef SEAM_PROFILE_MERGE_H
#define SEAM_PROFILE_MERGE_H

#include "profile/profile.h"

struct pool;

/* All of from into the empty profile to: its rows and samples as their indices stand in the
 * arrays. */
int merge_in_order(struct profile *to, const struct profile *from, const uint32_t *rows,
                   const uint32_t *samples);

/* ---- profile.c's ---- */

/* Swaps the frames for others, of which there are as many. */
void profile_set_frames(struct profile *p, struct pool *frames);
/* Puts each row and sample at another node, by its node. Rows that become equal are one.
 * -ENOMEM. */
int profile_move(struct profile *p, const uint32_t *nodes);

#endif
