/* SPDX-License-Identifier: MIT */
/*
 * load_cut.h: stacks whose outer frames are missing: those that ended because there was no room for
 * more frames, and those whose user part never came (states.def: CUT). Such a stack is called from
 * a frame that is none (PROFILE_MISSING) and says why, so that its outermost function is never
 * taken for a root.
 */
#ifndef SEAM_AGGREGATE_LOAD_CUT_H
#define SEAM_AGGREGATE_LOAD_CUT_H

#include "profile/profile.h"
#include "samples/recording.h"
#include "samples/stacks.h"

/* Zero-initialise; load_cut_free. */
struct load_cut {
	bool by_tables; /* user stacks were walked by BPF while recording */
	/* by event: addresses of its longest chain, where the kernel took all of it */
	uint32_t *most;
	uint32_t *frames;                    /* by limit: the profile's frame; 0: not made yet */
	uint32_t states[SEAM_STITCH_STATES]; /* likewise, by state */
};

/* To be called before load_cut_root: looks through all tables of a recording. -ENOMEM. */
int load_cut_learn(struct load_cut *c, const struct recording *rec,
                   const struct stacks *const *stacks, size_t n);
void load_cut_free(struct load_cut *c);

/* The node below which a stack hangs: PROFILE_ROOT for a whole one; PROFILE_FAILED: out of memory.
 * limited: outer frames are left out because the reader asked for it. */
uint32_t load_cut_root(struct load_cut *c, struct profile *p, const struct callchain *sample,
                       bool limited);

#endif
