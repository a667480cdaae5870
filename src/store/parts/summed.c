// SPDX-License-Identifier: MIT
/*
 * summed.c: see summed.h.
 *
 * Most functions do not recur, and few names are in several objects: so hardly a value by symbol is
 * another one than that by function.
 */
#include "store/parts/summed.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/leb.h"

/* The first byte: what a block in plain bytes begins with. */
#define SUMMED_FORM 0

/* Of a group: those of the head, then those of the frames. */
enum {
	SUMMED_TOPS,
	SUMMED_NAMELESS,
	SUMMED_SELFS,
	SUMMED_PLACES_OF_TOTALS,
	SUMMED_VALUES, /* by way */
	SUMMED_LISTS = SUMMED_VALUES + SUMMED_WAYS,
	SUMMED_LISTS_OF_HEAD = SUMMED_SELFS,
};

/* ---- writing ---- */

static bool summed_same(const struct summed_value *a, const struct summed_value *b)
{
	return a->samples == b->samples && a->weight == b->weight;
}

static void summed_put_value(struct buf *to, const struct summed_value *v, uint64_t weight)
{
	blocks_put_number(to, v->samples);
	if (!weight)
		blocks_put_number(to, v->weight);
}

/* What each sample of a group weighs, if it is the same for all; else 0. */
static uint64_t summed_weight(const struct summed_group *g)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < g->n_selfs; i++) {
		const struct summed_value *v = &g->selfs[i].value;

		if (!weight && v->samples)
			weight = v->weight / v->samples;
		if (!weight || weight > UINT32_MAX || v->samples > UINT32_MAX ||
		    weight * v->samples != v->weight)
			return 0;
	}
	return weight;
}

/* Whether totals are as many times that, too. They are sums of what samples have, but a frame's
 * selfs may differ and their sum be the same. */
static bool summed_weighs(const struct summed_group *g, uint64_t weight)
{
	for (size_t i = 0; i < g->n_totals; i++)
		for (unsigned way = 0; way < SUMMED_WAYS; way++) {
			const struct summed_value *v = &g->totals[i].of[way];

			if (v->samples > UINT32_MAX || weight * v->samples != v->weight)
				return false;
		}
	return true;
}

/* Appends a total. */
static void summed_put_total(struct buf lists[SUMMED_LISTS], const struct summed_total *t,
                             uint32_t behind, uint64_t weight)
{
	struct buf *to = &lists[SUMMED_VALUES];

	const struct summed_value none = { 0 };
	const unsigned has =
	        (summed_same(&t->of[SUMMED_FUNCTION], &none) ? 0 : SUMMED_HAS_FUNCTION) |
	        (summed_same(&t->of[SUMMED_SYMBOL], &t->of[SUMMED_FUNCTION]) ? 0
	                                                                     : SUMMED_HAS_SYMBOL) |
	        (summed_same(&t->of[SUMMED_OBJECT], &none) ? 0 : SUMMED_HAS_OBJECT);

	blocks_put_number(&lists[SUMMED_PLACES_OF_TOTALS],
	                  (uint64_t)behind << SUMMED_HAS_BITS | has);
	if (has & SUMMED_HAS_FUNCTION)
		summed_put_value(&to[SUMMED_FUNCTION], &t->of[SUMMED_FUNCTION], weight);
	if (has & SUMMED_HAS_SYMBOL)
		summed_put_value(&to[SUMMED_SYMBOL], &t->of[SUMMED_SYMBOL], weight);
	if (has & SUMMED_HAS_OBJECT)
		summed_put_value(&to[SUMMED_OBJECT], &t->of[SUMMED_OBJECT], weight);
}

/* Makes a group's lists. */
static void summed_make_lists(struct buf lists[SUMMED_LISTS], const struct summed_group *g,
                              uint64_t weight)
{
	uint32_t last = 0;

	for (size_t i = 0; i < SUMMED_LISTS; i++)
		buf_clear(&lists[i]);
	for (size_t i = 0; i < g->n_tops; last = g->tops[i++].place) {
		blocks_put_number(&lists[SUMMED_TOPS], g->tops[i].place - last);
		blocks_put_number(&lists[SUMMED_TOPS], g->tops[i].says);
		blocks_put_number(&lists[SUMMED_TOPS], g->tops[i].samples);
	}
	last = 0;
	for (size_t i = 0; i < g->n_nameless; last = g->nameless[i++].place) {
		blocks_put_number(&lists[SUMMED_NAMELESS], g->nameless[i].place - last);
		blocks_put_number(&lists[SUMMED_NAMELESS], g->nameless[i].samples);
	}
	last = 0;
	for (size_t i = 0; i < g->n_selfs; last = g->selfs[i++].place) {
		blocks_put_number(&lists[SUMMED_SELFS], g->selfs[i].place - last);
		summed_put_value(&lists[SUMMED_SELFS], &g->selfs[i].value, weight);
	}
	last = 0;
	for (size_t i = 0; i < g->n_totals; last = g->totals[i++].place)
		summed_put_total(lists, &g->totals[i], g->totals[i].place - last, weight);
}

/* All samples of a group, and which of them have no stack, or are folded. */
static struct summed_value summed_all(const struct summed_group *g, struct summed_value *bare,
                                      uint64_t *folded)
{
	struct summed_value all = { 0 };

	*bare = (struct summed_value){ 0 };
	*folded = 0;
	for (size_t i = 0; i < g->n_selfs; i++) {
		const struct summed_self *self = &g->selfs[i];

		all.samples += self->value.samples;
		all.weight += self->value.weight;
		if (self->place == SUMMED_FOLDED || self->place == SUMMED_FOLDED_KERNEL)
			*folded += self->value.samples;
		if (!self->place)
			*bare = self->value;
	}
	return all;
}

/* Appends a group: how long each list is stands in front, so that a reader can pass over it. */
static void summed_put_group(struct buf *head, struct buf *frames, struct buf lists[SUMMED_LISTS],
                             const struct summed_group *g)
{
	uint64_t weight = summed_weight(g), folded;
	struct summed_value bare;
	const struct summed_value all = summed_all(g, &bare, &folded);

	if (weight && !summed_weighs(g, weight))
		weight = 0;
	summed_make_lists(lists, g, weight);
	blocks_put_number(head, g->head.series);
	blocks_put_number(head, g->head.event);
	blocks_put_number(head, g->head.state);
	blocks_put_number(head, weight);
	summed_put_value(head, &all, weight);
	summed_put_value(head, &bare, weight);
	blocks_put_number(head, folded);
	for (size_t i = 0; i < SUMMED_LISTS; i++) {
		blocks_put_number(head, lists[i].n);
		head->failed |= lists[i].failed;
	}
	for (size_t i = 0; i < SUMMED_LISTS; i++)
		buf_put(i < SUMMED_LISTS_OF_HEAD ? head : frames, lists[i].bytes, lists[i].n);
}

/* Heads and frames are gathered and packed apart. */
int summed_put(struct buf *packed, const struct summed_group *groups, size_t n,
               enum blocks_level level)
{
	struct buf head = { 0 }, frames = { 0 }, lists[SUMMED_LISTS] = { 0 }, first = { 0 };
	int r;

	for (size_t i = 0; i < n; i++)
		summed_put_group(&head, &frames, lists, &groups[i]);
	r = blocks_pack(&first, &head, level);
	blocks_put_number(packed, SUMMED_FORM);
	blocks_put_number(packed, SUMMED_RULES);
	blocks_put_number(packed, first.n);
	buf_put(packed, first.bytes, first.n);
	if (r >= 0)
		r = blocks_pack(packed, &frames, level);
	for (size_t i = 0; i < SUMMED_LISTS; i++)
		buf_free(&lists[i]);
	buf_free(&first);
	buf_free(&head);
	buf_free(&frames);
	return r;
}

/* ---- reading ---- */

bool summed_next_top(struct cursor *at, struct summed_top *top)
{
	if (!cursor_left(at) || !summed_place(at, leb_unsigned(at), &top->place))
		return false;
	top->says = (uint32_t)leb_unsigned(at);
	top->samples = leb_unsigned(at);
	return !at->failed;
}

bool summed_next_self(struct cursor *at, uint64_t weight, struct summed_self *self)
{
	if (!cursor_left(at) || !summed_place(at, leb_unsigned(at), &self->place))
		return false;
	summed_value(at, weight, &self->value);
	return !at->failed;
}

bool summed_next_nameless(struct cursor *at, struct summed_nameless *nameless)
{
	if (!cursor_left(at) || !summed_place(at, leb_unsigned(at), &nameless->place))
		return false;
	nameless->samples = leb_unsigned(at);
	return !at->failed;
}

/* Reads a group's head, and where its lists are; frames: NULL, if they are not asked for.
 * -EBADMSG; -ENOMEM. */
static int summed_piece(struct summed *s, struct cursor *c, struct cursor *frames)
{
	struct summed_piece p = { .head.series = leb_unsigned(c), .head.event = 0 };
	uint64_t state, bytes[SUMMED_LISTS];
	struct cursor *const lists[SUMMED_LISTS] = {
		&p.tops,
		&p.nameless,
		&p.selfs,
		&p.totals.places,
		&p.totals.values[SUMMED_FUNCTION],
		&p.totals.values[SUMMED_SYMBOL],
		&p.totals.values[SUMMED_OBJECT],
	};

	p.head.event = leb_unsigned(c);
	state = leb_unsigned(c);
	p.weight = leb_unsigned(c);
	summed_value(c, p.weight, &p.all);
	summed_value(c, p.weight, &p.bare);
	p.folded = leb_unsigned(c);
	for (size_t i = 0; i < SUMMED_LISTS; i++)
		bytes[i] = leb_unsigned(c);
	for (size_t i = 0; i < (frames ? SUMMED_LISTS : SUMMED_LISTS_OF_HEAD); i++) {
		struct cursor *from = i < SUMMED_LISTS_OF_HEAD ? c : frames;
		const unsigned char *at = cursor_bytes(from, bytes[i]);

		*lists[i] = cursor_of(at, at ? bytes[i] : 0, false);
	}
	if (c->failed || (frames && frames->failed) || state >= BLOCKS_THINGS_MAX ||
	    p.bare.samples > p.all.samples || p.bare.weight > p.all.weight)
		return -EBADMSG;
	p.head.state = (uint32_t)state;
	if (ARRAY_ROOM(&s->pieces, &s->capacity, s->n + 1) < 0)
		return -ENOMEM;
	s->pieces[s->n++] = p;
	return 0;
}

/* Unpacks both, or the head alone. -EPROTO; -EBADMSG; -ENOMEM. */
static int summed_unpack(struct summed *s, const void *bytes, size_t n, bool frames)
{
	struct cursor c = cursor_of(bytes, n, false);
	const uint8_t form = cursor_u8(&c);
	const uint64_t rules = leb_unsigned(&c);
	const unsigned char *head;
	uint64_t size;
	int r;

	if (c.failed)
		return -EBADMSG;
	if (form != SUMMED_FORM || rules != SUMMED_RULES)
		return -EPROTO;
	size = leb_unsigned(&c);
	head = cursor_bytes(&c, size);
	if (!head)
		return -EBADMSG;
	r = blocks_unpack(&s->plain, head, size);
	return r < 0 || !frames ? r : blocks_unpack(&s->frames, c.at, cursor_left(&c));
}

int summed_open(struct summed *ret, const void *bytes, size_t n, bool frames)
{
	struct summed s = { 0 };
	struct cursor c, of_frames;
	int r = summed_unpack(&s, bytes, n, frames);

	c = cursor_of(s.plain.bytes, s.plain.n, false);
	of_frames = cursor_of(s.frames.bytes, s.frames.n, false);
	while (r >= 0 && cursor_left(&c))
		r = summed_piece(&s, &c, frames ? &of_frames : NULL);
	if (r >= 0)
		*ret = s;
	else
		summed_free(&s);
	return r < 0 ? r : 0;
}

void summed_free(struct summed *s)
{
	free(s->pieces);
	buf_free(&s->plain);
	buf_free(&s->frames);
	*s = (struct summed){ 0 };
}
