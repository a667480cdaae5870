/* SPDX-License-Identifier: MIT */
/*
 * ordered.h: the records of a recording in order of time, samples already stitched.
 *
 * Uses the sealed recording, so nothing waits for its user half. Only the records that the caller
 * wants are ordered; for those, 32 bytes each are held (copies where the reader's bytes do not last).
 */
#ifndef SEAM_PIPELINE_ORDERED_H
#define SEAM_PIPELINE_ORDERED_H

#include "pipeline/recording.h"
#include "pipeline/tables.h"
#include "unwind/walk.h"

struct ordered_opts {
	size_t sz;
	bool all;         /* every record of the kernel but answers */
	bool answers;     /* CALLCHAIN_DEFERRED records, too, and samples as recorded */
	bool mmaps;       /* MMAP, MMAP2 */
	bool tasks;       /* COMM, FORK, EXIT */
	bool losses;      /* LOST, LOST_SAMPLES */
	bool sure;        /* stack copies: no guessed frames, and addresses without marks */
	bool keep_stacks; /* stack copies are not unwound */
	const struct tables_opts *tables; /* unwind tables; NULL: defaults */
	struct progress progress;
};

struct ordered_item {
	struct seam_decoded decoded;
	struct seam_record record;
	uint64_t time_ns;
	struct seam_stitched sample; /* when decoded is a SAMPLE */
	const struct walk *walk;     /* how its stack copy was unwound; NULL: it has none */
};

/* Calls each in order of time; it stops when that returns non-zero, and returns it. */
int ordered_each(struct recording *rec, const struct ordered_opts *opts,
                 int (*each)(void *ctx, const struct ordered_item *item), void *ctx,
                 struct seam_error *err);

#endif
