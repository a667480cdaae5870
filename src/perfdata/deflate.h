/* SPDX-License-Identifier: MIT */
/*
 * deflate.h: whole records into COMPRESSED2 records (or COMPRESSED, their older form). Each call
 * makes one zstd frame of its own, so that a damaged or missing piece costs only itself; the frame
 * is spread over as many records as it needs.
 */
#ifndef SEAM_PERFDATA_DEFLATE_H
#define SEAM_PERFDATA_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Most that one frame holds: perf reads into a buffer of this size, named in the feature. */
#define DEFLATE_CHUNK (256u << 10)

struct deflate {
	void *context; /* ZSTD_CCtx */
	struct buf frame;
	int level;
	bool v1; /* COMPRESSED instead of COMPRESSED2 */
};

int deflate_init(struct deflate *d, int level);
void deflate_free(struct deflate *d);
/* Appends COMPRESSED2 (or COMPRESSED) records that hold n <= DEFLATE_CHUNK bytes. */
int deflate_records(struct deflate *d, const void *records, size_t n, struct buf *out);

#endif
