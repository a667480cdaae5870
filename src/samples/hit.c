// SPDX-License-Identifier: MIT
// hit.c: see hit.h.
#include "samples/hit.h"

#include "samples/called.h"
#include "unwind/walk.h"

/* Whether the sample hit elsewhere than where its callchain begins, so that the place is a frame of
 * its own. */
bool hit_apart(const struct callchain *s)
{
	uint64_t chain;

	if (!hit_known(s->event))
		return false;
	if (!hit_chain(&s->kernel, &chain)) {
		if (!s->user.n)
			return true;
		chain = seam_u64s_at(&s->user, 0);
		if (called_marks(s))
			chain &= WALK_ADDRESS;
	}
	return hit_elsewhere(s->ip, s->misc, chain);
}
