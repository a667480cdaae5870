/* SPDX-License-Identifier: MIT */
/*
 * stream.h: stitching of records fed in time order, samples out in that order, in bounded memory.
 *
 * The same rules as a file's, with what has been seen so far. It differs where it cannot wait: see
 * "A stream" in README.md.
 */
#ifndef SEAM_STITCH_STREAM_H
#define SEAM_STITCH_STREAM_H

#include "stitch/waiting.h"

#define STREAM_MAX_BYTES (256u << 20)

/* The samples of the present moment of which a copy would show, by hash: it has the same time. */
struct stream_moment {
	uint64_t when;
	uint64_t few[16];
	size_t n;
	struct map more; /* when they are not few */
};

struct stream {
	struct queue queue;
	struct deferred_set deferred;
	struct waiting waiting;
	struct stream_moment moment;
	enum rules_output output;
	struct rules_losses losses;
	struct seam_stitch_counts counts;
	uint64_t now;
	size_t max_bytes;
	bool finished;
	struct hold *delivered; /* the caller still looks at it */
	uint64_t *words;        /* user addresses of it */
	size_t n_words;
};

void stream_start(struct stream *st, size_t max_bytes);
void stream_free(struct stream *st);
int stream_feed(struct stream *st, const struct seam_decoded *d);
int stream_next(struct stream *st, struct seam_stitched *ret);
int stream_finish(struct stream *st);
void stream_counts(const struct stream *st, struct seam_stitch_counts *ret);

#endif
