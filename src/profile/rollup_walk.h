/* SPDX-License-Identifier: MIT */
/*
 * rollup_walk.h: the totals of a table's rows from the profile's tree of stacks, each node looked
 * at once: many stacks share most of their nodes. For rollup.c only.
 */
#ifndef SEAM_PROFILE_ROLLUP_WALK_H
#define SEAM_PROFILE_ROLLUP_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/rollup.h"

#define ROLLUP_WALK_FAILED UINT32_MAX

struct rollup_walk {
	struct rollup *table;
	const uint32_t *rows; /* n of the profile's, whose stacks count */
	size_t n;
	/* The table's row of a frame, + 1; 0: the frame has none. ROLLUP_WALK_FAILED: out of
	 * memory. It may move the table's rows. */
	uint32_t (*row)(void *ctx, uint32_t frame);
	void *ctx;
	/* What it answered before, by frame: that holds if it is more than `before`. */
	const uint32_t *known;
	size_t before;
	struct watched *watched; /* who may stop it; NULL: nobody */
};

/* Whether that is less than to go along each stack. */
bool rollup_walk_pays(const struct rollup_walk *w);
/* Adds to the totals of rows, whose `last` is 0 before and after it, and to no self; stacks without
 * frames are left out. -ENOMEM; -ECANCELED. */
int rollup_walk(const struct rollup_walk *w);
/* Asks for the row of each frame of these stacks, and adds nothing. -ENOMEM; -ECANCELED. */
int rollup_walk_frames(const struct rollup_walk *w);

#endif
