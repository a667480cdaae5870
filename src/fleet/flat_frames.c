// SPDX-License-Identifier: MIT
// flat_frames.c: see flat_frames.h: what report/ and aggregate/ would ask of each node of a stack,
// asked once of each frame.
#include "fleet/flat_frames.h"

#include <errno.h>

#include "aggregate/load_cut.h"
#include "fleet/nameless_frames.h"

int flat_frames_say(void *ctx, const struct profile *p, uint32_t frame, struct flat_frame *ret)
{
	struct flat_frames *f = ctx;
	const struct profile_frame *of = profile_frame_at(p, frame);
	const uint32_t same = rollup_frame_number(&f->numbers, p, f->flat->columns, frame);
	const bool nameless = nameless_frames_has(p, of);

	if (same == INTERN_FAILED)
		return -ENOMEM;
	*ret = (struct flat_frame){
		.same = same,
		.nameless = nameless ? of->object + 1 : 0,
		.says = f->flat->says(p, frame) | (nameless ? FLAT_NAMELESS : 0),
		.ended = load_cut_ended_frame(p, frame),
	};
	return 0;
}

void flat_frames_free(struct flat_frames *f)
{
	intern_free(&f->numbers);
}
