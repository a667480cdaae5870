/* SPDX-License-Identifier: MIT */
/* load_count.h: samples counted by their stacks, by one thread. For load.c only. */
#ifndef SEAM_AGGREGATE_LOAD_COUNT_H
#define SEAM_AGGREGATE_LOAD_COUNT_H

#include "aggregate/load.h"
#include "aggregate/load_alike.h"
#include "aggregate/load_cgroup.h"
#include "aggregate/load_walk_result.h"
#include "samples/samples.h"
#include "samples/stacks.h"

struct load_ahead;
struct load_known;

struct load_count {
	struct recording *rec;
	const struct load_opts *opts;
	const struct load_cgroups *cgroups; /* of PROFILE_KEEP_CGROUP */
	struct stacks stacks;
	struct profile_slices slices;
	size_t rows_most; /* of stacks; with more of them slices are made longer */
	size_t rows_next; /* with more of them that is tried: not less than rows_most */
	struct load_alike alike;
	struct map programs; /* a program, as alike.places has it -> the first space that runs it */
	struct load_program {
		bool known;
		uint32_t space, first;
	} program;                /* of the space that was asked for last */
	struct load_ahead *ahead; /* is told of user parts; NULL: nobody */
	unsigned char *kernels;   /* by kernel part: 0: not known yet */
	size_t kernels_capacity;
	/* By kernel part, and by user part: where it begins. Its words may be far. 0: not known.
	 * By half their numbers: odd ones are of the other byte order, and are looked at each
	 * time. */
	struct load_first {
		uint64_t *address;
		size_t capacity;
	} first[2];
	struct load_known *known;       /* by sample.who */
	bool *said;                     /* by index of the event: walk_result_said */
	struct load_walk_result result; /* of walks while recording */
	struct sample_counts counts;
	struct unwound_counts unwound;
	unsigned until_asked; /* samples, until progress.stopped is asked again */
	struct buf missing;   /* struct unwound_missing, of walks in copies of stacks */
};

/* -ENOMEM; free it anyhow. */
int load_count_start(struct load_count *c, struct recording *rec, const struct load_opts *opts);
/* For struct samples_consumer: -ENOMEM. */
int load_count_sample(void *count, const struct sample *sample, struct buf *out);
int load_count_end(void *count, const struct sample_counts *counts, const struct unwound *unwound);
void load_count_free(struct load_count *c);

#endif
