/* SPDX-License-Identifier: MIT */
/*
 * ordered.h: the records of a recording in order of time, samples already stitched.
 *
 * Uses the sealed recording, so nothing waits for its user part. Only the records that the caller
 * wants are ordered; for those, 32 bytes each are held (copies where the reader's bytes do not
 * last).
 */
#ifndef SEAM_SAMPLES_ORDERED_H
#define SEAM_SAMPLES_ORDERED_H

#include "base/buf.h"
#include "samples/batch.h"
#include "samples/recording.h"
#include "tables/tables.h"

struct ordered_opts {
	size_t sz;
	bool all;         /* every record of the kernel but answers */
	bool deferred;    /* CALLCHAIN_DEFERRED records, too, and samples as recorded */
	bool mmaps;       /* MMAP, MMAP2 */
	bool tasks;       /* COMM, FORK, EXIT */
	bool losses;      /* LOST, LOST_SAMPLES */
	bool noted;       /* of samples only what ordered_notes.h says is looked at; ordered_text */
	bool keep_stacks; /* stack copies are not unwound */
	const struct tables_opts *tables; /* unwind tables; NULL: defaults */
	unsigned threads; /* of ordered_text; 0: as many as there are CPUs, at most 16 */
	struct progress progress;
};

/* Calls each in order of time; it stops when that returns non-zero, and returns it. */
int ordered_each(struct recording *rec, const struct ordered_opts *opts,
                 int (*each)(void *ctx, const struct batch_item *item), void *ctx,
                 struct seam_error *err);

/* Items become bytes in several threads, and the bytes come out in order of time. */
#define ORDERED_THREADS_MAX 16u
struct ordered_writer {
	/* A thread begins: its ctx for put, from the thread that called ordered_text. -ENOMEM. */
	int (*start)(void *ctx, void **ret_thread);
	/* Appends what is to be written of an item; each thread has its own ctx. 0 or -errno. */
	int (*put)(void *thread, const struct batch_item *item, struct buf *out);
	/* Writes; from the thread that called ordered_text. 0 or -errno. */
	int (*write)(void *ctx, const struct buf *out);
	void *ctx;
};
int ordered_text(struct recording *rec, const struct ordered_opts *opts,
                 const struct ordered_writer *writer, struct seam_error *err);

#endif
