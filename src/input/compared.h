/* SPDX-License-Identifier: MIT */
/*
 * compared.h: one recording, or two that are held against each other, as profiles with what a flame
 * graph shows: names, inlined calls, tasks, and every sample with its time.
 */
#ifndef SEAM_INPUT_COMPARED_H
#define SEAM_INPUT_COMPARED_H

#include "aggregate/load.h"
#include "input/infile.h"
#include "input/naming.h"
#include "profile/builds.h"

#define COMPARED_SIDES 2u

/* One side: a recording, and its profile. */
struct compared_side {
	struct infile in;
	struct recording *rec; /* NULL unless it is kept */
	struct load load;
	struct profile *profile; /* canonical; compared_settle makes it */
};

/* [0] is what is shown, [1] what it is compared with. */
struct compared {
	const struct cmd *cmd;
	const struct naming *naming;
	struct compared_side sides[COMPARED_SIDES];
	size_t n;
	struct builds builds; /* of both sides, where there are two */
	bool keeps;           /* the recordings stay open: source is looked up in what they name */
	unsigned max_stack;
	struct samples_filter filter;
	struct progress progress; /* without report: a line on stderr */
};

/* Loads one side. An exit code; what was wrong was said. */
int compared_load(struct compared *c, size_t side);
/* Makes the profiles such that they can be held against each other, and depend on nothing but the
 * recordings. -errno, which was said. */
int compared_settle(struct compared *c);
/* Which objects of both sides are the same; NULL: there is one side. Of settled profiles. */
struct builds *compared_builds(struct compared *c);
void compared_free(struct compared *c);

#endif
