// SPDX-License-Identifier: MIT
/*
 * joined.c: see joined.h.
 *
 * In sorted order a node comes right before all that it calls, and brothers stand by their frames.
 * So the walk goes down into a node with the lists that have it, and takes what these have below
 * it, by frame. What one list alone has lies there in one piece, and is copied.
 *
 * A list that is damaged may have brothers in another order. Then the one that is made has a stack
 * twice, and is sound otherwise. Where a node does not even stand behind its parent and what its
 * elder brothers call, the walk does not get to it, and the list is refused.
 */
#include "store/stacks/joined.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pages.h"
#include "store/stacks/sorted.h"

void joined_free(struct joined *j)
{
	free(j->nodes);
	sums_free(&j->sums);
	*j = (struct joined){ 0 };
}

/* ---- taking ---- */

/* How many nodes are needed. */
static uint32_t joined_count(const struct lookup_stacks *s)
{
	uint32_t n = 0;

	for (uint32_t id = 1; id <= s->list.highest; id++)
		n += s->nodes[id].frame != 0;
	return n;
}

/* The nodes that are needed without those that are not. */
static int joined_needed(struct joined *j, const struct lookup_stacks *s, uint32_t *number)
{
	for (uint32_t id = 1; id <= s->list.highest; id++)
		if (s->nodes[id].frame)
			number[id] = ++j->n;
	j->nodes = pages_zeroed((size_t)j->n + 1, sizeof(*j->nodes));
	if (!j->nodes)
		return -ENOMEM;
	for (uint32_t id = 1; id <= s->list.highest; id++)
		if (number[id])
			j->nodes[number[id]] = (struct blocks_node){ number[s->nodes[id].parent],
				                                     s->nodes[id].frame };
	return 0;
}

/* Counts by the nodes' new numbers; without these, whether there are such nodes. -EBADMSG. */
static int joined_rename(struct sums *sums, const uint32_t *number, uint32_t highest)
{
	for (size_t i = 0; i < sums->n; i++) {
		struct sums_row *row = &sums->rows[i];

		if (row->node > highest || (number && row->node && !number[row->node]))
			return -EBADMSG;
		row->node = number ? number[row->node] : row->node;
	}
	sums->sorted = 0;
	return 0;
}

/* Takes the nodes that are needed. All of an epoch are, where all of its windows are asked for:
 * then they keep their numbers. -ENOMEM; -EBADMSG. */
static int joined_take_nodes(struct joined *j, struct lookup_stacks *s, struct sums *sums)
{
	uint32_t *number;
	int r;

	if (joined_count(s) == s->list.highest) {
		j->nodes = s->nodes;
		j->n = s->list.highest;
		s->nodes = NULL;
		return joined_rename(sums, NULL, j->n);
	}
	number = pages_zeroed((size_t)s->list.highest + 1, sizeof(*number));
	r = number ? joined_needed(j, s, number) : -ENOMEM;
	if (r >= 0)
		r = joined_rename(sums, number, s->list.highest);
	free(number);
	return r;
}

/* Sorts the nodes of a list that grew by and by. -ENOMEM. */
static int joined_sort(struct joined *j, struct sums *sums)
{
	struct blocks_node *sorted = pages_zeroed((size_t)j->n + 1, sizeof(*sorted));
	uint32_t *number = pages_zeroed((size_t)j->n + 1, sizeof(*number));
	int r = sorted && number ? sorted_numbers(number, j->nodes, j->n) : -ENOMEM;

	for (uint32_t id = 1; id <= j->n && r >= 0; id++)
		sorted[number[id]] =
		        (struct blocks_node){ number[j->nodes[id].parent], j->nodes[id].frame };
	if (r >= 0) {
		free(j->nodes);
		j->nodes = sorted;
		r = joined_rename(sums, number, j->n);
	} else {
		free(sorted);
	}
	free(number);
	return r;
}

/* Takes what was counted, each stack of a group once, and no more room than that needs. -ENOMEM. */
static int joined_take_sums(struct joined *j, struct sums *sums)
{
	int r = sums_end(sums);

	if (r < 0 || !sums->n)
		return r;
	j->sums.rows = malloc(sums->n * sizeof(*sums->rows));
	if (!j->sums.rows)
		return -ENOMEM;
	memcpy(j->sums.rows, sums->rows, sums->n * sizeof(*sums->rows));
	j->sums.n = j->sums.capacity = j->sums.sorted = sums->n;
	return 0;
}

/* The nodes keep their order; those of a list that grew by and by are sorted. */
int joined_take(struct joined *ret, struct lookup_stacks *s, struct sums *sums)
{
	struct joined j = { 0 };
	int r = joined_take_nodes(&j, s, sums);

	if (r >= 0 && !s->sorted)
		r = joined_sort(&j, sums);
	lookup_stacks_free(s);
	if (r >= 0)
		r = joined_take_sums(&j, sums);
	sums->n = sums->sorted = 0;
	if (r >= 0)
		*ret = j;
	else
		joined_free(&j);
	return r;
}

/* ---- joining ---- */

/* One of the lists, on the way. A node that was taken has as its parent what its own number is in
 * the list that is made. */
struct joined_side {
	struct blocks_node *nodes;
	uint32_t n, next;
};

/* A list that has the node into which the walk went. */
struct joined_entry {
	struct joined_side *side;
	uint32_t own; /* the node's id in that list */
	uint32_t key; /* of its next child: by what children stand in order */
};

/* The walk is below such a node, with some of the lists. */
struct joined_level {
	uint32_t made; /* the node's number in the list that is made */
	uint32_t key;  /* of the child that was taken last */
	size_t first;  /* its lists: these entries, up to the end */
};

/* The way down, and the lists of each level behind those of the one above. */
struct joined_walk {
	struct blocks_node *to;
	uint32_t n; /* nodes that were made */
	struct joined_level *levels;
	size_t n_levels, levels_capacity;
	struct joined_entry *entries;
	size_t n_entries, entries_capacity;
};

#define JOINED_END UINT32_MAX /* behind all keys: there is no child any more */

/* What the next node is ordered by if it is a child of `own`. What was folded comes first. */
static uint32_t joined_key(const struct joined_side *s, uint32_t own)
{
	const struct blocks_node *next = &s->nodes[s->next];

	if (s->next > s->n || next->parent != own)
		return JOINED_END;
	return next->frame == BLOCKS_FOLDED ? 0 : next->frame;
}

/* Makes the next node of a list and all below it, which no other list has: they lie in one piece,
 * and so they do in the list that is made. */
static void joined_copy(struct joined_walk *w, struct joined_side *s, uint32_t parent)
{
	const uint32_t first = s->next, by = w->n + 1 - first;
	uint32_t id = first;

	for (; id <= s->n && (id == first || s->nodes[id].parent >= first); id++) {
		w->to[id + by] =
		        (struct blocks_node){ s->nodes[id].parent + by, s->nodes[id].frame };
		s->nodes[id].parent = id + by;
	}
	w->to[first + by].parent = parent;
	w->n = id - 1 + by;
	s->next = id;
}

/* Goes down into a node that was made. Its lists are added by joined_enter. -ENOMEM. */
static int joined_down(struct joined_walk *w, uint32_t made)
{
	if (ARRAY_ROOM(&w->levels, &w->levels_capacity, w->n_levels + 1) < 0)
		return -ENOMEM;
	w->levels[w->n_levels++] = (struct joined_level){ made, JOINED_END, w->n_entries };
	return 0;
}

/* Adds a list to the level that the walk is at, whose node it has as `own`. -ENOMEM. */
static int joined_enter(struct joined_walk *w, struct joined_side *s, uint32_t own)
{
	if (ARRAY_ROOM(&w->entries, &w->entries_capacity, w->n_entries + 1) < 0)
		return -ENOMEM;
	w->entries[w->n_entries++] = (struct joined_entry){ s, own, joined_key(s, own) };
	return 0;
}

/* Lists whose child was taken go on to their next one; those that have none go. The key that comes
 * next, and how many lists have it. */
static uint32_t joined_least(struct joined_walk *w, struct joined_level *level, size_t *ret)
{
	uint32_t least = JOINED_END;
	size_t same = 0;

	for (size_t i = level->first; i < w->n_entries;) {
		struct joined_entry *e = &w->entries[i];

		if (e->key == level->key)
			e->key = joined_key(e->side, e->own);
		if (e->key == JOINED_END) {
			*e = w->entries[--w->n_entries];
			continue;
		}
		if (e->key < least)
			same = 0;
		if (e->key <= least) {
			least = e->key;
			same++;
		}
		i++;
	}
	level->key = least;
	*ret = same;
	return least;
}

/* Makes the child that several lists have, and goes down into it. -ENOMEM. */
static int joined_common(struct joined_walk *w, const struct joined_level *level, uint32_t parent)
{
	const size_t first = level->first, n = w->n_entries;
	const uint32_t key = level->key;
	int r = joined_down(w, ++w->n);

	for (size_t i = first; i < n && r >= 0; i++) {
		struct joined_side *s = w->entries[i].side;

		if (w->entries[i].key != key)
			continue;
		w->to[w->n] = (struct blocks_node){ parent, s->nodes[s->next].frame };
		s->nodes[s->next++].parent = w->n;
		r = joined_enter(w, s, s->next - 1);
	}
	return r;
}

/* Takes the next child of the level that the walk is at, or goes up. -ENOMEM. */
static int joined_step(struct joined_walk *w)
{
	struct joined_level *level = &w->levels[w->n_levels - 1];
	const uint32_t made = level->made;
	size_t same, i = level->first;
	const uint32_t key = joined_least(w, level, &same);

	if (key == JOINED_END) {
		w->n_levels--;
		return 0;
	}
	if (same > 1)
		return joined_common(w, level, made);
	while (w->entries[i].key != key)
		i++;
	joined_copy(w, w->entries[i].side, made);
	return 0;
}

/* Walks over all lists at once. -ENOMEM; -EBADMSG: one is in no such order at all. */
static int joined_walk(struct joined_walk *w, struct joined_side *sides, size_t n)
{
	int r = joined_down(w, 0);

	for (size_t i = 0; i < n && r >= 0; i++)
		r = joined_enter(w, &sides[i], 0);
	while (w->n_levels && r >= 0)
		r = joined_step(w);
	for (size_t i = 0; i < n && r >= 0; i++)
		r = sides[i].next <= sides[i].n ? -EBADMSG : 0;
	free(w->levels);
	free(w->entries);
	return r;
}

/* A list's rows on the way into those of all. */
struct joined_from {
	const struct sums_row *next, *end;
	uint64_t place; /* of the next one: its group, then its node */
};

/* Goes on to a list's next row; false: there is none. */
static bool joined_next(struct joined_from *f)
{
	if (f->next == f->end)
		return false;
	f->place = (uint64_t)f->next->group << 32 | f->next->node;
	return true;
}

/* Puts an entry of a heap of n where it belongs, the least first; those below it are in order. */
static void joined_settle(struct joined_from *heap, size_t n, size_t at)
{
	const struct joined_from entry = heap[at];

	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && heap[child + 1].place < heap[child].place)
			child++;
		if (entry.place <= heap[child].place)
			break;
		heap[at] = heap[child];
	}
	heap[at] = entry;
}

/* Rows of n lists as one's, in order; those of the same stack become one. There is room. */
static void joined_merge(struct sums *to, struct joined_from *heap, size_t n)
{
	for (size_t i = n; i--;)
		joined_settle(heap, n, i);
	for (uint64_t last = UINT64_MAX; n;) {
		const struct sums_row *row = heap->next++;

		if (heap->place == last) {
			to->rows[to->n - 1].samples += row->samples;
			to->rows[to->n - 1].weight += row->weight;
		} else {
			to->rows[to->n++] = *row;
		}
		last = heap->place;
		if (!joined_next(heap))
			heap[0] = heap[--n];
		if (n)
			joined_settle(heap, n, 0);
	}
	to->sorted = to->n;
}

/* All counts, by the nodes' new numbers, each stack of a group once. A list's rows are in order,
 * and the walk left its nodes in theirs. The lists' own are empty then. -ENOMEM. */
static int joined_rows(struct sums *ret, struct joined *lists, size_t n)
{
	struct joined_from *heap = calloc(n, sizeof(*heap));
	size_t all = 0, some = 0;
	int r = heap ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && r >= 0; i++) {
		const struct sums *rows = &lists[i].sums;

		for (size_t k = 0; k < rows->n; k++)
			rows->rows[k].node = lists[i].nodes[rows->rows[k].node].parent;
		free(lists[i].nodes);
		lists[i].nodes = NULL;
		all += rows->n;
		heap[some] = (struct joined_from){ rows->rows, rows->rows + rows->n, 0 };
		some += joined_next(&heap[some]);
	}
	if (r >= 0)
		r = ARRAY_ROOM(&ret->rows, &ret->capacity, all + 1);
	if (r >= 0)
		joined_merge(ret, heap, some);
	for (size_t i = 0; i < n; i++)
		sums_free(&lists[i].sums);
	free(heap);
	return r;
}

/* Makes one list of n; all: as many nodes as they have together. -ENOMEM; -EBADMSG. */
static int joined_make(struct joined *ret, struct joined *lists, struct joined_side *sides,
                       size_t n, size_t all)
{
	/* How many there will be is known only then: what is not filled is never in memory. */
	struct joined_walk walk = { .to = pages_new((all + 1) * sizeof(*walk.to)) };
	int r = walk.to ? joined_walk(&walk, sides, n) : -ENOMEM;

	if (walk.to)
		walk.to[0] = (struct blocks_node){ 0 };
	ret->nodes = walk.to;
	ret->n = walk.n;
	return r < 0 ? r : joined_rows(&ret->sums, lists, n);
}

/* One walk over all lists, however many there are. */
int joined_all(struct joined *lists, size_t n)
{
	struct joined_side *sides;
	struct joined made = { 0 };
	size_t all = 0;
	int r = 0;

	if (n < 2)
		return n ? sums_end(&lists->sums) : 0;
	sides = calloc(n, sizeof(*sides));
	if (!sides)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		sides[i] = (struct joined_side){ lists[i].nodes, lists[i].n, 1 };
		all += lists[i].n;
	}
	if (all > UINT32_MAX - 1)
		r = -ENOMEM;
	if (r >= 0)
		r = joined_make(&made, lists, sides, n, all);
	free(sides);
	if (r < 0) {
		joined_free(&made);
		return r;
	}
	for (size_t i = 0; i < n; i++)
		joined_free(&lists[i]);
	lists[0] = made;
	return 0;
}
