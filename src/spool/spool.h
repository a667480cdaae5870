/* SPDX-License-Identifier: MIT */
/*
 * spool.h: pieces of bytes that wait in a directory, in order. One thread may put while another one
 * takes. A piece has a weight, which is counted when it is dropped.
 */
#ifndef SEAM_SPOOL_SPOOL_H
#define SEAM_SPOOL_SPOOL_H

#include <stdint.h>

#include <seam/error.h>

#include "base/buf.h"

struct spool;

struct spool_counts {
	uint64_t pieces, bytes;           /* that wait */
	uint64_t dropped, dropped_weight; /* since spool_told */
};

/* The directory is made, with those above it, for its owner alone. once: a piece that was marked as
 * sent when the program ended is dropped, because it may have arrived; else it is sent again.
 * -EEXIST: another process has the directory. */
int spool_open(struct spool **ret, const char *path, uint64_t most_bytes, bool once,
               struct seam_error *err);
void spool_close(struct spool *s);

/* The piece is on the disk when this returns. -ENOSPC and others: it is not there. -EMSGSIZE: it is
 * larger than the spool. */
int spool_put(struct spool *s, const void *bytes, size_t n, uint64_t weight,
              struct seam_error *err);
/* Reads the oldest piece, and marks it as sent: it is not dropped while it is under way. 1; 0:
 * there is none; -errno: it cannot be read. */
int spool_first(struct spool *s, struct buf *to);
/* The oldest piece arrived; or is to be dropped, and counted. */
void spool_done(struct spool *s);
void spool_drop(struct spool *s);
/* The oldest piece did not arrive: it waits again. */
void spool_back(struct spool *s);

void spool_counts(struct spool *s, struct spool_counts *ret);
/* So many of the dropped were told. */
void spool_told(struct spool *s, const struct spool_counts *told);

#endif
