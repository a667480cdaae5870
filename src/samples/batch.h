/* SPDX-License-Identifier: MIT */
/*
 * batch.h: records decoded, stitched and unwound a few at a time.
 *
 * One by one a long recording is read at the speed at which memory answers. In a batch each step
 * asks for what the next step will read: the ends of all records, then the words of all stacks that
 * are likely to be read. What comes out is the same, in the same order.
 */
#ifndef SEAM_SAMPLES_BATCH_H
#define SEAM_SAMPLES_BATCH_H

#include "samples/called.h"
#include "samples/recording.h"
#include "samples/unwound.h"

#define BATCH_MAX 16u

struct batch_item {
	struct seam_record record;
	struct seam_decoded decoded;
	const struct seam_event *again;    /* decoded holds a sample of it; NULL: something else */
	struct seam_stitched sample;       /* when it is a SAMPLE */
	bool called;                       /* its user part is the batch's (called.h) */
	const struct walk *walk;           /* how its stack copy was unwound; NULL: it has none */
	uint64_t time_ns;                  /* 0: it has none */
	uint64_t proc_ns;                  /* proc_time */
	uint32_t user_space, kernel_space; /* of a sample, as recording_spaces gives them */
	const char *comm;                  /* left to take */
	bool noted; /* made of an entry: what is not indexed is not there (ordered_notes.h) */
	bool wanted;
};

struct batch {
	const struct recording *rec;
	struct unwound *unwound;           /* NULL: stack copies are left alone */
	struct seam_stitch_counts *counts; /* may be NULL */
	/* Says which items to unwind and to give; NULL: all. */
	bool (*take)(void *ctx, struct batch_item *item);
	/* Each in order, valid during the call; it stops when that returns non-zero. */
	int (*each)(void *ctx, const struct batch_item *item);
	void *ctx;
	struct proc_recall recall; /* zero at the start; also take's */
	size_t n;
	struct batch_item item[BATCH_MAX];
	uint64_t words[CALLED_MAX]; /* of the user part of the item that is given */
};

/* Takes a record whose bytes last until the batch has run, and runs it when it is full: 0, what
 * each returned, -ENOMEM. */
int batch_add(struct batch *b, const struct seam_record *record);
/* Runs what is there. */
int batch_run(struct batch *b);

#endif
