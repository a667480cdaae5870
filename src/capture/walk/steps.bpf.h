/* SPDX-License-Identifier: MIT */
/*
 * steps.bpf.h: what walks at once of a thread saw last, so that the next one need not find it out
 * again; unwind/walk_cache.h does the same where copies are walked.
 *
 * Kept are the outer frames: of each the state in front of its step to the caller, and where it
 * read the caller's frame pointer. Only steps that used nothing but pc, stack pointer and frame
 * pointer are kept, and read nothing but the return address below the next stack pointer, and that
 * frame pointer: from an equal state, over equal words, by the same mappings, such a step leads to
 * the same next state, whosever stack it is. So a walk that comes into a state that is kept, and
 * finds every word behind it unchanged (again.bpf.h), has found all frames that are left. Nothing
 * is assumed of the words: each is compared.
 *
 * The mappings are known by their place in the arena. That is not used for others before it has
 * rested (kwalk_arena.c), so what is older than half of that counts for nothing.
 */
#ifndef SEAM_CAPTURE_WALK_STEPS_BPF_H
#define SEAM_CAPTURE_WALK_STEPS_BPF_H

#include "capture/bpf/kernel.bpf.h"

#define STEPS_ROOM 256u /* frames that are kept: the outermost */
#define STEPS_INDEX (2 * STEPS_ROOM - 1)
#define STEPS_THREADS 4u /* of a CPU; a power of two */
#define STEPS_NS 1000000000ull
#define STEPS_LAST ((__u64)(~0ull >> 1))

struct steps_one {
	__u64 pc, sp, fp; /* in front of the step; pc 0: behind the outermost frame */
	__u64 fp_at;      /* where the step read the frame pointer; 0: it left it as it was */
};

/* Of one thread. The second half of `at` is there for the verifier alone, but for its first entry,
 * which no search passes. */
struct steps {
	__u64 time_ns;
	__u32 mappings; /* that they were made by: their offset in the arena */
	__u32 first;    /* from here to STEPS_ROOM they are there, the innermost first */
	struct steps_one at[2 * STEPS_ROOM];
};

/* Of the walk that is being made, by number of its frames. */
struct steps_now {
	struct steps_one at[2 * STEPS_ROOM];
};

#endif
