/* SPDX-License-Identifier: MIT */
/*
 * load_cut.h: stacks whose outer frames are missing: those that ended because there was no room for
 * more frames, those whose user part never came (states.def: CUT), those whose walk by unwind
 * tables ended early (sample_end.h), and those that were followed into data. Such a stack is called
 * from a frame that is none (PROFILE_MISSING) and says why, so that its outermost function is never
 * taken for a root.
 */
#ifndef SEAM_AGGREGATE_LOAD_CUT_H
#define SEAM_AGGREGATE_LOAD_CUT_H

#include "profile/profile.h"
#include "samples/recording.h"
#include "samples/sample_end.h"
#include "samples/stacks.h"

/* Zero-initialise; load_cut_free. */
struct load_cut {
	bool by_tables; /* user stacks were walked by BPF while recording */
	/* by event: addresses of its longest chain, where the kernel took all of it */
	uint32_t *most;
	uint32_t *frames;                    /* by limit: the profile's frame; 0: not made yet */
	uint32_t states[SEAM_STITCH_STATES]; /* likewise, by state */
	uint32_t ends[SAMPLE_ENDS];          /* by sample_end */
	uint32_t data;                       /* followed into data */
};

/* -ENOMEM. */
int load_cut_start(struct load_cut *c, const struct recording *rec);
/* To be called before load_cut_root: looks through all tables of a recording. */
void load_cut_learn(struct load_cut *c, const struct recording *rec,
                    const struct stacks *const *stacks, size_t n);
/* Whether the answer for a stack depends on others, which must be learned before. */
bool load_cut_waits(const struct load_cut *c, const struct callchain *sample);
void load_cut_free(struct load_cut *c);

/* The node below which a stack hangs that filled its room, or whose user part never came:
 * PROFILE_ROOT for another; PROFILE_FAILED: out of memory. limited: outer frames are left out
 * because the reader asked for it. */
uint32_t load_cut_root(struct load_cut *c, struct profile *p, const struct callchain *sample,
                       const struct stacks_key *key, bool limited);
/* That of other user parts, by their outermost frame (0: none) and how many they have: where a walk
 * ended early, or in front of data, and no program or thread begins. */
uint32_t load_cut_end(struct load_cut *c, struct profile *p, sample_end end, bool in_data,
                      uint32_t outermost, size_t n);
/* Whether a node is such a root, and not that of a stack which filled its room: what hangs below it
 * is as good as outermost, for accounts of where stacks end. */
bool load_cut_ended(const struct profile *p, uint32_t node);
/* The same of its frame. */
bool load_cut_ended_frame(const struct profile *p, uint32_t frame);

#endif
