// SPDX-License-Identifier: MIT
/* arena.c: see arena.h. Blocks of 64 KiB at first, doubled up to 1 MiB; a larger request gets a
 * block of its own. The block that is being filled is the first of the list; `left` is what it
 * still has. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

/* The first block, and the most that later ones have. */
#define BLOCK_MIN (64u << 10)
#define BLOCK_MAX (1u << 20)

struct arena_block {
	struct arena_block *next;
	size_t size; /* bytes behind this header */
	uint64_t bytes[];
};

void arena_free(struct arena *a)
{
	struct arena_block *b = a->block;

	while (b) {
		struct arena_block *next = b->next;

		free(b);
		b = next;
	}
	*a = (struct arena){ 0 };
}

static struct arena_block *arena_block_new(struct arena *a, size_t size)
{
	struct arena_block *b;

	if (size > SIZE_MAX - sizeof(*b))
		return NULL;
	b = malloc(sizeof(*b) + size);
	if (!b)
		return NULL;
	b->size = size;
	a->bytes += sizeof(*b) + size;
	return b;
}

/* A request larger than a quarter of the next block gets a block of its own, so that the rest of
 * the current block is not wasted. */
void *arena_alloc(struct arena *a, size_t n)
{
	struct arena_block *b;
	void *p;

	if (n > SIZE_MAX / 2)
		return NULL;
	n = (n + 7) & ~(size_t)7;
	if (n > a->left) {
		size_t size = a->block ? a->block->size * 2 : BLOCK_MIN;

		if (size > BLOCK_MAX)
			size = BLOCK_MAX;
		if (n > size / 4) { /* its own block, behind the current one, which stays in use */
			b = arena_block_new(a, n);
			if (!b)
				return NULL;
			if (a->block) {
				b->next = a->block->next;
				a->block->next = b;
			} else {
				b->next = NULL;
				a->block = b;
			}
			return memset(b->bytes, 0, n);
		}
		b = arena_block_new(a, size);
		if (!b)
			return NULL;
		b->next = a->block;
		a->block = b;
		a->left = size;
	}
	p = (unsigned char *)a->block->bytes + (a->block->size - a->left);
	a->left -= n;
	return memset(p, 0, n);
}

/* n 0 gives a pointer that may be compared, and holds nothing. */
void *arena_copy(struct arena *a, const void *bytes, size_t n)
{
	void *p = arena_alloc(a, n ? n : 1);

	if (p && n)
		memcpy(p, bytes, n);
	return p;
}

/* With a NUL behind it: the arena's memory is zero. */
char *arena_string(struct arena *a, const char *text, size_t n)
{
	char *p = n < SIZE_MAX ? arena_alloc(a, n + 1) : NULL;

	if (p && n)
		memcpy(p, text, n);
	return p;
}
