/* SPDX-License-Identifier: MIT */
/*
 * load_trail.h: the ways down that the last user parts took, one for each address space: few parts
 * differ from the last one in more than their innermost frames. For load_build.c only.
 */
#ifndef SEAM_AGGREGATE_LOAD_TRAIL_H
#define SEAM_AGGREGATE_LOAD_TRAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/record.h>

struct load_trail {
	uint32_t space;         /* and how its words are read */
	uint32_t root;          /* the node below which it begins */
	struct seam_u64s words; /* n of them, innermost first; borrowed */
	struct load_step {
		uint32_t frame, node;
		bool exact; /* its word is the address of what was stopped, not of a caller */
		bool taken; /* LOAD_TAKEN */
	} * steps;          /* of the words, outermost first */
	size_t n, capacity;
};

/* A table of them. NULL: out of memory. */
struct load_trail *load_trails_new(void);
void load_trails_free(struct load_trail *trails); /* NULL is fine */
/* The trail of an address space whose parts are read in one way; empty if there is none. */
struct load_trail *load_trail(struct load_trail *trails, uint32_t space);
/* How many of the outermost words of a part are those of the trail. */
size_t load_trail_same(const struct load_trail *t, const struct seam_u64s *words);

#endif
