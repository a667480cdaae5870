/* SPDX-License-Identifier: MIT */
/*
 * summed.h: a part of a store's time (ten minutes, an hour) summed up by frame, as bytes: for each
 * series, event and state what samples it has, what they hit in a frame, and what they hit in it or
 * below. For answers that show no stacks, which then need not be read. Frames, strings and series
 * have the numbers of the lists of names that the part is of (blocks.h).
 *
 * What counts once on a stack depends on what a table tells apart, so frames have a sum for each of
 * these ways. It is that of the stacks on which no frame that is alike is further out: so the sums
 * of alike frames are what they have together.
 *
 * The bytes: 0; the number of rules; how many bytes the head has; the head; the frames. Both are
 * packed (blocks_pack), so that an answer that tells no frames apart need not unpack the second.
 * (A seam of rules 1 takes all for one block in plain bytes, of rules that it does not know.)
 *
 * The head, for each group: series, event and state; what a sample weighs (0: it differs); all of
 * its samples, and where they differ their weight; the same of those without a stack; how many are
 * folded; how many bytes its lists have, two of which follow at once: tops, nameless frames. The
 * frames: selfs, the places of totals, their values by function, by symbol, by object; of each
 * group, behind each other. An entry of tops, nameless frames and selfs, and a place, begins with
 * how far it is behind the one before; of a total with, in the bits below, which values it has:
 * that by function and by object where they are not 0, that by symbol where it is not that by
 * function.
 */
#ifndef SEAM_STORE_SUMMED_H
#define SEAM_STORE_SUMMED_H

#include "base/leb.h"
#include "store/stacks/blocks.h"

/* By what frames are alike. */
enum summed_way {
	SUMMED_FUNCTION, /* symbol and object */
	SUMMED_SYMBOL,
	SUMMED_OBJECT,
	SUMMED_WAYS,
};

/* Goes up when what frames say (profile/flat.h) is judged in another way, or written in another:
 * parts that were made before are of no use then. tests/unit/fleet_summed.c fails where it does
 * not. */
#define SUMMED_RULES 2

/* Where a frame is found: its number and more; in front of these what was folded, and 0: a sample
 * without a stack. */
enum {
	SUMMED_NO_STACK,
	SUMMED_FOLDED,
	SUMMED_FOLDED_KERNEL, /* its caller is in the kernel */
	SUMMED_FRAMES,        /* and a frame's number, from 1 */
};
#define SUMMED_PLACES (SUMMED_FRAMES + BLOCKS_THINGS_MAX)

struct summed_value {
	uint64_t samples, weight;
};

/* What stacks have as their outermost frame, and what all of their frames say (profile/flat.h). */
struct summed_top {
	uint32_t place, says;
	uint64_t samples;
	uint32_t group; /* for who makes them, as in the others */
};

struct summed_self {
	uint32_t place, group;
	struct summed_value value;
};

/* Samples on whose stacks a frame is its object's outermost one without a name. */
struct summed_nameless {
	uint32_t place, group;
	uint64_t samples;
};

struct summed_total {
	uint32_t place, group;
	struct summed_value of[SUMMED_WAYS];
};

struct summed_head {
	uint64_t series, event;
	uint32_t state;
};

/* A group to be written: each list by place. Every frame that is on a stack has a total. */
struct summed_group {
	struct summed_head head;
	const struct summed_top *tops;
	const struct summed_self *selfs;
	const struct summed_nameless *nameless;
	const struct summed_total *totals;
	size_t n_tops, n_selfs, n_nameless, n_totals;
};

/* -ENOMEM. */
int summed_put(struct buf *packed, const struct summed_group *groups, size_t n,
               enum blocks_level level);

/* Where a group's totals are. */
struct summed_totals {
	struct cursor places, values[SUMMED_WAYS];
};

/* A group that is read: where its lists are. */
struct summed_piece {
	struct summed_head head;
	uint32_t group; /* the reader's own number; 0 at first */
	uint64_t weight;
	struct summed_value all;  /* its samples */
	struct summed_value bare; /* of them, without a stack */
	uint64_t folded;          /* of them */
	struct cursor tops, nameless;
	struct cursor selfs; /* this and totals: empty, if frames are not asked for */
	struct summed_totals totals;
};

/* A part that is read. summed_free. */
struct summed {
	struct buf plain, frames;
	struct summed_piece *pieces;
	size_t n, capacity;
};

/* Unpacks a part, with its frames or without, and finds its groups. -EPROTO: it was made by other
 * rules. -EBADMSG; -ENOMEM. */
int summed_open(struct summed *ret, const void *bytes, size_t n, bool frames);
void summed_free(struct summed *s);

/* The next of a list, from zero on; *at is the list's cursor. False: there is none, or it makes no
 * sense: at->failed then. */
bool summed_next_top(struct cursor *at, struct summed_top *top);
bool summed_next_self(struct cursor *at, uint64_t weight, struct summed_self *self);
bool summed_next_nameless(struct cursor *at, struct summed_nameless *nameless);

/* Which values a total has. */
enum {
	SUMMED_HAS_FUNCTION = 1u << SUMMED_FUNCTION,
	SUMMED_HAS_SYMBOL = 1u << SUMMED_SYMBOL,
	SUMMED_HAS_OBJECT = 1u << SUMMED_OBJECT,
	SUMMED_HAS_BITS = SUMMED_WAYS,
};

/* Adds to the place of the one before. */
static inline bool summed_place(struct cursor *at, uint64_t behind, uint32_t *place)
{
	if (at->failed || behind >= SUMMED_PLACES || *place + behind >= SUMMED_PLACES)
		return cursor_fail(at);
	*place += (uint32_t)behind;
	return true;
}

static inline void summed_value(struct cursor *at, uint64_t weight, struct summed_value *v)
{
	v->samples = leb_unsigned(at);
	if (!weight)
		v->weight = leb_unsigned(at);
	else if (__builtin_mul_overflow(v->samples, weight, &v->weight))
		cursor_fail(at);
}

/* The next place that has a total, and which values that has. A part of a day has a hundred
 * thousand of them. */
static inline bool summed_next_place(struct cursor *at, uint32_t *place, unsigned *has)
{
	uint64_t first;

	if (!cursor_left(at))
		return false;
	first = leb_unsigned(at);
	*has = first & ((1u << SUMMED_HAS_BITS) - 1);
	return summed_place(at, first >> SUMMED_HAS_BITS, place);
}

static inline bool summed_totals_failed(const struct summed_totals *at)
{
	return at->places.failed || at->values[SUMMED_FUNCTION].failed ||
	       at->values[SUMMED_SYMBOL].failed || at->values[SUMMED_OBJECT].failed;
}

static inline bool summed_next_total(struct summed_totals *at, uint64_t weight,
                                     struct summed_total *total)
{
	unsigned has;

	if (!summed_next_place(&at->places, &total->place, &has))
		return false;
	total->of[SUMMED_FUNCTION] = total->of[SUMMED_OBJECT] = (struct summed_value){ 0 };
	if (has & SUMMED_HAS_FUNCTION)
		summed_value(&at->values[SUMMED_FUNCTION], weight, &total->of[SUMMED_FUNCTION]);
	total->of[SUMMED_SYMBOL] = total->of[SUMMED_FUNCTION];
	if (has & SUMMED_HAS_SYMBOL)
		summed_value(&at->values[SUMMED_SYMBOL], weight, &total->of[SUMMED_SYMBOL]);
	if (has & SUMMED_HAS_OBJECT)
		summed_value(&at->values[SUMMED_OBJECT], weight, &total->of[SUMMED_OBJECT]);
	return !summed_totals_failed(at);
}

/* The same of one way alone. */
static inline bool summed_next_of(struct summed_totals *at, uint64_t weight, enum summed_way way,
                                  uint32_t *place, struct summed_value *value)
{
	unsigned has;

	*value = (struct summed_value){ 0 };
	if (!summed_next_place(&at->places, place, &has))
		return false;
	if (way != SUMMED_OBJECT && has & SUMMED_HAS_FUNCTION)
		summed_value(&at->values[SUMMED_FUNCTION], weight, value);
	if (way != SUMMED_FUNCTION && has & 1u << way)
		summed_value(&at->values[way], weight, value);
	return !at->values[way].failed;
}

#endif
