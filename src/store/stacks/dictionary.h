/* SPDX-License-Identifier: MIT */
/*
 * dictionary.h: the lists of an epoch (blocks.h) as their writer has them: profiles go in, what is
 * new in each list comes out as a block. Memory grows with distinct things: a caller that has had
 * enough nodes begins another list of these (dictionary_next), and one that has had enough names
 * another epoch of new names.
 */
#ifndef SEAM_STORE_DICTIONARY_H
#define SEAM_STORE_DICTIONARY_H

#include "base/intern.h"
#include "base/pool.h"
#include "profile/profile.h"
#include "store/stacks/blocks.h"

struct dictionary {
	struct intern strings;
	struct pool things[BLOCKS_KINDS]; /* but for strings */
	uint32_t told[BLOCKS_KINDS];      /* things that were in blocks */
};

/* Where the ids of one profile are in the dictionary. */
struct dictionary_map {
	const struct profile *profile;
	uint32_t *strings, *objects, *frames,
	        *nodes; /* by the profile's id; 0: not yet looked up */
};

void dictionary_start(struct dictionary *d);
void dictionary_free(struct dictionary *d);
/* There are enough nodes; enough of what they name. */
bool dictionary_full(const struct dictionary *d);
bool dictionary_names_full(const struct dictionary *d);
/* Nodes begin anew; strings, objects and frames keep their numbers. */
void dictionary_next(struct dictionary *d);

/* DICTIONARY_FAILED: out of memory, or the list is full. */
#define DICTIONARY_FAILED UINT32_MAX
uint32_t dictionary_string(struct dictionary *d, const char *text);

/* -ENOMEM. */
int dictionary_map_start(struct dictionary_map *m, const struct profile *p);
void dictionary_map_free(struct dictionary_map *m);
/* Looks up the stacks of all rows: m->nodes has them then. -ENOMEM. */
int dictionary_add(struct dictionary *d, struct dictionary_map *m);

/* What came into a list since the last call, unpacked: things from *first on. 0: nothing, 1, or
 * -ENOMEM. */
int dictionary_block(struct dictionary *d, enum blocks_kind kind, uint32_t *first, uint32_t *n,
                     struct buf *plain);

#endif
