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
		s->all_tops[s->n_tops] = (struct summed_top){ place, says, 0, group };
		*at = ++s->n_tops;
	}
	return &s->all_tops[*at - 1].samples;
}

struct summed_value *summing_self(struct summing *s, uint32_t group, uint32_t place)
{
	uint64_t *at = map_slot(&s->selfs, summing_place(group, place), NULL);

	if (!at || ARRAY_ROOM(&s->all_selfs, &s->selfs_room, s->n_selfs + 1) < 0)
		return NULL;
	if (!*at) {
		s->all_selfs[s->n_selfs] = (struct summed_self){ .place = place, .group = group };
		*at = ++s->n_selfs;
	}
	return &s->all_selfs[*at - 1].value;
}

uint64_t *summing_nameless(struct summing *s, uint32_t group, uint32_t place)
{
	uint64_t *at = map_slot(&s->nameless, summing_place(group, place), NULL);

	if (!at || ARRAY_ROOM(&s->all_nameless, &s->nameless_room, s->n_nameless + 1) < 0)
		return NULL;
	if (!*at) {
		s->all_nameless[s->n_nameless] = (struct summed_nameless){ place, group, 0 };
		*at = ++s->n_nameless;
	}
	return &s->all_nameless[*at - 1].samples;
}

struct summed_total *summing_total(struct summing *s, uint32_t group, uint32_t place)
{
	uint64_t *at = map_slot(&s->totals, summing_place(group, place), NULL);

	if (!at || ARRAY_ROOM(&s->all_totals, &s->totals_room, s->n_totals + 1) < 0)
		return NULL;
	if (!*at) {
		s->all_totals[s->n_totals] =
		        (struct summed_total){ .place = place, .group = group };
		*at = ++s->n_totals;
	}
	return &s->all_totals[*at - 1];
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
	struct cursor selfs = piece->selfs;
	struct summed_totals totals = piece->totals;
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
	return selfs.failed || summed_totals_failed(&totals) ? -EBADMSG
	                                                     : summing_add_told(s, group, piece);
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
	const struct summed_top *a = pa, *b = pb;
	const int order = summing_order(a->group, b->group, a->place, b->place);

	return order ? order : (a->says > b->says) - (a->says < b->says);
}

static int summing_selfs_order(const void *pa, const void *pb)
{
	const struct summed_self *a = pa, *b = pb;

	return summing_order(a->group, b->group, a->place, b->place);
}

static int summing_nameless_order(const void *pa, const void *pb)
{
	const struct summed_nameless *a = pa, *b = pb;

	return summing_order(a->group, b->group, a->place, b->place);
}

static int summing_totals_order(const void *pa, const void *pb)
{
	const struct summed_total *a = pa, *b = pb;

	return summing_order(a->group, b->group, a->place, b->place);
}

/* Sorts all. What finds entries is of no use then. */
static void summing_sort(struct summing *s)
{
	map_free(&s->tops);
	map_free(&s->selfs);
	map_free(&s->nameless);
	map_free(&s->totals);
	if (s->n_tops)
		qsort(s->all_tops, s->n_tops, sizeof(*s->all_tops), summing_tops_order);
	if (s->n_selfs)
		qsort(s->all_selfs, s->n_selfs, sizeof(*s->all_selfs), summing_selfs_order);
	if (s->n_nameless)
		qsort(s->all_nameless, s->n_nameless, sizeof(*s->all_nameless),
		      summing_nameless_order);
	if (s->n_totals)
		qsort(s->all_totals, s->n_totals, sizeof(*s->all_totals), summing_totals_order);
}

/* Gives each group its lists. */
static void summing_groups(const struct summing *s, struct summed_group *groups)
{
	size_t top = 0, self = 0, nameless = 0, total = 0;

	for (uint32_t id = 1; id <= s->heads.n; id++) {
		const struct summing_key *key = pool_at(&s->heads, id);
		struct summed_group *g = &groups[id - 1];

		*g = (struct summed_group){
			.head = { key->series, key->event, (uint32_t)key->state },
			.tops = s->all_tops ? s->all_tops + top : NULL,
			.selfs = s->all_selfs ? s->all_selfs + self : NULL,
			.nameless = s->all_nameless ? s->all_nameless + nameless : NULL,
			.totals = s->all_totals ? s->all_totals + total : NULL,
		};
		for (; top < s->n_tops && s->all_tops[top].group == id; top++)
			g->n_tops++;
		for (; self < s->n_selfs && s->all_selfs[self].group == id; self++)
			g->n_selfs++;
		for (; nameless < s->n_nameless && s->all_nameless[nameless].group == id;
		     nameless++)
			g->n_nameless++;
		for (; total < s->n_totals && s->all_totals[total].group == id; total++)
			g->n_totals++;
	}
}

int summing_pack(struct summing *s, struct buf *packed, enum blocks_level level)
{
	struct summed_group *groups = calloc((size_t)s->heads.n + 1, sizeof(*groups));
	int r = groups ? 0 : -ENOMEM;

	if (r >= 0) {
		summing_sort(s);
		summing_groups(s, groups);
		r = summed_put(packed, groups, s->heads.n, level);
	}
	free(groups);
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
