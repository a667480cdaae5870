/* SPDX-License-Identifier: MIT */
/* gzip.h: bytes as a file of gzip's, made at once. */
#ifndef SEAM_EXPORT_GZIP_H
#define SEAM_EXPORT_GZIP_H

#include "base/buf.h"

/* Appends bytes compressed, as one member without time and name: equal bytes are equal files.
 * level: 1 to 12, as libdeflate has them. -ENOMEM. */
int gzip_put(const struct buf *bytes, int level, struct buf *to);

#endif
