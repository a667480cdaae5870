/* SPDX-License-Identifier: MIT */
/*
 * blocks.h: a long array that is filled from front to back: things of one size, in blocks that do
 * not move. The first ones are in memory. Those behind them lie in a file without a name
 * (scratch.h), of which only what is in use is in memory; where there is no place for a file, in
 * memory as well.
 *
 * Zero-initialise all but size and held. One thread adds; then any may read, and rest.
 */
#ifndef SEAM_BASE_BLOCKS_H
#define SEAM_BASE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/scratch.h"

#define BLOCKS_BITS 16u
#define BLOCKS_THINGS (1u << BLOCKS_BITS) /* in a block */

struct blocks {
	uint32_t size; /* of a thing; whole pages in 65,536 of them */
	uint32_t held; /* blocks that are in memory, from 1 on */
	uint64_t n;    /* things */
	uint64_t room; /* for so many things pages are there */
	unsigned char **at;
	size_t n_blocks;
	struct scratch scratch;
	size_t scratch_from, scratch_to; /* the blocks that lie in it */
};

void blocks_free(struct blocks *b);
/* The next thing, whose bytes are the caller's to fill; NULL: out of memory. */
void *blocks_new(struct blocks *b); /* for blocks_add */
/* i is below n. */
static inline void *blocks_at(const struct blocks *b, uint64_t i)
{
	return b->at[i >> BLOCKS_BITS] + (size_t)(i % BLOCKS_THINGS) * b->size;
}
static inline void *blocks_add(struct blocks *b)
{
	if (b->n == b->room)
		return blocks_new(b);
	return blocks_at(b, b->n++);
}
/* All things of a block will be changed: it comes into memory at once. */
void blocks_wanted(const struct blocks *b, size_t block);
/* Blocks [from, to) are not needed for a while: those that lie in a file leave memory. */
void blocks_rest(const struct blocks *b, size_t from, size_t to);
/* What may be held in memory. */
size_t blocks_bytes(const struct blocks *b);

#endif
