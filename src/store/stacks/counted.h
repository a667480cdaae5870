/* SPDX-License-Identifier: MIT */
/*
 * counted.h: all that was counted in a window, of all series and events, as bytes (blocks.h).
 *
 * Packed together: the bytes of three columns in front (of the first two how many), then the
 * columns. The first has for each series and event these, how many samples there are and how many
 * states; and for each state its name, what a sample weighs (0: it differs) and how many counts
 * there are. The second has for each count how far its node is behind the last one's. The third has
 * the samples of each, and what they weigh together where that differs.
 */
#ifndef SEAM_STORE_COUNTED_H
#define SEAM_STORE_COUNTED_H

#include "store/stacks/blocks.h"

struct counted_group {
	uint64_t series, event; /* the caller's numbers */
	struct blocks_count *counts;
	size_t n;
};

/* Sorts the groups, and the counts of each, and appends all. -ENOMEM. */
int counted_put(struct buf *packed, struct counted_group *groups, size_t n,
                enum blocks_level level);

/* What a group is of. */
struct counted_head {
	uint64_t series, event, samples;
};

struct counted_reader {
	/* Whether the counts of the group are wanted; negative ends all. */
	int (*group)(void *ctx, const struct counted_head *head);
	int (*each)(void *ctx, const struct blocks_count *count);
	void *ctx;
};

/* Hands all to the reader. What that returns negative is returned; -EBADMSG, -ENOMEM. */
int counted_each(const void *bytes, size_t n, const struct counted_reader *to);

#endif
