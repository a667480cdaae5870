/* SPDX-License-Identifier: MIT */
/* gzip.h: bodies of requests and answers, packed. */
#ifndef SEAM_NET_GZIP_H
#define SEAM_NET_GZIP_H

#include "base/buf.h"

/* Appends bytes packed. -ENOMEM. */
int gzip_pack(struct buf *to, const void *bytes, size_t n);
/* Appends packed bytes unpacked. -EBADMSG: they are not, or have more than most bytes. -ENOMEM. */
int gzip_unpack(struct buf *to, const unsigned char *bytes, size_t n, size_t most);

#endif
