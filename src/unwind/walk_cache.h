/* SPDX-License-Identifier: MIT */
/*
 * walk_cache.h: what one walk saw, so that the next walk of the same thread need not find it out
 * again.
 *
 * Of each frame it has the state in front of its step, its rule, and the words of memory that the
 * step read. A step that used nothing else is plain: from an equal state, over equal words, it
 * leads to the same next state. So when a later walk comes into a state of the cache, as it mostly
 * does because the outer frames of a thread seldom change, it follows the cache as long as every
 * word is there and unchanged. It walks on by itself from the first one that is not. Nothing is
 * assumed of the words: each is compared.
 *
 * It is good for one set of walk_options and one address space; for others clear it.
 */
#ifndef SEAM_UNWIND_WALK_CACHE_H
#define SEAM_UNWIND_WALK_CACHE_H

#include "unwind/walk.h"

#define WALK_CACHE_WORDS 2u /* that a plain step reads: the return address, the frame pointer */

enum {
	WALK_CACHE_FP_KNOWN = 1,
	WALK_CACHE_EXACT = 2,
	WALK_CACHE_SIGNALLED = 4,
	WALK_CACHE_FIRST = 8, /* more than sp, fp and pc was known: such a state is equal to none */
	WALK_CACHE_PLAIN = 16,
};
#define WALK_CACHE_STATE \
	(WALK_CACHE_FP_KNOWN | WALK_CACHE_EXACT | WALK_CACHE_SIGNALLED | WALK_CACHE_FIRST)

struct walk_cache_step {
	uint64_t pc, sp, fp; /* in front of the step; its CFA is the next one's sp */
	const struct frametab *table;
	const struct frametab_rule *rule;
	uint64_t at[WALK_CACHE_WORDS], word[WALK_CACHE_WORDS];
	uint8_t n_words, flags;
};

struct walk_cache_steps {
	size_t n; /* the last is not plain */
	/* one for each frame, and the state at the end */
	struct walk_cache_step step[WALK_FRAMES_MAX + 1];
};

struct walk_cache {
	struct walk_cache_steps *last, *now; /* of the walk before, and of the one that goes on */
	size_t at; /* in last: states in front of it lie below this walk's sp */
};

/* A walk begins: what was written becomes what is followed. */
void walk_cache_begin(struct walk_cache *t);
/* The plain step of the last walk that left from this state; NULL: there is none. States must come
 * with rising sp. */
const struct walk_cache_step *walk_cache_find(struct walk_cache *t,
                                              const struct walk_cache_step *state);
/* Writes a state down; its words come by walk_cache_word. At most one a frame. */
struct walk_cache_step *walk_cache_add(struct walk_cache *t, const struct walk_cache_step *state);
/* No more is written of this walk, which is in this state. */
void walk_cache_end(struct walk_cache *t, const struct walk_cache_step *state);
/* The step read a word; one too many for a plain step makes it none. */
static inline void walk_cache_word(struct walk_cache_step *s, uint64_t at, uint64_t word)
{
	if (s->n_words < WALK_CACHE_WORDS) {
		s->at[s->n_words] = at;
		s->word[s->n_words] = word;
	}
	s->n_words++;
}

/* Whether the words that a step read are still there, and unchanged. */
static inline bool walk_cache_holds(const struct walk_cache_step *s,
                                    const struct walk_memory *memory)
{
	for (unsigned i = 0; i < s->n_words; i++) {
		uint64_t word;

		if (!walk_window(memory, s->at[i], &word) || word != s->word[i])
			return false;
	}
	return true;
}

#endif
