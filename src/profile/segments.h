/* SPDX-License-Identifier: MIT */
/*
 * segments.h: the nodes of a profile's tree in segments: nodes of which each but the first is the
 * only child of the one before, and of which none but the last has a row. So all nodes of a segment
 * are on the same stacks, and have one total. Deep and various stacks have some nodes a segment:
 * who sums up goes through segments, and through nodes only where their frames matter.
 *
 * Segments have numbers from 1 on, in the order of their nodes, which lie one behind the other; 0
 * is the root's. A segment's number is greater than that of the one it hangs below.
 *
 * They are found when they are first asked for, and kept by the profile until it is filled again or
 * freed: so all parts of a report have them of one search.
 */
#ifndef SEAM_PROFILE_SEGMENTS_H
#define SEAM_PROFILE_SEGMENTS_H

#include <stdint.h>

#include "base/trie.h"
#include "profile/profile.h"

struct segments {
	const struct trie *tree;
	uint32_t n;      /* without the root's */
	uint32_t *last;  /* by segment: its last node */
	uint32_t *above; /* by segment: the one that it hangs below */
	/* Of 64 nodes each: which are the last of a segment, and how many are before them. */
	struct segments_word {
		uint64_t ends;
		uint32_t before;
	} * words;
};

/* Also of a profile without nodes, and by several threads at once. NULL: out of memory. */
const struct segments *segments_of(const struct profile *p);

/* The segment in which a node is; 0 for the root. */
static inline uint32_t segments_at(const struct segments *s, uint32_t node)
{
	const struct segments_word *word = &s->words[node / 64];
	const uint64_t before = word->ends & (((uint64_t)1 << node % 64) - 1);

	return word->before + (uint32_t)__builtin_popcountll(before);
}

/* The first node of a segment; not of the root's. */
static inline uint32_t segments_first(const struct segments *s, uint32_t segment)
{
	return s->last[segment - 1] + 1;
}

#endif
