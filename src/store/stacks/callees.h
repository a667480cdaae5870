/* SPDX-License-Identifier: MIT */
/*
 * callees.h: which frames are called from which in a block of sorted nodes, in the order in which
 * they are met: so a frame can be told by its place among what its caller calls, which is mostly a
 * small number that comes again and again.
 */
#ifndef SEAM_STORE_CALLEES_H
#define SEAM_STORE_CALLEES_H

#include "base/map.h"
#include "store/stacks/blocks.h"

/* Zero-initialise; callees_free. */
struct callees {
	struct callees_of { /* by caller */
		uint32_t at, n, room;
	} * of;
	size_t n_of;
	uint32_t *frames;
	size_t n, capacity;
	struct map places; /* caller << 32 | frame -> place, plus 1: of who writes */
};

/* The place of a frame among what its caller calls; *is_new: it is the next one, and has been
 * added. -ENOMEM. */
int callees_place(struct callees *c, uint32_t caller, uint32_t frame, uint32_t *place,
                  bool *is_new);
/* How many places the caller has. */
static inline uint32_t callees_n(const struct callees *c, uint32_t caller)
{
	return caller < c->n_of ? c->of[caller].n : 0;
}

/* The frame at a place that there is. */
static inline uint32_t callees_at(const struct callees *c, uint32_t caller, uint32_t place)
{
	return c->frames[c->of[caller].at + place];
}

/* Gives a frame the caller's next place. -ENOMEM. */
int callees_add(struct callees *c, uint32_t caller, uint32_t frame);
void callees_free(struct callees *c);

#endif
