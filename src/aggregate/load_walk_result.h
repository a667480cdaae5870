/* SPDX-License-Identifier: MIT */
/*
 * load_walk_result.h: samples that were unwound while recording, counted by how their walks ended,
 * and the objects in which unwind information was missing.
 */
#ifndef SEAM_AGGREGATE_LOAD_WALK_RESULT_H
#define SEAM_AGGREGATE_LOAD_WALK_RESULT_H

#include "base/buf.h"
#include "samples/walk_result.h"
#include "samples/recording.h"
#include "samples/samples.h"

/* Belongs to one thread. Zero-initialise to start; end with buf_free(&missing). */
struct load_walk_result {
	struct walk_result_counts counts;
	struct buf missing; /* struct unwound_missing */
};

/* Counts a sample whose walk said how it ended (walk_result_said). -ENOMEM. */
int load_walk_result_add(struct load_walk_result *o, const struct recording *rec,
                         const struct sample *sample);

#endif
