/* SPDX-License-Identifier: MIT */
/*
 * members.h: the samples of the members of a group that is read at its leader's samples (perf's
 * :S).
 *
 * Such a sample carries the counters of all members. Each member's share of it is what its counter
 * grew by since its last sample, of the same thread where events are inherited; a member whose
 * counter stands has none. Samples must come in order of time for the shares to be right.
 */
#ifndef SEAM_ABI_MEMBERS_H
#define SEAM_ABI_MEMBERS_H

#include <seam/record.h>

#include "base/map.h"

/* Zero-initialise to start; members_free to end. 16 bytes or so per counter. */
struct members {
	struct map last; /* of each counter: its value */
};

struct member {
	const struct seam_event *event;
	uint64_t id, period;
};

/* Whether the sample must be given as one sample for each member of its group. */
static inline bool members_of(const struct seam_sample *s)
{
	return s->event->attr.sample_type & SEAM_SAMPLE_READ && s->read.format & SEAM_FORMAT_ID;
}

/* Whether an event's samples may need that. */
static inline bool members_of_event(const struct seam_event *e)
{
	return e->attr.sample_type & SEAM_SAMPLE_READ && e->attr.read_format & SEAM_FORMAT_ID;
}

/* The next member that has a share in the sample: 1 and *ret, 0 behind the last, or -ENOMEM. *i
 * starts at 0. A value whose id belongs to no event is passed over. */
int members_next(struct members *m, const struct seam_events *events, const struct seam_sample *s,
                 uint64_t *i, struct member *ret);
void members_free(struct members *m);

#endif
