// SPDX-License-Identifier: MIT
/*
 * kwalk_arena.c: gives out the memory that the programs see, by offset. Tables and arrays of
 * mappings come and go, and what is given back rests before it is used again, for a program may be
 * in the middle of it.
 *
 * Arrays of mappings are small and come and go often: they are taken from free lists by size, from
 * 1 KiB on in powers of two. Tables are large and few: they are taken from holes, in order of
 * offset, and neighbouring holes are joined. New memory is taken from the end for both, and never
 * given back to it.
 *
 * Invariant: offset 0 is never given out; it means "there is none". Memory that cannot be noted as
 * free, for want of memory, is not used again.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/bpf/kwalk_parts.h"

/* Walks at once take microseconds; deferred ones check afterwards (walker_is_fresh). */
#define REST_NS 2000000000ull

struct arena_freed {
	struct arena_freed *next;
	uint64_t since_ns;
	uint32_t offset;
};

/* The free list for a size: blocks of 1 KiB << class. */
static unsigned arena_class(size_t n)
{
	unsigned class = 0;

	while (class < ARENA_CLASSES - 1 && ((size_t)1024 << class) < n)
		class ++;
	return class;
}

/* New memory, by cache lines; 0: the arena is full. */
static uint32_t arena_up(struct arena_memory *a, uint64_t n)
{
	uint64_t at = (a->used + 63) & ~63ull;

	if (at + n > a->most || at + n < at)
		return 0;
	a->used = at + n;
	return (uint32_t)at;
}

/* The oldest of a free list has rested longest: if it may not be used yet, none may. */
uint32_t arena_take(struct arena_memory *a, size_t n)
{
	unsigned class = arena_class(n);
	struct arena_freed *f = a->freed[class];
	uint32_t offset;

	if (n > (size_t)1024 << class)
		return 0;
	if (!f || f->since_ns + REST_NS > kwalk_now_ns())
		return arena_up(a, (uint64_t)1024 << class);
	a->freed[class] = f->next;
	if (!f->next)
		a->freed_last[class] = NULL;
	offset = f->offset;
	free(f);
	return offset;
}

/* now_ns is the beginning of its rest. */
void arena_give(struct arena_memory *a, uint32_t offset, size_t n, uint64_t now_ns)
{
	unsigned class = arena_class(n);
	struct arena_freed *f = offset ? malloc(sizeof(*f)) : NULL;

	if (!f)
		return; /* without memory to remember it, it is not used again */
	*f = (struct arena_freed){ .since_ns = now_ns, .offset = offset };
	if (a->freed_last[class])
		a->freed_last[class]->next = f;
	else
		a->freed[class] = f;
	a->freed_last[class] = f;
}

void arena_memory_free(struct arena_memory *a)
{
	for (size_t i = 0; i < ARENA_CLASSES; i++) {
		while (a->freed[i]) {
			struct arena_freed *next = a->freed[i]->next;

			free(a->freed[i]);
			a->freed[i] = next;
		}
	}
	buf_free(&a->holes);
}

/* ---- tables ---- */

#define ARENA_ARRAYS 8u /* one part in so many is left to arrays of mappings */

struct arena_hole {
	uint64_t offset, size, since_ns;
};

static bool kwalk_hole_rests(const struct arena_hole *h, uint64_t now_ns)
{
	return h->since_ns + REST_NS > now_ns;
}

static void kwalk_hole_remove(struct arena_memory *a, size_t i)
{
	struct arena_hole *h = (void *)a->holes.bytes;
	size_t n = a->holes.n / sizeof(*h);

	memmove(h + i, h + i + 1, (n - i - 1) * sizeof(*h));
	a->holes.n -= sizeof(*h);
}

/* Joins neighbours that have rested. */
static void kwalk_holes_join(struct arena_memory *a, uint64_t now_ns)
{
	struct arena_hole *h = (void *)a->holes.bytes;

	for (size_t i = 0; (i + 1) * sizeof(*h) < a->holes.n;) {
		if (h[i].offset + h[i].size != h[i + 1].offset || kwalk_hole_rests(&h[i], now_ns) ||
		    kwalk_hole_rests(&h[i + 1], now_ns)) {
			i++;
			continue;
		}
		h[i].size += h[i + 1].size;
		kwalk_hole_remove(a, i + 1);
	}
}

/* Whether tables may take so much in all: a part of the arena is for arrays alone, or else no
 * process could be published once tables have filled it. */
bool arena_could(const struct arena_memory *a, uint64_t n)
{
	return n <= a->most - a->most / ARENA_ARRAYS;
}

/* Takes the first hole that is large enough and has rested, else new memory. 0: there is no room
 * now. */
uint32_t arena_take_table(struct arena_memory *a, uint64_t n, uint64_t now_ns)
{
	struct arena_hole *h;
	uint32_t offset;

	n = (n + 63) & ~63ull;
	kwalk_holes_join(a, now_ns);
	h = (void *)a->holes.bytes;
	for (size_t i = 0; i < a->holes.n / sizeof(*h); i++) {
		if (h[i].size < n || kwalk_hole_rests(&h[i], now_ns))
			continue;
		offset = (uint32_t)h[i].offset;
		h[i].offset += n;
		h[i].size -= n;
		if (!h[i].size)
			kwalk_hole_remove(a, i);
		return offset;
	}
	if (!arena_could(a, a->table_space + n))
		return 0;
	offset = arena_up(a, n);
	a->table_space += offset ? n : 0;
	return offset;
}

/* Holes stay in order of offset, so that neighbours are found. */
void arena_give_table(struct arena_memory *a, uint32_t offset, uint64_t n, uint64_t now_ns)
{
	struct arena_hole hole = { offset, (n + 63) & ~63ull, now_ns }, *h;
	size_t i = 0;

	/* If there is no memory to remember the block, it is not used again. */
	if (buf_put(&a->holes, &hole, sizeof(hole)) < 0) {
		a->holes.failed = false;
		return;
	}
	h = (void *)a->holes.bytes;
	while (h[i].offset < offset)
		i++;
	memmove(h + i + 1, h + i, a->holes.n - (i + 1) * sizeof(*h));
	h[i] = hole;
}

/* The largest piece that there will be when all holes have rested. */
uint64_t arena_soon(const struct arena_memory *a)
{
	const struct arena_hole *h = (const void *)a->holes.bytes;
	uint64_t run = 0, most = 0, end = 0;

	for (size_t i = 0; i < a->holes.n / sizeof(*h); i++) {
		run = h[i].offset == end ? run + h[i].size : h[i].size;
		end = h[i].offset + h[i].size;
		most = run > most ? run : most;
	}
	return most;
}
