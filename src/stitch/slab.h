/* SPDX-License-Identifier: MIT */
/* slab.h: cells of one size, taken and put back without the system's allocator. Start with .size
 * set (at least a pointer, a multiple of 8), all else zero. Memory goes back only with
 * slab_free. */
#ifndef SEAM_STITCH_SLAB_H
#define SEAM_STITCH_SLAB_H

#include <stddef.h>

#include "base/arena.h"

struct slab {
	size_t size; /* bytes of a cell */
	size_t n;    /* cells in use */
	struct arena arena;
	void *unused;
};

void slab_free(struct slab *s);
void *slab_take(struct slab *s); /* zeroed; NULL: out of memory */
void slab_put(struct slab *s, void *cell);

#endif
