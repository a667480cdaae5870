/* SPDX-License-Identifier: MIT */
/*
 * scenario.h: a made-up machine whose tasks enter the kernel, are sampled, answer, exec, exit,
 * migrate and lose records, as records in time order together with the truth about each sample.
 *
 * The truth is kept while the machine runs, from what its tasks do; nothing of src/stitch is used.
 * Same options, same records, on every machine.
 */
#ifndef SEAM_BENCH_SCENARIO_H
#define SEAM_BENCH_SCENARIO_H

#include <seam/record.h>
#include <seam/stitch.h>

#include "base/buf.h"

/* Chances are per 10,000. */
struct scenario_opts {
	uint64_t seed;
	uint32_t tasks, cpus;
	uint32_t frames;        /* of a user chain, at most */
	uint32_t chains;        /* as many user chains; 0: each answer has its own */
	uint32_t places;        /* as many kernel addresses are hit; 0: 2^20 */
	unsigned at_once;       /* a sample that is not deferred, in user mode */
	unsigned kernel_only;   /* a sample without a user part */
	unsigned no_callchain;  /* a sample of an event without callchains */
	unsigned user_mode;     /* a deferred sample that hit user mode */
	unsigned again;         /* another sample in the same kernel entry */
	unsigned late;          /* the deferred record comes early: samples behind it are late */
	unsigned lost;          /* a deferred record that never comes */
	unsigned exec;          /* an exec in a kernel entry */
	unsigned exit;          /* the task exits in a kernel entry */
	unsigned foreign;       /* a deferred record to another recording's cookie */
	unsigned twin_sample;   /* a sample written again, where that can be shown */
	unsigned twin_deferred; /* of a deferred record; or one from a second output event */
	/* a deferred record with the cookie of an entry and another task's tid */
	unsigned wrong_task;
	unsigned empty;   /* a deferred record with nr == 0 */
	unsigned overlap; /* a deferred record that comes behind the next entry's first sample */
	unsigned loss;    /* a LOST record */
	unsigned migrate; /* a task moves to another CPU */
	bool no_output;   /* no event has defer_output: there are no deferred records */
};

#define SCENARIO_NOT_A_SAMPLE UINT32_MAX

/* One record in the buf given to scenario_step. */
struct scenario_record {
	size_t offset;
	uint64_t time_ns;
	uint32_t cpu;
	uint32_t sample; /* its number, counted from 0; a duplicate has the number of the first */
};

struct scenario_truth {
	enum seam_stitch_state state;
	uint32_t chain; /* of the user part: scenario_frame; 0: none */
};

struct scenario;

int scenario_new(struct scenario **ret, const struct scenario_opts *opts);
void scenario_free(struct scenario *sc);
const struct seam_events *scenario_events(const struct scenario *sc);
/* One thing happens: appends its records, in time order, to bytes, and at most SCENARIO_STEP
 * descriptions of them to records, *n of them. 0, or -ENOMEM. */
#define SCENARIO_STEP 64
int scenario_step(struct scenario *sc, struct buf *bytes, struct scenario_record *records,
                  size_t *n);
uint32_t scenario_samples(const struct scenario *sc); /* so far, duplicates not counted */
/* The end of the recording: makes the truth and the counts final. */
void scenario_end(struct scenario *sc);
const struct scenario_truth *scenario_truth(const struct scenario *sc, uint32_t sample);
/* All counts but peak_bytes. */
const struct seam_stitch_counts *scenario_counts(const struct scenario *sc);
/* Addresses of a user chain. */
uint32_t scenario_frames(const struct scenario *sc, uint32_t chain);
uint64_t scenario_frame(uint32_t chain, uint32_t i);

/* Its own generator of random numbers, for tests that need more of them. */
uint64_t scenario_random(uint64_t *state);

#endif
