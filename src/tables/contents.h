/* SPDX-License-Identifier: MIT */
/*
 * contents.h: what is in a file, as a few bytes that a recording keeps. By them a later reader
 * knows whether a file is still the same, whatever became of its inode, rights and times. Equal
 * contents mean equal files: the digest is of all bytes, or of a Go build-id, which is a hash of
 * them, and of the size.
 */
#ifndef SEAM_TABLES_CONTENTS_H
#define SEAM_TABLES_CONTENTS_H

#include <stdint.h>

#include "base/blake2.h"
#include "image/image.h"

enum contents_kind {
	CONTENTS_NONE,
	CONTENTS_BYTES, /* the digest is of all bytes */
	CONTENTS_GO,    /* of the build-id of Go */
};

struct contents {
	uint32_t kind; /* enum contents_kind; others come from files */
	uint64_t size; /* of the file */
	unsigned char digest[BLAKE2_BYTES];
};

/* The most that contents_of may read, and for how long. Both are lowered by what it did. */
struct contents_bounds {
	uint64_t bytes;       /* that may be read */
	uint64_t deadline_ns; /* of CLOCK_MONOTONIC; 0: none */
};

/*
 * Of an open image. 0; -EFBIG, -ETIMEDOUT: it would be more than the bounds allow; -ENOTSUP: it is
 * no file; -errno.
 */
int contents_of(struct image *image, struct contents_bounds *bounds, struct contents *ret);
/* Whether the file still has these contents. Reads no more bytes than they had. */
bool contents_are(struct image *image, const struct contents *contents);

#endif
