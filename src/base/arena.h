/* SPDX-License-Identifier: MIT */
/*
 * arena.h: many small allocations that live equally long. Pointers stay valid until arena_free;
 * nothing is freed one by one. Zero-initialise to start.
 */
#ifndef SEAM_BASE_ARENA_H
#define SEAM_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
	struct arena_block *block;
	size_t left;  /* bytes free in block */
	size_t bytes; /* bytes held from the system in all */
};

void arena_free(struct arena *a);
/* n bytes, zeroed, aligned to 8; NULL when out of memory. */
void *arena_alloc(struct arena *a, size_t n);
void *arena_copy(struct arena *a, const void *bytes, size_t n);
char *arena_string(struct arena *a, const char *text, size_t n); /* adds the NUL */

#endif
