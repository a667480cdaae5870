/* SPDX-License-Identifier: MIT */
/*
 * load_lines.h: source lines and inlined calls for the frames of a profile that is being loaded.
 * For load_build.c only.
 *
 * While the profile is filled, every frame that could have them is indexed; at the end all
 * addresses are looked up at once, and a copy of the profile is made in which they stand.
 */
#ifndef SEAM_AGGREGATE_LOAD_LINES_H
#define SEAM_AGGREGATE_LOAD_LINES_H

#include "base/buf.h"
#include "aggregate/load.h"
#include "aggregate/load_unnamed.h"
#include "resolve/resolver.h"

/* Zero-initialise to start. */
struct load_lines {
	struct resolver *resolver;
	bool wanted, no_inline;
	struct buf index;   /* struct load_lines_note, by the profile's frame */
	struct buf sources; /* struct profile_source of one frame */
};

int load_lines_start(struct load_lines *l, struct resolver *resolver, const struct load_opts *opts);
/* Makes f the frame of a place before it is interned: frames of one address that were looked up
 * differently become different frames. */
int load_lines_mark(const struct load_lines *l, const struct place *place, struct profile_frame *f);
int load_lines_note(struct load_lines *l, uint32_t frame, const struct place *place);
/* Looks up what was indexed so far, while other names are still being read. */
int load_lines_some(struct load_lines *l);
/* Replaces the profile by one with lines, and says what of them could not be found. */
int load_lines_expand(struct load_lines *l, struct load *load);
void load_lines_free(struct load_lines *l);

#endif
