/* SPDX-License-Identifier: MIT */
/*
 * load_ahead.h: user parts become nodes of the tree in a thread, while samples are still counted.
 * For load.c and load_count.c only.
 *
 * It takes the parts of one table in the order in which they are met, each in the space in which it
 * is met first. What it leaves out is done when all are counted, as if it had not been.
 */
#ifndef SEAM_AGGREGATE_LOAD_AHEAD_H
#define SEAM_AGGREGATE_LOAD_AHEAD_H

#include "aggregate/load_alike.h"
#include "aggregate/load_build.h"
#include "base/relay.h"
#include "samples/stacks.h"

/* Zero-initialise; load_ahead_end. */
struct load_ahead {
	struct load_builder *builder; /* the thread's until load_ahead_end */
	const struct stacks_base *base;
	const struct seam_events *events;
	struct relay relay;
	unsigned char *met; /* by half the number of a part: a bit each; who counts */
	uint32_t parts;     /* below it half the number is */
	bool alone;         /* there can be no thread; who counts */
	bool left;          /* there are parts that were not given; who counts */
	bool left_out;      /* or taken; the thread */
	int failure;        /* of the thread, or 0 */
};

/* Begins, with an empty tree. base lasts until load_ahead_end. -ENOMEM. */
int load_ahead_start(struct load_ahead *a, struct load_builder *builder,
                     const struct stacks_base *base, const struct seam_events *events);
/* The user part of a sample that is counted under same and key. */
void load_ahead_met(struct load_ahead *a, const struct stacks_same *same,
                    const struct stacks_key *key, uint32_t user_space, uint64_t time_ns);
/* Waits for the thread, if there is one. -ENOMEM. */
int load_ahead_end(struct load_ahead *a);

#endif
