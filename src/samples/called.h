/* SPDX-License-Identifier: MIT */
/*
 * called.h: user stacks that the CPU recorded (--call-graph lbr). In the branch records of the
 * call-stack mode a return removes its call, so what is left are the calls that the task is in, the
 * innermost first.
 *
 * They are read as perf reads them. Where the callchain has a user part, they are its callers, and
 * what frame pointers said behind its first address does not count. They are the addresses of the
 * calls themselves, not those they return to, so they carry walk.h's mark. For a sample in the
 * kernel perf repeats the kernel's address in front of them; here that place has the user's
 * address.
 */
#ifndef SEAM_SAMPLES_CALLED_H
#define SEAM_SAMPLES_CALLED_H

#include "samples/callchain.h"

#define CALLED_MAX 2732u               /* words: what a record's branches give, and one */
#define CALLED_CALL_STACK (1ULL << 11) /* PERF_SAMPLE_BRANCH_CALL_STACK */

/* Whether the branches in this event's samples are calls. */
static inline bool called_event(const struct seam_event *event)
{
	return event && event->attr.sample_type & SEAM_SAMPLE_BRANCH_STACK &&
	       event->attr.branch_sample_type & CALLED_CALL_STACK;
}
/* Whether the words of the user part carry walk.h's marks. */
static inline bool called_marks(const struct callchain *s)
{
	return s->state == SEAM_STITCH_STACK_COPY ||
	       (s->state == SEAM_STITCH_IMMEDIATE && called_event(s->event));
}
/* Puts the calls in the place of a sample's user part, whose words are then those given (CALLED_MAX
 * of them): true. */
bool called_sample(struct seam_stitched *s, uint64_t *words);

#endif
