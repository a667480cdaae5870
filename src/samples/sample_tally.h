/* SPDX-License-Identifier: MIT */
/*
 * sample_tally.h: how many samples are in which state, where that is all that is asked for: by
 * event. A sample whose state its own chain says is counted in the first pass, and has no entry in
 * the index; those that wait for a deferred record have one, and are counted here when all records
 * are known.
 */
#ifndef SEAM_SAMPLES_SAMPLE_TALLY_H
#define SEAM_SAMPLES_SAMPLE_TALLY_H

#include <seam/stitch.h>

#include "samples/walk_result.h"
#include "stitch/summary.h"

struct recording;

struct sample_tally_row {
	uint64_t samples[SEAM_STITCH_STATES], weight[SEAM_STITCH_STATES];
};

/* Zero-initialise to start. */
struct sample_tally {
	bool on;                       /* set before the first sample */
	struct sample_tally_row *rows; /* malloc; by index of the event */
	size_t n_rows;
	struct seam_stitch_counts counts;   /* of its samples */
	struct walk_result_counts recorded; /* of its samples that were unwound while recording */
};

/* 1: it counted the sample; 0: the sample needs an entry; -ENOMEM. */
int sample_tally_add(struct sample_tally *t, const struct seam_decoded *d,
                     const struct stitch_learned *said);
/* Counts the samples that have entries, once the recording is sealed: 1; 0: they need more than
 * that, and samples_each is to give them; -ENOMEM. */
int sample_tally_rest(struct recording *rec);

#endif
