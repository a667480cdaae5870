// SPDX-License-Identifier: MIT
/*
 * load_alike.c: see load_alike.h. Programs lie at other addresses each time they are started, so of
 * many short processes nearly every user part is another one. Written with places in files in the
 * place of addresses, few are left.
 *
 * To write a part in this way costs about as much as it costs to name a short one, and is in vain
 * where stacks are deep and various. So it is given up for a while when few parts were met again.
 *
 * Invariant: what the profile holds does not depend on it. A part stands for another one only if
 * each of its words is at the same place of the same file, mapped alike, and has the same marks.
 */
#include "aggregate/load_alike.h"

#include <errno.h>
#include <stdlib.h>

#include "abi/runtime_code.h"
#include "base/array.h"
#include "samples/recording.h"
#include "resolve/frame_walk.h"

/* A word of a string: a kind of mappings, a word's marks, an offset. An interpreter's function is
 * its address, in which the highest bit is not set. */
#define STRING_PLACE (1ULL << 63)
#define STRING_KIND 42
#define STRING_KINDS (1u << (63 - STRING_KIND))
#define STRING_MARKS 40
#define STRING_OFFSETS (1ULL << STRING_MARKS)
_Static_assert((WALK_GUESSED | WALK_EXACT) >> 62 == 3 && WALK_ADDRESS < WALK_EXACT, "two marks");
_Static_assert(RUNTIME_CODE_END <= STRING_PLACE, "told from places");

#define ALIKE_OWN UINT32_MAX
/* So many words of new parts are looked at before it is asked what came of it. */
#define ALIKE_TRIED 16384u
#define ALIKE_WORTH 4u /* one of so many is met again, or the next ones are left alone: */
#define ALIKE_REST (16 * ALIKE_TRIED)
#define ALIKE_REST_MOST (64 * ALIKE_REST) /* twice as many each time, up to so many */
#define ALIKE_MOST (64u << 20)            /* bytes of strings */

void load_alike_start(struct load_alike *a, const struct recording *rec)
{
	a->rec = rec;
	a->places.procs = rec->procs;
}

void load_alike_free(struct load_alike *a)
{
	alike_free(&a->places);
	intern_free(&a->strings);
	free(a->parts);
	free(a->known);
	free(a->spaces);
	free(a->string);
	map_free(&a->hits);
	free(a->hit_at);
}

/* What a word is, wherever its file is mapped. 0: it is its process's own. -ENOMEM. */
static inline int load_alike_word(struct load_alike *a, uint32_t space, uint64_t word, bool marks,
                                  uint64_t *ret)
{
	const uint64_t addr = marks ? word & WALK_ADDRESS : word;
	struct alike_place place;
	int r = alike_find(&a->places, space, addr, &place);

	if (r <= 0)
		return r;
	if (runtime_code_is(addr)) {
		*ret = word;
		return word == addr;
	}
	/* A caller's address at the beginning of a mapping may belong to the one before. */
	if (!place.offset || place.offset >= STRING_OFFSETS || place.kind >= STRING_KINDS)
		return 0;
	*ret = STRING_PLACE | (uint64_t)place.kind << STRING_KIND |
	       (word ^ addr) >> 62 << STRING_MARKS | place.offset;
	return 1;
}

/* Writes a part with places in the place of addresses. 0: it has an address of its process's own.
 * -ENOMEM. */
static int load_alike_string(struct load_alike *a, const struct seam_u64s *words, uint32_t space,
                             bool marks)
{
	if (ARRAY_ROOM(&a->string, &a->string_capacity, (size_t)words->n) < 0)
		return -ENOMEM;
	for (uint64_t i = 0; i < words->n; i++) {
		int r = load_alike_word(a, space, seam_u64s_at(words, i), marks, &a->string[i]);

		if (r <= 0)
			return r;
	}
	return 1;
}

/* Asks what came of the parts that were looked at since the last time. */
static void load_alike_ask(struct load_alike *a)
{
	if (a->met >= a->tried / ALIKE_WORTH)
		a->rests = 0;
	else if (a->rests < ALIKE_REST)
		a->rests = ALIKE_REST;
	else if (a->rests < ALIKE_REST_MOST)
		a->rests *= 2;
	a->rest = a->rests;
	a->tried = a->met = 0;
}

/* Whether to look at one more part, of n words, is worth it. */
static bool load_alike_worth(struct load_alike *a, uint64_t n)
{
	if (a->tried >= ALIKE_TRIED)
		load_alike_ask(a);
	if (a->rest) {
		a->rest -= n < a->rest ? n : a->rest;
		return false;
	}
	a->tried += n;
	return intern_held(&a->strings) < ALIKE_MOST;
}

/* Finds the part that stands for this one: itself, if it is the first of its string. *ret:
 * ALIKE_OWN: there is none. -ENOMEM. */
static int load_alike_find(struct load_alike *a, const struct seam_u64s *words, uint32_t space,
                           bool marks, uint32_t part, uint32_t *ret)
{
	uint32_t string;
	int r = load_alike_worth(a, words->n) ? load_alike_string(a, words, space, marks) : 0;

	*ret = ALIKE_OWN;
	if (r <= 0)
		return r;
	string = intern_bytes(&a->strings, a->string, (size_t)words->n * sizeof(*a->string));
	if (string == INTERN_FAILED ||
	    ARRAY_ROOM_ZEROED(&a->parts, &a->parts_capacity, (size_t)string + 1) < 0)
		return -ENOMEM;
	if (!a->parts[string] && !a->spaces[part / 2]) {
		a->parts[string] = part;
		a->spaces[part / 2] = space;
	} else if (a->parts[string]) {
		a->met += words->n;
	}
	/* A part at the same addresses may be another one in another space: it stands for one. */
	if (a->parts[string])
		*ret = a->parts[string];
	return 0;
}

/* What was said of a part in the space in which it was met last is kept: most are of one. */
int load_alike_part(struct load_alike *a, const struct stacks *s, uint32_t space, bool marks,
                    uint32_t *part)
{
	const uint32_t how = space | (marks ? RECORDING_KERNEL : 0);
	struct load_alike_known *known;
	struct seam_u64s words;
	int r;

	if (*part & 1) /* of the other byte order */
		return 0;
	if (ARRAY_ROOM_ZEROED(&a->known, &a->known_capacity, (size_t)*part / 2 + 1) < 0 ||
	    ARRAY_ROOM_ZEROED(&a->spaces, &a->spaces_capacity, (size_t)*part / 2 + 1) < 0)
		return -ENOMEM;
	known = &a->known[*part / 2];
	if (!known->part || known->space != how) {
		words = stacks_words(s, *part);
		recording_looked_at(a->rec, &a->looked_at, words.n * 8);
		known->space = how;
		r = load_alike_find(a, &words, space, marks, *part, &known->part);
		if (r < 0) {
			known->part = 0;
			return r;
		}
	}
	if (known->part == ALIKE_OWN)
		return 0;
	*part = known->part;
	return 1;
}

/* Where a place was hit already, nothing is added to the stacks. */
int load_alike_hit(struct load_alike *a, struct stacks *s, uint32_t space, uint64_t ip,
                   uint32_t *ret, bool *alike)
{
	uint64_t place, *first;
	int r = load_alike_word(a, space, ip, false, &place);

	if (r <= 0)
		return r < 0 ? r : stacks_hit(s, ip, SEAM_MISC_USER, ret);
	*alike = true;
	first = map_slot(&a->hits, place, NULL);
	if (!first)
		return -ENOMEM;
	*ret = (uint32_t)*first;
	if (*first)
		return 0;
	r = stacks_hit_new(s, ip, SEAM_MISC_USER, ret);
	if (r < 0)
		return r;
	if (ARRAY_ROOM_ZEROED(&a->hit_at, &a->hit_at_capacity, (size_t)*ret + 1) < 0)
		return -ENOMEM;
	*first = *ret;
	a->hit_at[*ret] = (struct load_alike_at){ .place = place & ~STRING_PLACE, .space = space };
	return 0;
}
