/* SPDX-License-Identifier: MIT */
/*
 * inflate.h: one zstd stream, cut into records of the file. Its frames may span any number of
 * those.
 *
 * Bounds against hostile input: one compressed record (at most 64 KiB) may give INFLATE_MOST bytes;
 * a zstd window is at most 128 MiB (libzstd's own limit).
 */
#ifndef SEAM_PERFDATA_INFLATE_H
#define SEAM_PERFDATA_INFLATE_H

#include <stddef.h>

#include "base/buf.h"

#define INFLATE_MOST (64u << 20)

struct inflate {
	void *stream;       /* ZSTD_DStream, made at first use */
	const char *reason; /* of the last failure, static text */
};

void inflate_free(struct inflate *z);
/* Forgets the stream's state: a new stream begins. */
void inflate_reset(struct inflate *z);
/* Appends what payload holds to out. -EBADMSG: not zstd, or broken; -E2BIG: more than
 * INFLATE_MOST; -ENOMEM. What was decoded before the fault stays in out. */
int inflate_more(struct inflate *z, const void *payload, size_t n, struct buf *out);

#endif
