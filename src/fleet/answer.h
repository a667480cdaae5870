/* SPDX-License-Identifier: MIT */
/* answer.h: what a store answers, in the form of a loaded recording, so that it goes the same way
 * as one. */
#ifndef SEAM_FLEET_ANSWER_H
#define SEAM_FLEET_ANSWER_H

#include "aggregate/load.h"
#include "store/store.h"

/* Zero-initialise; answer_free. */
struct answer {
	struct load load; /* the caller may take it over (answer_free frees the rest later) */
	struct store_found found;
	struct buf texts; /* that load points to */
};

/* keep: PROFILE_KEEP_LABEL or 0. */
int answer_load(struct answer *ret, struct store *s, const struct store_query *q, unsigned keep,
                struct seam_error *err);
/* Leaves only samples of these events: wanted is by event, the profile's first one at 0.
 * -ENOMEM. */
int answer_only_events(struct answer *a, const bool *wanted);
void answer_free(struct answer *a);

#endif
