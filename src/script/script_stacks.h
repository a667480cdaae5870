/* SPDX-License-Identifier: MIT */
/*
 * script_stacks.h: the lines of whole parts of stacks, so that a part that came before is one
 * copy.
 *
 * A part's lines depend on its words, on the address space and on its kind, and on nothing else.
 * Whatever a hash says, those are compared. A part is kept when it comes the second time, so that a
 * recording whose stacks are all different copies none. Parts that have a number (samples/stacks.h)
 * are known by it: their words are neither hashed nor read. Memory is bounded: STACKS_BYTES, round
 * which the newest drives out the oldest, and 2.3 MiB of tables.
 */
#ifndef SEAM_SCRIPT_SCRIPT_STACKS_H
#define SEAM_SCRIPT_SCRIPT_STACKS_H

#include <seam/record.h>

#include "base/buf.h"

#define STACKS_BYTES ((size_t)16 << 20)
#define STACKS_SETS (1u << 14)
#define STACKS_WAYS 2u
#define STACKS_SEEN (1u << 16)

struct stacks_slot {
	uint64_t hash;
	uint64_t at; /* of its text: bytes written before it since the start; 0: free */
};

#define STACKS_PLACES_LOG2 15 /* sets of them */

/* A part that has a number. */
struct stacks_place {
	uint64_t kind; /* beside the number, what its lines depend on */
	uint64_t at;   /* of its text; 0: it came, and is not kept yet */
	uint32_t number;
};

struct script_stacks { /* zeroed to start; NULL: nothing came twice yet */
	struct stacks_slot (*slots)[STACKS_WAYS];   /* of STACKS_SETS */
	struct stacks_place (*places)[STACKS_WAYS]; /* of 1 << STACKS_PLACES_LOG2 */
	uint32_t *seen;                             /* by some bits of a hash: others of it */
	unsigned char *ring;                        /* of STACKS_BYTES */
	uint64_t end;                               /* bytes written to it since the start */
	uint64_t secret;                            /* map_secret's; 0: not asked yet */
};

/* What the lines of a part depend on. */
struct stacks_part {
	const struct seam_u64s *words;
	uint32_t space;
	unsigned found; /* in which way, of four: lines depend on it */
	/* No other words will ever have this number; 0: they have none. */
	uint32_t number;
	uint64_t hash; /* script_stacks_put's, for script_stacks_keep */
};

void script_stacks_free(struct script_stacks *s);
/* The n bytes of lines of a part that has a number; its words are not looked at. NULL: they are not
 * kept. */
const unsigned char *script_stacks_known(const struct script_stacks *s,
                                         const struct stacks_part *part, size_t *n);
/* Appends the part's lines: 1; 0: they were not kept, or memory is out. */
int script_stacks_put(struct script_stacks *s, struct stacks_part *part, struct buf *out);
/* Keeps the lines of a part that script_stacks_put has not found. Nothing is kept if memory is
 * out. */
void script_stacks_keep(struct script_stacks *s, const struct stacks_part *part,
                        const unsigned char *lines, size_t n);

#endif
