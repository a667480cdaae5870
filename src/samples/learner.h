/* SPDX-License-Identifier: MIT */
/*
 * learner.h: what the first pass does with one record: who learns from it, and where it lies. For
 * recording.c only.
 */
#ifndef SEAM_SAMPLES_LEARNER_H
#define SEAM_SAMPLES_LEARNER_H

#include "abi/members.h"
#include "samples/jit.h"
#include "samples/recording.h"

/* Where the records of one type are decoded, one after the other (again.h). */
struct learner_place {
	struct seam_decoded decoded;
	const struct seam_event *event;
};

struct learner {
	struct recording *rec;
	size_t runs_capacity, changes_capacity;
	struct recording_run *run; /* the last one */
	struct members members;
	struct jit jit;
	struct learner_place sample, answer;
};

void learner_free(struct learner *l);

/* Counts it, places it into a run, teaches proc and the stitcher. -ENOMEM; unsound records are
 * counted. */
int learner_record(struct learner *l, const struct seam_record *record);
/* The same in two steps, for a stream. Counts it: 1 and decoded when it is one of the kernel's and
 * sound, else 0. */
int learner_count(struct learner *l, const struct seam_record *record, struct seam_decoded *ret);
/* Learns mappings, tasks and kernel code, in order of time. */
int learner_side_band(struct learner *l, const struct seam_decoded *d);
/* Build-ids of the header (feature or record), for mappings that carry none. */
int learner_build_ids(struct recording *rec, const void *bytes, size_t n, bool swap);

#endif
