/* SPDX-License-Identifier: MIT */
/*
 * callchain.h: the stack of a sample: both parts of its callchain, where it hit, and what became of
 * its user part. It is all that naming and counting look at, whatever a sample was read from.
 */
#ifndef SEAM_SAMPLES_CALLCHAIN_H
#define SEAM_SAMPLES_CALLCHAIN_H

#include <seam/stitch.h>

struct callchain {
	const struct seam_event *event;
	uint64_t ip; /* where the sample hit; 0: the event does not say */
	uint16_t misc;
	uint16_t deferred_misc;
	enum seam_stitch_state state;
	struct seam_u64s kernel, user; /* as in struct seam_stitched */
};

static inline struct callchain callchain_of(const struct seam_stitched *s)
{
	return (struct callchain){ .event = s->sample.event,
		                   .ip = s->sample.ip,
		                   .misc = s->misc,
		                   .deferred_misc = s->deferred_misc,
		                   .state = s->state,
		                   .kernel = s->kernel,
		                   .user = s->user };
}

#endif
