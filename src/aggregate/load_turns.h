/* SPDX-License-Identifier: MIT */
/*
 * load_turns.h: in which order the entries of a table are named where nothing but the places that
 * they hit is wanted: by where these are in their files, so that a function is looked up once for
 * all of them. For load_build.c only.
 */
#ifndef SEAM_AGGREGATE_LOAD_TURNS_H
#define SEAM_AGGREGATE_LOAD_TURNS_H

#include "aggregate/load_build.h"

struct load_turn {
	uint64_t place; /* sorted by it: radix_sort */
	uint64_t entry; /* of the table */
};

/* As many as there are entries; free() it. What is no place of a file comes last, as it was met.
 * NULL: out of memory. */
struct load_turn *load_turns(const struct load_table *t);

#endif
