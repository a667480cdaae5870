/* SPDX-License-Identifier: MIT */
/*
 * flat.h: sums of a profile whose stacks were never made: for tables that show none. Whoever has
 * the stacks in another form (store/) adds them up there. The profile then has rows of innermost
 * frames alone, and what else a table and its account tell of stacks is here.
 */
#ifndef SEAM_PROFILE_FLAT_H
#define SEAM_PROFILE_FLAT_H

#include "profile/rollup.h"

/* What a frame says of all stacks that it is on; several are or-ed. */
enum {
	FLAT_NAMELESS = 1,     /* it has no name */
	FLAT_PYTHON_RUNS = 2,  /* it is the loop of CPython */
	FLAT_PYTHON_NAMED = 4, /* it is a function of Python */
	FLAT_SAYS = 8,
};

/* What a frame is where sums are made. */
struct flat_frame {
	uint32_t same;     /* frames of one number count once on a stack; 0: they have no sum */
	uint32_t nameless; /* likewise: its object + 1, if it has no name; else 0 */
	unsigned char says;
	bool ended; /* it stands for missing frames: the next one is as good as outermost */
};

/* What the stacks of one state have as their outermost frame. */
struct flat_top {
	uint32_t state, frame;
	uint64_t samples;
};

/* Set columns and says, zero-initialise the rest; flat_free. */
struct flat {
	unsigned columns; /* of the table: 1u << enum rollup_column */
	unsigned char (*says)(const struct profile *p, uint32_t frame);
	/* What a frame of the profile is. -ENOMEM. */
	int (*frame)(void *ctx, const struct profile *p, uint32_t frame, struct flat_frame *ret);
	void *ctx;

	bool filled; /* else the profile has its stacks, and nothing is here */
	/* What frames have with all that they call: key.node is a node of that frame alone, and of
	 * the key only what the columns tell apart means something. An entry may come again, and
	 * each frame that is on a stack has one. */
	struct profile_row *totals;
	size_t n_totals, totals_capacity;
	struct flat_top *tops; /* likewise */
	size_t n_tops, tops_capacity;
	uint64_t samples[FLAT_SAYS]; /* by what the frames of a stack say together */
	uint64_t *nameless; /* samples by object + 1: on whose stacks it has a nameless frame */
	size_t nameless_capacity;
};

/* What of a row's key the columns tell apart. */
struct profile_key flat_key(const struct flat *f, const struct profile_key *key);
/* What a frame says of Python; a struct flat's `says`. */
unsigned char flat_python_says(const struct profile *p, uint32_t frame);
/* -ENOMEM. */
int flat_add_total(struct flat *f, const struct profile_row *row);
int flat_add_top(struct flat *f, const struct flat_top *top);
int flat_add_nameless(struct flat *f, uint32_t object, uint64_t samples);
/* Samples whose stacks say all of `with` and none of `without`. */
uint64_t flat_samples(const struct flat *f, unsigned with, unsigned without);
void flat_free(struct flat *f);

#endif
