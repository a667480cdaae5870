/* SPDX-License-Identifier: MIT */
/*
 * load_unnamed.h: frames of which something is missing (a name), and in how many samples' stacks
 * each object has some. For load_build.c only.
 */
#ifndef SEAM_AGGREGATE_LOAD_UNNAMED_H
#define SEAM_AGGREGATE_LOAD_UNNAMED_H

#include "base/buf.h"
#include "aggregate/load.h"
#include "resolve/resolver.h"

/* Zero-initialise to start. */
struct load_unnamed_frames {
	uint32_t *object_of; /* by frame of the profile: its object, + 1, if it was noted; else 0 */
	size_t frames;       /* of these */
	struct load_unnamed_object *objects; /* by the profile's object */
	size_t n_objects;
};

/* Notes that a frame of the profile has no name; it belongs to one of its objects (0: none).
 * -ENOMEM. */
int load_unnamed_note(struct load_unnamed_frames *u, uint32_t frame, uint32_t object,
                      const struct place *place);
/* Counts for each object in how many samples' stacks one of the noted frames is; *all: in how many
 * there is any. -ENOMEM. */
int load_unnamed_count(struct load_unnamed_frames *u, const struct profile *p, uint64_t *all);
/* The count of one object of the profile. */
uint64_t load_unnamed_samples(const struct load_unnamed_frames *u, uint32_t object);
/* Fills load's unnamed and taken_unnamed from its profile, which is filled. -ENOMEM. */
int load_unnamed_list(struct load_unnamed_frames *u, struct load *load);
void load_unnamed_free(struct load_unnamed_frames *u);

#endif
