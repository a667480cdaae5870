/* SPDX-License-Identifier: MIT */
/*
 * index.h: all that a whole file says about deferred callchains, learned once in any order, then
 * asked by any number of threads. It grows with the file: 32 bytes a sample and 44 an answer, which
 * lie in a file without a name where they are many (base/blocks.h); and with distinct chains: 24
 * bytes each, and their addresses where bytes do not stay. No allocation per record.
 */
#ifndef SEAM_STITCH_INDEX_H
#define SEAM_STITCH_INDEX_H

#include "stitch/chains.h"
#include "stitch/summary.h"
#include "stitch/cookies.h"
#include "stitch/rules.h"
#include "stitch/track.h"

struct index_deferred {
	uint64_t when;
	uint32_t chain; /* of chains */
	uint32_t pid, tid;
	/* of ips: a record holds less than CHAINS_SWAP of them, which says that they are of the
	 * other byte order */
	uint16_t n;
	uint16_t misc;
	uint32_t next; /* with the same cookie: number + 1, or 0 */
	/* Set by sealing: for so many ns (up to 4 s) before and after it there is no exec of its
	 * process and no birth of its task. */
	uint32_t quiet_before, quiet_after;
};

/* Zero-initialised things of one type, named by number. */
struct index_items {
	void *at;
	uint32_t n;
	size_t capacity;
};

#define INDEX_TRACKS 16u

struct index {
	/* cookie -> number + 1 of its first deferred record, INDEX_CARRIED */
	struct cookies cookies;
	struct blocks deferred; /* struct index_deferred */
	uint32_t n_deferred;
	struct chains chains; /* their addresses */

	struct map track_of;       /* tid -> number of its struct track */
	struct index_items tracks; /* struct track */
	struct tracks points;
	struct {
		uint32_t tid, track; /* + 1; 0: none */
	} last[INDEX_TRACKS];        /* while learning, by the low bits of the tid */
	struct map execs_of;         /* pid -> number of its struct times */
	struct index_items execs;

	bool swap;             /* the bytes of stable records are of the other byte order */
	struct map duplicates; /* record index of samples written again */
	uint64_t maybe_duplicate
	        [64]; /* a bit for each, by the low bits of its index: few indices need a lookup */
	enum rules_output output;
	struct rules_losses losses;
	uint64_t claimed, duplicate_records, refused;
	size_t peak_bytes;
};

void index_free(struct index *ix);
int index_learn(struct index *ix, const struct seam_decoded *d);
/* The same, of a SAMPLE. */
int index_learn_sample(struct index *ix, const struct seam_decoded *d, struct stitch_learned *ret);
int index_seal(struct index *ix);
/* 1, or 0 for a duplicate. */
int index_resolve(const struct index *ix, const struct seam_decoded *d,
                  struct seam_stitch_counts *counts, struct seam_stitched *ret);
bool index_resolve_summary(const struct index *ix, const struct stitch_summary *summary,
                           struct seam_stitch_counts *counts, struct stitch_verdict *ret);
/* The state of a sample whose own chain says it, which is counted. */
enum seam_stitch_state index_own_counted(struct seam_stitch_counts *counts, enum rules_kind kind);
/* The samples that come next are far from those before: what was looked at leaves memory, where it
 * need not be held. Any thread. */
void index_rest(const struct index *ix);
void index_counts(const struct index *ix, struct seam_stitch_counts *ret);

#endif
