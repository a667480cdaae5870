/* SPDX-License-Identifier: MIT */
/*
 * called.h: user stacks that a CPU kept (--call-graph lbr): branch records in the mode for call
 * stacks, in which a return takes its call away. What is left are the calls that the task is in,
 * the innermost first.
 *
 * As perf reads them: they are the callers where the callchain has a user part, and what that has
 * by frame pointer behind its first address does not count. They are the calls themselves, not
 * where they return to, so they bear walk.h's mark. Of a sample in the kernel perf says the
 * kernel's address again in front of them: here it is the user's.
 */
#ifndef SEAM_SAMPLES_CALLED_H
#define SEAM_SAMPLES_CALLED_H

#include "samples/callchain.h"

#define CALLED_MAX 2732u               /* words: what a record's branches give, and one */
#define CALLED_CALL_STACK (1ULL << 11) /* PERF_SAMPLE_BRANCH_CALL_STACK */

/* Are its samples' branches calls? */
static inline bool called_event(const struct seam_event *event)
{
	return event && event->attr.sample_type & SEAM_SAMPLE_BRANCH_STACK &&
	       event->attr.branch_sample_type & CALLED_CALL_STACK;
}
/* Do the words of its user part bear walk.h's marks? */
static inline bool called_marks(const struct callchain *s)
{
	return s->state == SEAM_STITCH_STACK_COPY ||
	       (s->state == SEAM_STITCH_IMMEDIATE && called_event(s->event));
}
/* Puts the calls in the place of a sample's user part, whose words are then those given (CALLED_MAX
 * of them): true. */
bool called_sample(struct seam_stitched *s, uint64_t *words);

#endif
