/* SPDX-License-Identifier: MIT */
/*
 * load_descend.h: parts of stacks as nodes of the profile's tree, each distinct address named once.
 * For load_build.c only.
 */
#ifndef SEAM_AGGREGATE_LOAD_DESCEND_H
#define SEAM_AGGREGATE_LOAD_DESCEND_H

#include "aggregate/load_cut.h"
#include "aggregate/load_frame.h"
#include "aggregate/load_span.h"
#include "base/arena.h"
#include "samples/loop_fold.h"
#include "samples/stacks.h"

/* Zero-initialise but for namer; load_descent_start, load_descent_free. */
struct load_descent {
	struct load_namer namer;
	uint32_t *frames; /* of one part, innermost first */
	size_t frames_capacity;
	struct load_recent *recent;
	struct load_spans spans;
	unsigned recent_bits; /* of how many there are */
	struct load_trail *trails;
	struct load_cut cut;
	struct loop_fold fold;
	struct arena folded; /* words of user parts without loops */
	uint64_t told;       /* of one stack: LOAD_DATA, LOAD_TAKEN */
};

/* The task whose stack is walked, and when the stack was first met. */
struct load_whose {
	const struct stacks_key *key;
	uint32_t kernel, user; /* parts */
	uint32_t user_space;
	uint64_t time_ns;
};

/* stacks: how many there will be, about. -ENOMEM. */
int load_descent_start(struct load_descent *d, uint64_t stacks);
void load_descent_free(struct load_descent *d);
/* Of a table for so many things: 1 << bits of them, at most 1 << most. */
unsigned load_descent_bits(uint64_t things, unsigned most);
/* What a frame is: its id, with LOAD_* beside it. */
int load_frame(struct load_descent *d, const struct load_whose *e, const struct frame_at *at,
               uint64_t *ret);
/* Leaves interpreters' loops out of the user part, unless they are wanted, or the functions that
 * they run. */
int load_fold(struct load_descent *d, uint32_t space, struct callchain *sample);
/* Puts the frames of a chain into d->frames, innermost first: for a hit outside of the chain at
 * most `most` of them. */
int load_walk(struct load_descent *d, const struct load_whose *e, const struct callchain *sample,
              size_t most, size_t *ret);
/* The node of the innermost of n frames (d->frames); the outermost one is called from *node. */
int load_path(struct load_descent *d, size_t n, uint32_t *node);
/* In load_descend_user: where the part hangs is said by how it ended. */
#define LOAD_ROOT_BY_END PROFILE_FAILED
/* Where a part hangs, when its frames are known: below root, unless it went into data and there is
 * no reason why it ended. PROFILE_FAILED. */
uint32_t load_root(struct load_descent *d, const struct load_whose *e, uint32_t root,
                   bool unfinished, uint32_t outermost, size_t n);
/*
 * The node of a user part's innermost frame; how tells address spaces apart whose parts are read in
 * different ways. The part is folded on the way. It hangs below load_root.
 */
int load_descend_user(struct load_descent *d, const struct load_whose *e, struct callchain *sample,
                      uint32_t how, uint32_t root, uint32_t *node);

#endif
