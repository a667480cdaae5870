/* SPDX-License-Identifier: MIT */
/*
 * summary.h: a file's samples resolved without their bytes: who learned a sample keeps a brief of
 * it, and asks with that once the stitcher is sealed. For rooms of seam; others have
 * seam_stitch_learn and seam_stitch_resolve, which say the same.
 */
#ifndef SEAM_STITCH_SUMMARY_H
#define SEAM_STITCH_SUMMARY_H

#include "stitch/rules.h"

/* What a sample's chain said when it was learned. */
struct stitch_learned {
	struct rules_parts parts;
	uint64_t slot; /* of RULES_DEFERRED: where its cookie's answer will be found */
};

struct stitch_summary {
	struct rules_who who;
	uint32_t index; /* of the record */
	enum rules_kind kind;
	uint64_t slot;
};

/* What became of it, as in struct seam_stitched. */
struct stitch_verdict {
	enum seam_stitch_state state;
	uint16_t deferred_misc;
	uint64_t deferred_time_ns;
	/* Of a deferred record: the number of its chain, below stitch_chains(): equal ones have
	 * one; and how many words. */
	uint32_t chain;
	uint16_t n;
	bool swap;
};

/* As seam_stitch_learn, of a SAMPLE. */
int stitch_learn_sample(struct seam_stitch *stitch, const struct seam_decoded *d,
                        struct stitch_learned *ret);
/* As seam_stitch_resolve, after seal: false for a duplicate. */
bool stitch_resolve_summary(const struct seam_stitch *stitch, const struct stitch_summary *summary,
                            struct seam_stitch_counts *counts, struct stitch_verdict *ret);
/* The words of a deferred record; they live as long as the stitcher. */
struct seam_u64s stitch_words(const struct seam_stitch *stitch,
                              const struct stitch_verdict *verdict);
/* How many samples were written again, and are left out; of a stream, so far. */
uint64_t stitch_copies(const struct seam_stitch *stitch);
/* How many distinct chains answers have; the empty one has the number 0. */
size_t stitch_chains(const struct seam_stitch *stitch);

#endif
