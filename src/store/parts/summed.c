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

#define SUMMED_LISTS 4

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
static void summed_put_total(struct buf *to, const struct summed_total *t, uint32_t behind,
                             uint64_t weight)
{
	const struct summed_value none = { 0 };
	const unsigned has =
	        (summed_same(&t->of[SUMMED_FUNCTION], &none) ? 0 : SUMMED_HAS_FUNCTION) |
	        (summed_same(&t->of[SUMMED_SYMBOL], &t->of[SUMMED_FUNCTION]) ? 0
	                                                                     : SUMMED_HAS_SYMBOL) |
	        (summed_same(&t->of[SUMMED_OBJECT], &none) ? 0 : SUMMED_HAS_OBJECT);

	blocks_put_number(to, (uint64_t)behind << SUMMED_HAS_BITS | has);
	if (has & SUMMED_HAS_FUNCTION)
		summed_put_value(to, &t->of[SUMMED_FUNCTION], weight);
	if (has & SUMMED_HAS_SYMBOL)
		summed_put_value(to, &t->of[SUMMED_SYMBOL], weight);
	if (has & SUMMED_HAS_OBJECT)
		summed_put_value(to, &t->of[SUMMED_OBJECT], weight);
}

/* Appends a group: how long each list is stands in front, so that a reader can pass over it. */
static void summed_put_group(struct buf *to, struct buf lists[SUMMED_LISTS],
                             const struct summed_group *g)
{
	uint64_t weight = summed_weight(g);
	uint32_t last = 0;

	if (weight && !summed_weighs(g, weight))
		weight = 0;
	for (size_t i = 0; i < SUMMED_LISTS; i++)
		buf_clear(&lists[i]);
	for (size_t i = 0; i < g->n_tops; last = g->tops[i++].place) {
		blocks_put_number(&lists[0], g->tops[i].place - last);
		blocks_put_number(&lists[0], g->tops[i].says);
		blocks_put_number(&lists[0], g->tops[i].samples);
	}
	last = 0;
	for (size_t i = 0; i < g->n_selfs; last = g->selfs[i++].place) {
		blocks_put_number(&lists[1], g->selfs[i].place - last);
		summed_put_value(&lists[1], &g->selfs[i].value, weight);
	}
	last = 0;
	for (size_t i = 0; i < g->n_nameless; last = g->nameless[i++].place) {
		blocks_put_number(&lists[2], g->nameless[i].place - last);
		blocks_put_number(&lists[2], g->nameless[i].samples);
	}
	last = 0;
	for (size_t i = 0; i < g->n_totals; last = g->totals[i++].place)
		summed_put_total(&lists[3], &g->totals[i], g->totals[i].place - last, weight);
	blocks_put_number(to, g->head.series);
	blocks_put_number(to, g->head.event);
	blocks_put_number(to, g->head.state);
	blocks_put_number(to, weight);
	for (size_t i = 0; i < SUMMED_LISTS; i++) {
		blocks_put_number(to, lists[i].n);
		to->failed |= lists[i].failed;
	}
	for (size_t i = 0; i < SUMMED_LISTS; i++)
		buf_put(to, lists[i].bytes, lists[i].n);
}

int summed_put(struct buf *packed, const struct summed_group *groups, size_t n,
               enum blocks_level level)
{
	struct buf plain = { 0 }, lists[SUMMED_LISTS] = { 0 };
	int r;

	blocks_put_number(&plain, SUMMED_RULES);
	for (size_t i = 0; i < n; i++)
		summed_put_group(&plain, lists, &groups[i]);
	r = blocks_pack(packed, &plain, level);
	for (size_t i = 0; i < SUMMED_LISTS; i++)
		buf_free(&lists[i]);
	buf_free(&plain);
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

/* Reads a group's head, and where its lists are. -EBADMSG; -ENOMEM. */
static int summed_piece(struct summed *s, struct cursor *c)
{
	struct summed_piece p = { .head.series = leb_unsigned(c), .head.event = 0 };
	uint64_t state, bytes[SUMMED_LISTS];
	struct cursor *const lists[] = { &p.tops, &p.selfs, &p.nameless, &p.totals };

	p.head.event = leb_unsigned(c);
	state = leb_unsigned(c);
	p.weight = leb_unsigned(c);
	for (size_t i = 0; i < SUMMED_LISTS; i++)
		bytes[i] = leb_unsigned(c);
	for (size_t i = 0; i < SUMMED_LISTS; i++) {
		const unsigned char *at = cursor_bytes(c, bytes[i]);

		*lists[i] = cursor_of(at, at ? bytes[i] : 0, false);
	}
	if (c->failed || state >= BLOCKS_THINGS_MAX)
		return -EBADMSG;
	p.head.state = (uint32_t)state;
	if (ARRAY_ROOM(&s->pieces, &s->capacity, s->n + 1) < 0)
		return -ENOMEM;
	s->pieces[s->n++] = p;
	return 0;
}

int summed_open(struct summed *ret, const void *bytes, size_t n)
{
	struct summed s = { 0 };
	struct cursor c;
	int r = blocks_unpack(&s.plain, bytes, n);

	c = cursor_of(s.plain.bytes, s.plain.n, false);
	if (r >= 0 && leb_unsigned(&c) != SUMMED_RULES)
		r = -EPROTO;
	while (r >= 0 && cursor_left(&c))
		r = summed_piece(&s, &c);
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
	*s = (struct summed){ 0 };
}
