// SPDX-License-Identifier: MIT
/* blocks.c: see blocks.h. A new block in the file sends those before it out of memory, also what
 * was looked at again in the meantime. */
#include "base/blocks.h"

#include <stdlib.h>

#include "base/pages.h"

static size_t blocks_size(const struct blocks *b)
{
	return (size_t)b->size << BLOCKS_BITS;
}

void blocks_free(struct blocks *b)
{
	for (size_t i = 0; i < b->n_blocks; i++) {
		if (i >= b->scratch_from && i < b->scratch_to)
			scratch_unmap(b->at[i], blocks_size(b));
		else
			free(b->at[i]);
	}
	scratch_free(&b->scratch);
	free(b->at);
	*b = (struct blocks){ .size = b->size, .held = b->held };
}

void blocks_rest(const struct blocks *b, size_t from, size_t to)
{
	from = from > b->scratch_from ? from : b->scratch_from;
	to = to < b->scratch_to ? to : b->scratch_to;
	for (size_t i = from; i < to; i++)
		scratch_rest(b->at[i], blocks_size(b));
}

size_t blocks_bytes(const struct blocks *b)
{
	return (b->n_blocks - (b->scratch_to - b->scratch_from)) * blocks_size(b);
}

/* Memory for one more block. One is enough for most recordings: it takes pages as it is filled, by
 * BLOCKS_PIECE. */
static void *blocks_memory(struct blocks *b)
{
	void *block;

	if (!b->n_blocks)
		return malloc(blocks_size(b));
	if (b->n_blocks < b->held)
		return pages_new(blocks_size(b));
	if (!b->scratch_from)
		b->scratch_from = b->scratch_to = b->n_blocks;
	/* Once memory had to do, it does for all that follow. */
	block = b->scratch_to == b->n_blocks ? scratch_block(&b->scratch, blocks_size(b)) : NULL;
	if (!block)
		return pages_new(blocks_size(b));
	b->scratch_to = b->n_blocks + 1;
	blocks_rest(b, 0, b->n_blocks);
	return block;
}

/* Adds a block. False: out of memory. */
static bool blocks_grow(struct blocks *b)
{
	unsigned char **at, *block;

	if (!(b->n_blocks & (b->n_blocks - 1))) { /* 0, 1, 2, 4 ...: doubled */
		at = realloc(b->at, (b->n_blocks ? b->n_blocks * 2 : 1) * sizeof(*at));
		if (!at)
			return false;
		b->at = at;
	}
	block = blocks_memory(b);
	if (!block)
		return false;
	b->at[b->n_blocks++] = block;
	return true;
}

/* Things whose pages are taken in at once, of a block. */
#define BLOCKS_PIECE 4096u

void *blocks_new(struct blocks *b)
{
	void *thing;

	if (b->n == (uint64_t)b->n_blocks << BLOCKS_BITS && !blocks_grow(b))
		return NULL;
	thing = blocks_at(b, b->n);
	pages_wanted(thing, (size_t)BLOCKS_PIECE * b->size);
	b->room = b->n + BLOCKS_PIECE;
	b->n++;
	return thing;
}

void blocks_wanted(const struct blocks *b, size_t block)
{
	if (block >= b->scratch_from && block < b->scratch_to)
		pages_wanted(b->at[block], blocks_size(b));
}
