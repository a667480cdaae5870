/* SPDX-License-Identifier: MIT */
/* packed.h: a window as bytes that need nothing else, for a spool. What is read is not trusted. */
#ifndef SEAM_STORE_PACKED_H
#define SEAM_STORE_PACKED_H

#include "store/store.h"

/* A window that was read: w points to what is beside it. */
struct packed_window {
	struct store_window w;
	struct profile *profile;
	struct buf text; /* names of counts, the instance */
	uint32_t *row_series;
	struct labels *series;
	struct store_count *counts;
};

/* -ENOMEM. */
int packed_write(struct buf *to, const struct store_window *w);
/* The counts of rows, series and window are as they were; processes are not kept. more: counts that
 * there will be room for beside the window's. -EBADMSG, -ENOMEM; packed_free in any case. */
int packed_read(struct packed_window *ret, const void *bytes, size_t n, size_t more);
void packed_free(struct packed_window *p);

#endif
