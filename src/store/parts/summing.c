// SPDX-License-Identifier: MIT
// summing.c: see summing.h: what is added up, and how it becomes bytes. Of stacks:
// summing_stacks.c.
#include "store/parts/summing.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* A head without padding. */
struct summing_key {
	uint64_t series, event, state;
};

uint32_t summing_group(struct summing *s, const struct summed_head *head)
{
	const struct summing_key key = { head->series, head->event, head->state };

	s->heads.size = sizeof(key);
	return pool_put(&s->heads, &key);
}

static uint64_t summing_place(uint32_t group, uint32_t place)
{
	return (uint64_t)group << 32 | place;
}

uint64_t *summing_top(struct summing *s, uint32_t group, uint32_t place, uint32_t says)
{
	uint64_t *at = map_slot(&s->tops, summing_place(group, place | says << 24), NULL);

	if (!at || ARRAY_ROOM(&s->all_tops, &s->tops_room, s->n_tops + 1) < 0)
		return NULL;
	if (!*at) {
		s->all_tops[s->n_tops] = (struct summing_top){ group, { place, says, 0 } };
		*at = ++s->n_tops;
	}
	return &s->all_tops[*at - 1].top.samples;
}

struct summed_value *summing_self(struct summing *s, uint32_t group, uint32_t place)
{
	uint64_t *at = map_slot(&s->selfs, summing_place(group, place), NULL);

	if (!at || ARRAY_ROOM(&s->all_selfs, &s->selfs_room, s->n_selfs + 1) < 0)
		return NULL;
	if (!*at) {
		s->all_selfs[s->n_selfs] = (struct summing_self){ group, { .place = place } };
		*at = ++s->n_selfs;
	}
	return &s->all_selfs[*at - 1].self.value;
}

uint64_t *summing_nameless(struct summing *s, uint32_t group, uint32_t place)
{
	uint64_t *at = map_slot(&s->nameless, summing_place(group, place), NULL);

	if (!at || ARRAY_ROOM(&s->all_nameless, &s->nameless_room, s->n_nameless + 1) < 0)
		return NULL;
	if (!*at) {
		s->all_nameless[s->n_nameless] = (struct summing_nameless){ group, { place, 0 } };
		*at = ++s->n_nameless;
	}
	return &s->all_nameless[*at - 1].nameless.samples;
}

struct summed_total *summing_total(struct summing *s, uint32_t group, uint32_t place)
{
	uint64_t *at = map_slot(&s->totals, summing_place(group, place), NULL);

	if (!at || ARRAY_ROOM(&s->all_totals, &s->totals_room, s->n_totals + 1) < 0)
		return NULL;
	if (!*at) {
		s->all_totals[s->n_totals] = (struct summing_total){ group, { .place = place } };
		*at = ++s->n_totals;
	}
	return &s->all_totals[*at - 1].total;
}

/* ---- a part ---- */

/* Adds what is told of a group's stacks. -ENOMEM; -EBADMSG. */
static int summing_add_told(struct summing *s, uint32_t group, const struct summed_piece *piece)
{
	struct cursor tops = piece->tops, nameless = piece->nameless;
	struct summed_top top = { 0 };
	struct summed_nameless unnamed = { 0 };

	while (summed_next_top(&tops, &top)) {
		uint64_t *to = summing_top(s, group, top.place, top.says & (FLAT_SAYS - 1));

		if (!to)
			return -ENOMEM;
		*to += top.samples;
	}
	while (summed_next_nameless(&nameless, &unnamed)) {
		uint64_t *to = summing_nameless(s, group, unnamed.place);

		if (!to)
			return -ENOMEM;
		*to += unnamed.samples;
	}
	return tops.failed || nameless.failed ? -EBADMSG : 0;
}

/* Adds a group of a part. -ENOMEM; -EBADMSG. */
static int summing_add_piece(struct summing *s, const struct summed_piece *piece)
{
	struct cursor selfs = piece->selfs, totals = piece->totals;
	const uint32_t group = summing_group(s, &piece->head);
	struct summed_self self = { 0 };
	struct summed_total total = { 0 };

	if (group == POOL_FAILED)
		return -ENOMEM;
	while (summed_next_self(&selfs, piece->weight, &self)) {
		struct summed_value *to = summing_self(s, group, self.place);

		if (!to)
			return -ENOMEM;
		summed_add(to, &self.value);
	}
	while (summed_next_total(&totals, piece->weight, &total)) {
		struct summed_total *to = summing_total(s, group, total.place);

		if (!to)
			return -ENOMEM;
		for (unsigned way = 0; way < SUMMED_WAYS; way++)
			summed_add(&to->of[way], &total.of[way]);
	}
	return selfs.failed || totals.failed ? -EBADMSG : summing_add_told(s, group, piece);
}

int summing_add(struct summing *s, const struct summed *part)
{
	int r = 0;

	for (size_t i = 0; i < part->n && r >= 0; i++)
		r = summing_add_piece(s, &part->pieces[i]);
	return r;
}

/* ---- bytes ---- */

static int summing_order(uint32_t group, uint32_t other_group, uint32_t place, uint32_t other_place)
{
	if (group != other_group)
		return group < other_group ? -1 : 1;
	return (place > other_place) - (place < other_place);
}

static int summing_tops_order(const void *pa, const void *pb)
{
	const struct summing_top *a = pa, *b = pb;
	const int order = summing_order(a->group, b->group, a->top.place, b->top.place);

	return order ? order : (a->top.says > b->top.says) - (a->top.says < b->top.says);
}

static int summing_selfs_order(const void *pa, const void *pb)
{
	const struct summing_self *a = pa, *b = pb;

	return summing_order(a->group, b->group, a->self.place, b->self.place);
}

static int summing_nameless_order(const void *pa, const void *pb)
{
	const struct summing_nameless *a = pa, *b = pb;

	return summing_order(a->group, b->group, a->nameless.place, b->nameless.place);
}

static int summing_totals_order(const void *pa, const void *pb)
{
	const struct summing_total *a = pa, *b = pb;

	return summing_order(a->group, b->group, a->total.place, b->total.place);
}

/* The lists without their groups. */
struct summing_lists {
	struct summed_group *groups;
	struct summed_top *tops;
	struct summed_self *selfs;
	struct summed_nameless *nameless;
	struct summed_total *totals;
};

static void summing_lists_free(struct summing_lists *l)
{
	free(l->groups);
	free(l->tops);
	free(l->selfs);
	free(l->nameless);
	free(l->totals);
}

/* Takes memory for the lists, and sorts what goes into them. -ENOMEM. */
static int summing_sort(struct summing *s, struct summing_lists *l)
{
	l->groups = calloc((size_t)s->heads.n + 1, sizeof(*l->groups));
	l->tops = calloc(s->n_tops + 1, sizeof(*l->tops));
	l->selfs = calloc(s->n_selfs + 1, sizeof(*l->selfs));
	l->nameless = calloc(s->n_nameless + 1, sizeof(*l->nameless));
	l->totals = calloc(s->n_totals + 1, sizeof(*l->totals));
	if (!l->groups || !l->tops || !l->selfs || !l->nameless || !l->totals)
		return -ENOMEM;
	if (s->n_tops)
		qsort(s->all_tops, s->n_tops, sizeof(*s->all_tops), summing_tops_order);
	if (s->n_selfs)
		qsort(s->all_selfs, s->n_selfs, sizeof(*s->all_selfs), summing_selfs_order);
	if (s->n_nameless)
		qsort(s->all_nameless, s->n_nameless, sizeof(*s->all_nameless),
		      summing_nameless_order);
	if (s->n_totals)
		qsort(s->all_totals, s->n_totals, sizeof(*s->all_totals), summing_totals_order);
	return 0;
}

/* Gives each group its lists. */
static void summing_part(const struct summing *s, struct summing_lists *l)
{
	size_t top = 0, self = 0, nameless = 0, total = 0;

	for (uint32_t id = 1; id <= s->heads.n; id++) {
		const struct summing_key *key = pool_at(&s->heads, id);
		struct summed_group *g = &l->groups[id - 1];

		*g = (struct summed_group){
			.head = { key->series, key->event, (uint32_t)key->state },
			.tops = &l->tops[top],
			.selfs = &l->selfs[self],
			.nameless = &l->nameless[nameless],
			.totals = &l->totals[total],
		};
		for (; top < s->n_tops && s->all_tops[top].group == id; g->n_tops++, top++)
			l->tops[top] = s->all_tops[top].top;
		for (; self < s->n_selfs && s->all_selfs[self].group == id; g->n_selfs++, self++)
			l->selfs[self] = s->all_selfs[self].self;
		for (; nameless < s->n_nameless && s->all_nameless[nameless].group == id;
		     g->n_nameless++, nameless++)
			l->nameless[nameless] = s->all_nameless[nameless].nameless;
		for (; total < s->n_totals && s->all_totals[total].group == id;
		     g->n_totals++, total++)
			l->totals[total] = s->all_totals[total].total;
	}
}

/* Nothing can be added any more. */
int summing_pack(struct summing *s, struct buf *packed)
{
	struct summing_lists l = { 0 };
	int r = summing_sort(s, &l);

	if (r >= 0)
		summing_part(s, &l);
	if (r >= 0)
		r = summed_put(packed, l.groups, s->heads.n);
	summing_lists_free(&l);
	return r;
}

void summing_free(struct summing *s)
{
	pool_free(&s->heads);
	map_free(&s->tops);
	map_free(&s->selfs);
	map_free(&s->nameless);
	map_free(&s->totals);
	free(s->all_tops);
	free(s->all_selfs);
	free(s->all_nameless);
	free(s->all_totals);
	*s = (struct summing){ 0 };
}
