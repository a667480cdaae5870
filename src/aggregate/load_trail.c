// SPDX-License-Identifier: MIT
/*
 * load_trail.c: see load_trail.h. Trails that meet in the table push each other out.
 *
 * A stack that was cut where its room ended begins anywhere in a recursion: a trail is found by its
 * outermost words, too, so that those which were cut alike meet.
 *
 * The table has a fixed size: what was pushed out is made anew, so nothing depends on it but time.
 */
#include "aggregate/load_trail.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define TRAILS 256u
#define TRAIL_OUTERMOST 16u /* words by which a trail is found */
#define TRAIL_AT_ONCE 8u    /* words, of which most are the same */

/* NULL: out of memory. */
struct load_trail *load_trails_new(void)
{
	return calloc(TRAILS, sizeof(struct load_trail));
}

void load_trails_free(struct load_trail *trails)
{
	for (size_t i = 0; i < TRAILS && trails; i++) {
		free(trails[i].steps);
		free(trails[i].marks);
	}
	free(trails);
}

struct load_trail *load_trail(struct load_trail *trails, uint32_t space,
                              const struct seam_u64s *words)
{
	size_t outermost = words->n < TRAIL_OUTERMOST ? (size_t)words->n : TRAIL_OUTERMOST;
	uint64_t hash =
	        map_hash_quick(words->bytes + (words->n - outermost) * 8, outermost * 8, space);
	struct load_trail *t = &trails[hash % TRAILS];

	if (t->space != space)
		t->n = 0;
	t->taken &= t->n != 0;
	t->space = space;
	return t;
}

/* Whether some words are the same, bit by bit. */
static bool load_trail_equal(const unsigned char *a, const unsigned char *b)
{
	uint64_t x[TRAIL_AT_ONCE], y[TRAIL_AT_ONCE], other = 0;

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	for (unsigned i = 0; i < TRAIL_AT_ONCE; i++)
		other |= x[i] ^ y[i];
	return !other;
}

size_t load_trail_same(const struct load_trail *t, const struct seam_u64s *words)
{
	size_t most = t->n < words->n ? t->n : (size_t)words->n, same = 0;
	const unsigned char *a, *b;

	if (!most || t->words.swap != words->swap)
		return 0;
	a = t->words.bytes + t->n * 8;
	b = words->bytes + words->n * 8;
	while (most - same >= TRAIL_AT_ONCE &&
	       load_trail_equal(a - (same + TRAIL_AT_ONCE) * 8, b - (same + TRAIL_AT_ONCE) * 8))
		same += TRAIL_AT_ONCE;
	while (same < most && !memcmp(a - (same + 1) * 8, b - (same + 1) * 8, 8))
		same++;
	return same;
}
