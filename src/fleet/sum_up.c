// SPDX-License-Identifier: MIT
// sum_up.c: see sum_up.h. What a frame says of stacks does not depend on the columns of a table:
// these are known only when somebody asks.
#include "fleet/sum_up.h"

#include "fleet/flat_frames.h"

int sum_up(struct store *s, const struct store_query *q, uint64_t now_ns, unsigned most,
           struct store_rolled *ret, struct seam_error *err)
{
	struct flat flat = { .says = flat_python_says, .frame = flat_frames_say };
	struct flat_frames frames = { .flat = &flat };
	struct store_query with = *q;
	int r;

	flat.ctx = &frames;
	with.flat = &flat;
	r = store_roll_up(s, &with, now_ns, most, ret, err);
	flat_frames_free(&frames);
	return r;
}
