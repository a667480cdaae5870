// SPDX-License-Identifier: MIT
/* slab.c: see slab.h. A cell that is put back holds the link to the next unused one. */
#include "stitch/slab.h"

#include <string.h>

/* Everything at once: cells that are in use become invalid. */
void slab_free(struct slab *s)
{
	arena_free(&s->arena);
	*s = (struct slab){ .size = s->size };
}

/* The memory of an arena is zeroed; a cell that was used is zeroed here. */
void *slab_take(struct slab *s)
{
	void *cell = s->unused;

	if (cell) {
		memcpy(&s->unused, cell, sizeof(s->unused));
		memset(cell, 0, s->size);
	} else {
		cell = arena_alloc(&s->arena, s->size);
	}
	if (cell)
		s->n++;
	return cell;
}

/* The cell must come from this slab, and must not be put back twice: nothing checks it. */
void slab_put(struct slab *s, void *cell)
{
	memcpy(cell, &s->unused, sizeof(s->unused));
	s->unused = cell;
	s->n--;
}
