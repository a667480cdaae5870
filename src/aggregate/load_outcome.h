/* SPDX-License-Identifier: MIT */
/*
 * load_outcome.h: samples that were unwound while recording, counted by how their walks ended, and
 * the objects in which unwind information was missing.
 */
#ifndef SEAM_AGGREGATE_LOAD_OUTCOME_H
#define SEAM_AGGREGATE_LOAD_OUTCOME_H

#include "base/buf.h"
#include "samples/outcome.h"
#include "samples/recording.h"

/* One thread's. Zero-initialise; buf_free(&missing). */
struct load_outcome {
	struct outcome_counts counts;
	struct buf missing; /* struct unwound_missing */
};

/* Counts a sample, whose user half belongs to an address space (recording_spaces). -ENOMEM. */
int load_outcome_add(struct load_outcome *o, const struct recording *rec, uint32_t space,
                     const struct seam_stitched *sample);

#endif
