/* SPDX-License-Identifier: MIT */
/*
 * stream_items.h: the samples of a stream in order of time, stitched, while it is read: one pass.
 *
 * Records are put into order by the recorder's rounds, side-band records are learned in that order,
 * and samples wait in the stitcher for their user parts. So a sample comes out at the second round
 * behind it at the earliest, and not before those in front of it. A stream without rounds is
 * ordered as far as 256 MiB reach; one without times comes in its own order.
 *
 * Memory: what the order and the stitcher hold is bounded (perfdata/order.h, seam/stitch.h); the
 * table of processes grows with side-band records, not with samples.
 */
#ifndef SEAM_SAMPLES_STREAM_ITEMS_H
#define SEAM_SAMPLES_STREAM_ITEMS_H

#include "samples/samples.h"

struct stream_handler {
	/* Called before the other callbacks: the stream's events and features are known, as far as
	 * they stand in front of its records. rec lives until stream_items returns, or longer if it
	 * is kept. */
	int (*start)(void *ctx, struct recording *rec);
	/* Called with each record of the kernel that is no sample, in order of time; with those of
	 * mappings and tasks only behind the start. */
	int (*learn)(void *ctx, const struct seam_record *record);
	int (*each)(void *ctx, const struct sample *sample);
	/* Called when a round is over: what was made so far may be shown. */
	int (*round)(void *ctx);
	void *ctx;
};

struct stream_counts {
	uint64_t late;   /* records that came behind later ones of another round */
	uint64_t forced; /* records let go early, for want of memory */
};

/*
 * Reads all of reader, which is a stream. Of opts: filter, needs, tables; records are always there.
 * *rec is set as soon as it is made and is the caller's to close, also after a failure; what its
 * functions say of a time holds for the times of what is being delivered. Stops when a callback
 * returns negative, and returns that.
 */
int stream_items(struct recording **rec, struct seam_reader *reader,
                 const struct samples_opts *opts, const struct stream_handler *handler,
                 struct stream_counts *counts, struct seam_error *err);

#endif
