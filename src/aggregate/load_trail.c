// SPDX-License-Identifier: MIT
/*
 * load_trail.c: see load_trail.h. Spaces that meet in the table push each other out.
 *
 * The table has a fixed size: what was pushed out is made anew, so nothing depends on it but time.
 */
#include "aggregate/load_trail.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define TRAILS 256u

/* NULL: out of memory. */
struct load_trail *load_trails_new(void)
{
	return calloc(TRAILS, sizeof(struct load_trail));
}

void load_trails_free(struct load_trail *trails)
{
	for (size_t i = 0; i < TRAILS && trails; i++)
		free(trails[i].steps);
	free(trails);
}

/* The trail of a space. It is empty if another space had the place. */
struct load_trail *load_trail(struct load_trail *trails, uint32_t space)
{
	struct load_trail *t = &trails[map_mix(space) % TRAILS];

	if (t->space != space)
		t->n = 0;
	t->space = space;
	return t;
}

/* How many of the outermost words are those of the trail's stack. */
size_t load_trail_same(const struct load_trail *t, const struct seam_u64s *words)
{
	size_t most = t->n < words->n ? t->n : (size_t)words->n, same = 0;

	while (same < most && t->words.swap == words->swap &&
	       !memcmp(t->words.bytes + (t->n - same - 1) * 8,
	               words->bytes + (words->n - same - 1) * 8, 8))
		same++;
	return same;
}
