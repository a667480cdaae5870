// SPDX-License-Identifier: MIT
/*
 * script_stacks.c: see script_stacks.h. Each set of a table has two places; a third entry drives
 * out the older one. Parts with numbers have a table, and parts without have another.
 *
 * Invariant: a text is used only if kind, length and words are equal, or kind and number, which
 * stands for the words; a hash alone decides nothing.
 * The texts lie in a ring of STACKS_BYTES, where the oldest are written over: `end` only grows, so
 * a place that is too far behind it is gone. Memory is fixed.
 */
#include "script/script_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

/* One kept part: its words, to compare with, and its lines. Of one that has a number there are no
 * words. */
struct stacks_text {
	uint64_t kind;
	size_t n_words; /* bytes */
	size_t n;
	unsigned char bytes[]; /* the words as recorded, then the lines */
};

static uint64_t stacks_kind(const struct stacks_part *part)
{
	/* What must be equal beside the words: space, way of finding, byte order. A number says the
	 * last itself. */
	const bool swap = !part->number && part->words->swap;

	return part->space | (uint64_t)part->found << 32 | (uint64_t)swap << 34;
}

void script_stacks_free(struct script_stacks *s)
{
	free(s->slots);
	free(s->places);
	free(s->seen);
	free(s->ring);
	*s = (struct script_stacks){ 0 };
}

/* Makes the tables when they are first needed. False: no memory; then nothing is kept, and that is
 * all. */
static bool stacks_start(struct script_stacks *s)
{
	if (!s->slots)
		s->slots = calloc(STACKS_SETS, sizeof(*s->slots));
	if (!s->places)
		s->places = calloc((size_t)1 << STACKS_PLACES_LOG2, sizeof(*s->places));
	if (!s->seen)
		s->seen = calloc(STACKS_SEEN, sizeof(*s->seen));
	if (!s->ring)
		s->ring = malloc(STACKS_BYTES);
	return s->slots && s->places && s->seen && s->ring;
}

/* The text at a place, if it was not written over yet. */
static const struct stacks_text *stacks_at(const struct script_stacks *s, uint64_t at)
{
	if (!at || s->end - at > STACKS_BYTES)
		return NULL;
	return (const struct stacks_text *)(s->ring + at % STACKS_BYTES);
}

/* The set of a number. Multiplying spreads it (Fibonacci hashing). */
static struct stacks_place *stacks_places(const struct script_stacks *s,
                                          const struct stacks_part *part)
{
	uint64_t where = (part->number ^ (uint64_t)part->space << 32) * 0x9e3779b97f4a7c15ULL;

	return s->places[where >> (64 - STACKS_PLACES_LOG2)];
}

/* The place of a part that has a number; NULL: it has none yet. */
static struct stacks_place *stacks_place(const struct script_stacks *s,
                                         const struct stacks_part *part)
{
	struct stacks_place *set = stacks_places(s, part);
	const uint64_t kind = stacks_kind(part);

	for (unsigned i = 0; i < STACKS_WAYS; i++)
		if (set[i].number == part->number && set[i].kind == kind)
			return &set[i];
	return NULL;
}

const unsigned char *script_stacks_known(const struct script_stacks *s,
                                         const struct stacks_part *part, size_t *n)
{
	const struct stacks_place *place = s->places ? stacks_place(s, part) : NULL;
	const struct stacks_text *t = place ? stacks_at(s, place->at) : NULL;

	if (!t)
		return NULL;
	*n = t->n;
	return t->bytes;
}

/* Finds a part that was kept by its words. */
static const struct stacks_text *stacks_find(const struct script_stacks *s,
                                             const struct stacks_part *part, size_t n_words)
{
	const struct stacks_slot *set = s->slots[part->hash % STACKS_SETS];
	uint64_t kind = stacks_kind(part);

	for (unsigned i = 0; i < STACKS_WAYS; i++) {
		const struct stacks_text *t =
		        set[i].hash == part->hash ? stacks_at(s, set[i].at) : NULL;

		if (t && t->kind == kind && t->n_words == n_words &&
		    !memcmp(t->bytes, part->words->bytes, n_words))
			return t;
	}
	return NULL;
}

/* Copies the lines of a part that was kept. False: it was not; part->hash is filled for
 * script_stacks_keep. */
int script_stacks_put(struct script_stacks *s, struct stacks_part *part, struct buf *out)
{
	size_t n_words = (size_t)part->words->n * 8, n;
	const struct stacks_text *t = NULL;
	const unsigned char *lines;

	if (part->number) {
		lines = script_stacks_known(s, part, &n);
		return lines && buf_put(out, lines, n) == 0;
	}
	/* A stranger's recording must not choose stacks that all fall into one set. */
	if (!s->secret)
		s->secret = map_secret();
	part->hash = map_hash_quick(part->words->bytes, n_words, s->secret ^ stacks_kind(part));
	if (s->end)
		t = stacks_find(s, part, n_words);
	return t && buf_put(out, t->bytes + n_words, t->n) == 0;
}

/* Whether this part came before, and notes that it came now. A part is kept when it comes the
 * second time: most stacks come once. */
static bool stacks_seen(struct script_stacks *s, uint64_t hash)
{
	uint32_t *seen = &s->seen[hash >> 16 & (STACKS_SEEN - 1)], tag = (uint32_t)(hash >> 32) | 1;
	bool before = *seen == tag;

	*seen = tag;
	return before;
}

/* The same of a part that has a number: it has a place then. */
static bool stacks_placed(struct script_stacks *s, const struct stacks_part *part)
{
	struct stacks_place *set = stacks_places(s, part);

	if (stacks_place(s, part))
		return true;
	set[1] = set[0];
	set[0] = (struct stacks_place){ .kind = stacks_kind(part), .number = part->number };
	return false;
}

/* Makes room for a text in one piece, and returns its place. */
static uint64_t stacks_room(struct script_stacks *s, size_t n)
{
	uint64_t at = s->end ? s->end : 8; /* 0 is no place */

	/* A text does not wrap round the ring's end. */
	if (at % STACKS_BYTES + n > STACKS_BYTES)
		at += STACKS_BYTES - at % STACKS_BYTES;
	s->end = at + ((n + 7) & ~(size_t)7);
	return at;
}

/* Where a text is found again, by the part's number or by its words. */
static void stacks_found_at(struct script_stacks *s, const struct stacks_part *part, uint64_t at)
{
	struct stacks_slot *set = s->slots[part->hash % STACKS_SETS];

	if (part->number) {
		stacks_place(s, part)->at = at;
		return;
	}
	set[1] = set[0];
	set[0] = (struct stacks_slot){ .hash = part->hash, .at = at };
}

/* Keeps the lines of a part that has come before. */
void script_stacks_keep(struct script_stacks *s, const struct stacks_part *part,
                        const unsigned char *lines, size_t n)
{
	size_t n_words = part->number ? 0 : (size_t)part->words->n * 8;
	struct stacks_text *text;
	uint64_t at;

	/* A text of more than a sixteenth of the ring would drive out too many others. */
	if (!stacks_start(s) || n_words + n > STACKS_BYTES / 16 ||
	    !(part->number ? stacks_placed(s, part) : stacks_seen(s, part->hash)))
		return;
	at = stacks_room(s, sizeof(*text) + n_words + n);
	text = (struct stacks_text *)(s->ring + at % STACKS_BYTES);
	*text = (struct stacks_text){ .kind = stacks_kind(part), .n_words = n_words, .n = n };
	memcpy(text->bytes, part->words->bytes, n_words);
	memcpy(text->bytes + n_words, lines, n);
	stacks_found_at(s, part, at);
}
