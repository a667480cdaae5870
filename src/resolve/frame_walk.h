/* SPDX-License-Identifier: MIT */
/*
 * frame_walk.h: a sample's frames, the innermost first: the place where it hit, if its callchain
 * does not begin there (samples/hit.h), then the callchain. Markers are passed over, and cookies
 * are never among the frames.
 *
 * A frame that called another one is a caller: it is looked up in front of its address
 * (resolver.h). The first frame of each part is no caller, and neither is a frame that an exception
 * or a signal stopped (interrupted.h): its address is the place itself. Only names tell the latter,
 * so whoever looks up names says so between two frames.
 */
#ifndef SEAM_RESOLVE_FRAME_WALK_H
#define SEAM_RESOLVE_FRAME_WALK_H

#include "samples/hit.h"
#include "unwind/walk.h"

#define FRAME_GUESS "?"

struct frame_walk { /* zeroed to start */
	uint64_t i; /* next word, kernel part first */
	/* behind where the sample hit; set to start: the callchain alone is wanted */
	bool in_chain;
	bool in_user;   /* behind the kernel part */
	bool user;      /* of what stands in that: the user's, by its last marker */
	bool not_first; /* a frame of this part was given already: the next is a caller */
	bool exact;     /* but for one that was stopped */
	bool guest;     /* behind a guest's marker */
};
struct frame_at {
	uint64_t addr;
	bool user;
	bool caller;
	bool first;   /* of its part: no word of a stack, but where execution stopped */
	bool guest;   /* of a guest: its mappings are not known */
	bool guessed; /* found by frame pointer in code without unwind information, or behind such a
	                 frame: shown with FRAME_GUESS before its name */
};

/* Whether the kernel part has user frames, too (stitch.h). */
bool frame_walk_mixed(const struct callchain *sample);
/* What of that its words say, without the mode in which the sample hit. */
bool frame_walk_has_user(const struct seam_u64s *kernel);
bool frame_walk_next(struct frame_walk *walk, const struct callchain *sample, struct frame_at *ret);
/* Call this when the frame just given is code that runs because other code was stopped: the next
 * frame, if it is of the same part, is that code. */
static inline void frame_walk_stopped(struct frame_walk *walk)
{
	walk->exact = true;
}

/* Moves the marks that an unwound frame's address carries into the frame. These bits are above any
 * user address. */
static inline void frame_walk_marks(struct frame_at *at)
{
	at->guessed = at->addr & WALK_GUESSED;
	at->caller = at->caller && !(at->addr & WALK_EXACT);
	at->addr &= WALK_ADDRESS;
}

/* The frame at a place of a user part below which no kernel part stands: what frame_walk_next gives
 * there. exact: the frame before it was stopped for (frame_walk_stopped). marks: called_marks. */
static inline struct frame_at frame_walk_user(const struct seam_u64s *user, uint64_t i, bool exact,
                                              bool marks)
{
	struct frame_at at = {
		.addr = seam_u64s_at(user, i), .user = true, .caller = i && !exact, .first = !i
	};

	if (marks)
		frame_walk_marks(&at);
	return at;
}

#endif
