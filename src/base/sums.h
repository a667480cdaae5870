/* SPDX-License-Identifier: MIT */
/*
 * sums.h: counts of many windows, added up by group and node. Counts are collected as they come,
 * sorted when there are many, and those of the same stack become one: a hash table of the same took
 * four times as long.
 */
#ifndef SEAM_BASE_SUMS_H
#define SEAM_BASE_SUMS_H

#include <stddef.h>
#include <stdint.h>

struct sums_row {
	uint32_t group, node;
	uint64_t samples, weight;
};

/* Zero-initialise; sums_free. */
struct sums {
	struct sums_row *rows;
	size_t n, capacity;
	size_t sorted; /* rows in front that are sorted and of different stacks */
	/* Room into which they are sorted, kept for the next time: memory that is new costs more
	 * than to sort what goes into it. */
	struct sums_row *spare;
	size_t spare_capacity;
};

/* -ENOMEM. */
int sums_add(struct sums *s, const struct sums_row *row);
/* Sorts all rows by group, then by node, and adds up those of the same. -ENOMEM. */
int sums_end(struct sums *s);
void sums_free(struct sums *s);

#endif
