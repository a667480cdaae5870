/* SPDX-License-Identifier: MIT */
/* load_users.h: where the user parts that were met before are in the tree. For load_build.c and
 * load_ahead.c only. */
#ifndef SEAM_AGGREGATE_LOAD_USERS_H
#define SEAM_AGGREGATE_LOAD_USERS_H

#include "aggregate/load_descend.h"

/* Of user parts: their innermost node, LOAD_TOLD. Nearly every part is of one address space, and
 * read in one way: that one stands in an array, all others in maps. */
struct load_users {
	struct load_users_first {
		uint64_t value;
		uint32_t space; /* and how it is read */
		uint8_t end, set;
	} * first; /* by half the number of the part: the odd ones are of the other byte order */
	size_t capacity;
	struct map by_end[SAMPLE_ENDS]; /* by its end (sample_end.h): part, how it is read */
};

/* How the words of a user part are read: marks beside the number of its space. */
uint32_t load_how(const struct load_whose *e, const struct callchain *sample);
/* The node of an entry's user part, which hangs below the root. -ENOMEM. */
int load_user(struct load_descent *d, struct load_users *users, const struct load_whose *e,
              struct callchain sample, uint32_t *ret);
void load_users_free(struct load_users *users);

#endif
