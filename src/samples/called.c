// SPDX-License-Identifier: MIT
/*
 * called.c: see called.h.
 *
 * A branch stack in call mode holds where each call came from: these addresses are the callers,
 * without a word of the stack being read.
 */
#include "samples/called.h"

#include "unwind/walk.h"

/* words has room for CALLED_MAX. False: it has no such stack, and is as it was. */
bool called_sample(struct seam_stitched *s, uint64_t *words)
{
	const struct seam_u64s *entries = &s->sample.branches.entries;
	uint32_t n = 0;

	if (s->state != SEAM_STITCH_IMMEDIATE || !called_event(s->sample.event) || !s->user.n)
		return false;
	words[n++] = seam_u64s_at(&s->user, 0);
	for (uint64_t i = 0; i < entries->n && n < CALLED_MAX; i += 3) {
		uint64_t from = seam_u64s_at(entries, i);

		if (!from || from > WALK_ADDRESS) /* no user's: what is behind it is not known */
			break;
		words[n++] = from | WALK_EXACT;
	}
	s->user = (struct seam_u64s){ .bytes = (const unsigned char *)words, .n = n };
	return true;
}
