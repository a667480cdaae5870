/* SPDX-License-Identifier: MIT */
/*
 * first_pass.h: what the first pass does with one record: who learns from it, and where it lies.
 * For recording.c only.
 */
#ifndef SEAM_SAMPLES_LEARNER_H
#define SEAM_SAMPLES_LEARNER_H

#include "abi/members.h"
#include "samples/jit.h"
#include "samples/recording.h"

/* Memory into which all records of one type are decoded, one after the other (redecode.h). */
struct first_pass_place {
	struct seam_decoded decoded;
	const struct seam_event *event;
};

struct first_pass {
	struct recording *rec;
	size_t runs_capacity, changes_capacity;
	struct recording_run *run; /* the last one */
	struct members members;
	struct jit jit;
	struct first_pass_place sample, deferred;
	size_t events;           /* so many were asked whether ... */
	bool said;               /* ... one of them says how walks ended (walk_result.h) */
	bool once;               /* recording_opts */
	size_t again, looked_at; /* stacks that were met again, and bytes of the file for these */
};

/* What is known of the recording's size: from now on little of it is held. */
void first_pass_large(struct first_pass *l);

void first_pass_free(struct first_pass *l);

/* Counts it, places it into a run, teaches proc and the stitcher. -ENOMEM; unsound records are
 * counted. */
int first_pass_record(struct first_pass *l, const struct seam_record *record);
/* The same in two steps, for a stream. This one counts the record: 1 and decoded if it is one of
 * the kernel's and sound, else 0. */
int first_pass_count(struct first_pass *l, const struct seam_record *record,
                     struct seam_decoded *ret);
/* Learns mappings, tasks and kernel code, in order of time. */
int first_pass_side_band(struct first_pass *l, const struct seam_decoded *d);
/* Build-ids of the header (feature or record), for mappings that carry none. */
int first_pass_build_ids(struct recording *rec, const void *bytes, size_t n, bool swap);

#endif
