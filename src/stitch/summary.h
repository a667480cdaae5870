/* SPDX-License-Identifier: MIT */
/*
 * summary.h: resolves a file's samples without their bytes. While a sample is learned, the caller
 * keeps a summary of it; once the stitcher is sealed, the summary is enough. For rooms of seam.
 * Other programs have seam_stitch_learn and seam_stitch_resolve, which give the same states.
 */
#ifndef SEAM_STITCH_SUMMARY_H
#define SEAM_STITCH_SUMMARY_H

#include "base/intern.h"
#include "stitch/rules.h"

/* What the first pass found in a sample's chain. */
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
	/* The number of the deferred record's chain, which is below stitch_chains() and the same
	 * for equal chains, and how many words it has. */
	uint32_t chain;
	uint16_t n;
	bool swap;
};

/* Says who keeps the words of deferred records from now on, where their bytes last: the caller
 * (INTERN_LASTING) unless it is said. */
void stitch_kept(struct seam_stitch *stitch, enum intern_way way);
/* Chains of deferred records may be looked up in a thread until the stitcher is sealed, where they
 * are many and their bytes last. */
void stitch_beside(struct seam_stitch *stitch);
/* How many chains were copied when they were met again (INTERN_ONCE), about. */
size_t stitch_met_again(const struct seam_stitch *stitch);
/* As seam_stitch_learn, of a SAMPLE. */
int stitch_learn_sample(struct seam_stitch *stitch, const struct seam_decoded *d,
                        struct stitch_learned *ret);
/* As seam_stitch_resolve, after seal: false for a duplicate. */
bool stitch_resolve_summary(const struct seam_stitch *stitch, const struct stitch_summary *summary,
                            struct seam_stitch_counts *counts, struct stitch_verdict *ret);
/* The state that a sample's own chain gives, where no deferred record is needed: any kind but
 * RULES_DEFERRED. It is counted. */
enum seam_stitch_state stitch_own(struct seam_stitch_counts *counts, enum rules_kind kind);
/* The words of chains by their numbers; it lives as long as the stitcher. */
const struct intern *stitch_chain_words(const struct seam_stitch *stitch);
/* How many samples were copies and are left out; for a stream, so far. */
uint64_t stitch_copies(const struct seam_stitch *stitch);
/* The samples that are asked for next are far from those before: what need not be held leaves
 * memory. Any thread. */
void stitch_rest(const struct seam_stitch *stitch);
/* How many distinct chains the deferred records have. The empty chain is number 0. */
size_t stitch_chains(const struct seam_stitch *stitch);

#endif
