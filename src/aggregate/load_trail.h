/* SPDX-License-Identifier: MIT */
/*
 * load_trail.h: ways down that user parts took, some for each address space: few parts differ from
 * the last one that began alike in more than their innermost frames. For load_descend.c only.
 */
#ifndef SEAM_AGGREGATE_LOAD_TRAIL_H
#define SEAM_AGGREGATE_LOAD_TRAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seam/record.h>

#include "base/trie.h"

/* Of a step: its word is the address of what was stopped, not of a caller; LOAD_TAKEN. */
#define LOAD_TRAIL_EXACT 1u
#define LOAD_TRAIL_TAKEN 2u

struct load_trail {
	uint32_t space;          /* and how its words are read */
	uint32_t root;           /* the node below which it begins */
	struct seam_u64s words;  /* n of them, innermost first; borrowed */
	struct trie_step *steps; /* of the words, outermost first: frames and nodes */
	uint8_t *marks;          /* of the steps */
	size_t n, capacity, marks_capacity;
	bool taken; /* some step may have LOAD_TRAIL_TAKEN */
	bool plain; /* none of its words stands for a function of an interpreter */
};

/* A table of them. NULL: out of memory. */
struct load_trail *load_trails_new(void);
void load_trails_free(struct load_trail *trails); /* NULL is fine */
/* The trail of the last part that began like this one, of an address space whose parts are read in
 * one way; empty if there is none. */
struct load_trail *load_trail(struct load_trail *trails, uint32_t space,
                              const struct seam_u64s *words);
/* How many of the outermost words of a part are those of the trail. */
size_t load_trail_same(const struct load_trail *t, const struct seam_u64s *words);

#endif
