/* SPDX-License-Identifier: MIT */
/* sum_up.h: a store's roll-up with sums by frame, for answers that show no stacks. */
#ifndef SEAM_FLEET_SUM_UP_H
#define SEAM_FLEET_SUM_UP_H

#include "store/store.h"

/* As store_roll_up; what frames are in sums is judged as answers do. */
int sum_up(struct store *s, const struct store_query *q, uint64_t now_ns, unsigned most,
           struct store_rolled *ret, struct seam_error *err);

#endif
