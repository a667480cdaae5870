/* SPDX-License-Identifier: MIT */
/*
 * pool.h: stores each distinct thing once and names it by a dense id (1, 2, 3 ...). All things have
 * one size, and things are equal if their bytes are, so they must have no padding. Pointers are
 * valid until pool_free. Zero-initialise all but `size`.
 */
#ifndef SEAM_BASE_POOL_H
#define SEAM_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

#define POOL_BLOCK 4096u /* things */

struct pool {
	uint32_t size; /* of a thing, in bytes */
	uint32_t n;
	unsigned char **blocks;
	uint64_t *index; /* hash << 32 | id; 0 is free */
	size_t capacity;
	uint64_t secret; /* of this process: where a thing goes */
};

#define POOL_FAILED UINT32_MAX /* out of memory, or 2^32 - 2 things */

void pool_free(struct pool *p);
/* The id of a thing, which is copied when it is new. */
uint32_t pool_put(struct pool *p, const void *thing);
/* Keeps a thing without asking whether it is known: the caller has another way to find it, and
 * pool_put does not. Its id, as above. */
uint32_t pool_add(struct pool *p, const void *thing);

/* id is from 1 to p->n. */
static inline const void *pool_at(const struct pool *p, uint32_t id)
{
	return p->blocks[(id - 1) / POOL_BLOCK] + (size_t)((id - 1) % POOL_BLOCK) * p->size;
}

#endif
