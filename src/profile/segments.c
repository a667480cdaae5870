// SPDX-License-Identifier: MIT
/*
 * segments.c: see segments.h. A segment ends at a node that has a row, or other children than the
 * one right behind it, or whose next node is not its child. The root ends the first one, which is
 * its own.
 */
#include "profile/segments.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "profile/kept.h"

static void segments_end(struct segments *s, uint32_t node)
{
	s->words[node / 64].ends |= (uint64_t)1 << node % 64;
}

/* Marks the nodes that end a segment. */
static void segments_mark(struct segments *s, const struct profile *p)
{
	const struct trie *tree = s->tree;

	segments_end(s, PROFILE_ROOT);
	segments_end(s, tree->n);
	for (size_t i = 0; i < profile_n_rows(p); i++)
		segments_end(s, profile_row_at(p, i)->key.node);
	for (uint32_t id = 1, end; id <= tree->n;) {
		const uint32_t *entry = trie_run(tree, id, &end);

		for (; id < end; id++, entry++) {
			if (!(*entry & TRIE_ASIDE))
				continue;
			if (tree->asides[*entry & ~TRIE_ASIDE].children)
				segments_end(s, id);
			if (trie_of(tree, id, *entry).parent != id - 1)
				segments_end(s, id - 1);
		}
	}
}

/* Counts them. */
static uint32_t segments_count(struct segments *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i <= s->tree->n / 64; i++) {
		s->words[i].before = n;
		n += (uint32_t)__builtin_popcountll(s->words[i].ends);
	}
	return n;
}

/* Fills what is known by segment. */
static void segments_fill(struct segments *s)
{
	uint32_t segment = 0;

	for (uint32_t i = 0; i <= s->tree->n / 64; i++)
		for (uint64_t ends = s->words[i].ends; ends; ends &= ends - 1)
			s->last[segment++] = i * 64 + (uint32_t)__builtin_ctzll(ends);
	for (segment = 1; segment <= s->n; segment++) {
		const uint32_t first = segments_first(s, segment);
		const uint32_t parent = trie_at(s->tree, first).parent;

		s->above[segment] = parent == first - 1 ? segment - 1 : segments_at(s, parent);
	}
}

/* In one piece, so that the profile can free it. NULL: out of memory. */
static struct segments *segments_new(const struct profile *p)
{
	const struct trie *tree = profile_tree(p);
	const size_t n = tree->n / 64 + 1;
	struct segments s = { .tree = tree, .words = calloc(n, sizeof(*s.words)) }, *made;
	size_t all;

	if (!s.words)
		return NULL;
	segments_mark(&s, p);
	all = segments_count(&s);
	s.n = (uint32_t)all - 1;
	made = malloc(sizeof(*made) + n * sizeof(*s.words) + 2 * all * sizeof(*s.last));
	if (made) {
		*made = s;
		made->words = memcpy(made + 1, s.words, n * sizeof(*s.words));
		made->last = (uint32_t *)(made->words + n);
		made->above = made->last + all;
		made->above[0] = 0;
		segments_fill(made);
	}
	free(s.words);
	return made;
}

/* Looks at each entry of the tree once, and at each row; the next time at none. */
const struct segments *segments_of(const struct profile *p)
{
	_Atomic(void *) *kept = profile_segments(p);
	void *there = atomic_load(kept);
	struct segments *made;

	if (there)
		return there;
	made = segments_new(p);
	/* Another thread may have found them meanwhile. */
	if (made && atomic_compare_exchange_strong(kept, &there, made))
		return made;
	free(made);
	return there;
}
