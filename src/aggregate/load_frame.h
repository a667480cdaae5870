/* SPDX-License-Identifier: MIT */
/*
 * load_frame.h: an address becomes a frame of a profile: its object, its name, and what it means
 * for the frames around it. For load_build.c only.
 */
#ifndef SEAM_AGGREGATE_LOAD_FRAME_H
#define SEAM_AGGREGATE_LOAD_FRAME_H

#include <stdint.h>

#include "aggregate/load.h"
#include "aggregate/load_lines.h"
#include "aggregate/load_unnamed.h"
#include "base/buf.h"
#include "base/map.h"
#include "profile/profile.h"
#include "resolve/frame_walk.h"
#include "resolve/resolver.h"

/* In a slot, beside a frame's id: the next frame outwards did not call this one, but was stopped
 * for it (resolve/frame_walk.h). */
#define LOAD_STOPS (1ULL << 32)
/* It is no frame unless it is the first of its part: the chain ends in front of it. */
#define LOAD_DATA (1ULL << 33)
/* Unless it is the first, it stands for a caller whose return address a uretprobe took. */
#define LOAD_TAKEN (1ULL << 34)
/* In users, beside a node: what its chain met of these. */
#define LOAD_TOLD (LOAD_DATA | LOAD_TAKEN)

/* What names frames; its owner sets and frees the members. */
struct load_namer {
	struct resolver *resolver;
	struct profile *profile;
	const struct load_opts *opts;
	struct load_lines lines;
	struct load_unnamed_frames unnamed;
	struct map objects; /* struct symbol_object * -> object of the profile */
	struct buf name;    /* one, that is no symbol's */
	struct place place; /* of the frame that was made last */
	bool by_function;   /* that one is the same for all places of its function */
};

/* Makes a frame that was not met before in this address space; *ret: its id, with LOAD_* beside it.
 * Its name is what the address had at time_ns. -ENOMEM. */
int load_frame_new(struct load_namer *n, const struct frame_at *at, uint32_t space,
                   uint64_t time_ns, uint64_t *ret);

/* The object at an address; 0: none; PROFILE_FAILED. */
uint32_t load_frame_object(struct load_namer *n, const struct place *place, uint64_t addr);

#endif
