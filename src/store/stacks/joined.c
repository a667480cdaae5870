// SPDX-License-Identifier: MIT
/*
 * joined.c: see joined.h.
 *
 * In sorted order a node comes behind its parent and all that its elder brothers called, and
 * brothers stand by their frames. So of the next nodes of all lists the deepest one comes first, of
 * equally deep ones, which have the same parent, that of the least frame. Lists wait in a heap by
 * that; one that goes on below the others stays in front.
 *
 * A list that is damaged may have brothers in another order. Then the one that is made has a stack
 * twice, and is sound otherwise.
 */
#include "store/stacks/joined.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "store/stacks/sorted.h"

void joined_free(struct joined *j)
{
	free(j->nodes);
	sums_free(&j->sums);
	*j = (struct joined){ 0 };
}

/* ---- taking ---- */

/* The nodes that are needed without those that are not. */
static int joined_needed(struct joined *j, const struct lookup_stacks *s, uint32_t *number)
{
	for (uint32_t id = 1; id <= s->list.highest; id++)
		if (s->nodes[id].frame)
			number[id] = ++j->n;
	j->nodes = calloc((size_t)j->n + 1, sizeof(*j->nodes));
	if (!j->nodes)
		return -ENOMEM;
	for (uint32_t id = 1; id <= s->list.highest; id++)
		if (number[id])
			j->nodes[number[id]] = (struct blocks_node){ number[s->nodes[id].parent],
				                                     s->nodes[id].frame };
	return 0;
}

/* Counts by the nodes' new numbers. -EBADMSG. */
static int joined_rename(struct sums *sums, const uint32_t *number, uint32_t highest)
{
	for (size_t i = 0; i < sums->n; i++) {
		struct sums_row *row = &sums->rows[i];

		if (row->node && (row->node > highest || !number[row->node]))
			return -EBADMSG;
		row->node = number[row->node];
	}
	sums->sorted = 0;
	return 0;
}

/* Sorts the nodes of a list that grew by and by. -ENOMEM. */
static int joined_sort(struct joined *j)
{
	struct blocks_node *sorted = calloc((size_t)j->n + 1, sizeof(*sorted));
	uint32_t *number = calloc((size_t)j->n + 1, sizeof(*number));
	int r = sorted && number ? sorted_numbers(number, j->nodes, j->n) : -ENOMEM;

	for (uint32_t id = 1; id <= j->n && r >= 0; id++)
		sorted[number[id]] =
		        (struct blocks_node){ number[j->nodes[id].parent], j->nodes[id].frame };
	if (r >= 0) {
		free(j->nodes);
		j->nodes = sorted;
		r = joined_rename(&j->sums, number, j->n);
	} else {
		free(sorted);
	}
	free(number);
	return r;
}

/* The nodes keep their order; those of a list that grew by and by are sorted. */
int joined_take(struct joined *ret, struct lookup_stacks *s, struct sums *sums)
{
	struct joined j = { .sums = *sums };
	uint32_t *number = calloc((size_t)s->list.highest + 1, sizeof(*number));
	int r = number ? joined_needed(&j, s, number) : -ENOMEM;

	*sums = (struct sums){ 0 };
	if (r >= 0)
		r = joined_rename(&j.sums, number, s->list.highest);
	free(number);
	if (r >= 0 && !s->sorted)
		r = joined_sort(&j);
	lookup_stacks_free(s);
	if (r >= 0)
		r = sums_end(&j.sums);
	if (r >= 0)
		*ret = j;
	else
		joined_free(&j);
	return r;
}

/* ---- joining ---- */

/* One of the lists, on the way. */
struct joined_side {
	const struct blocks_node *nodes;
	uint32_t n, next;
	uint32_t depth;   /* of the next node: 1 below the root */
	uint32_t *path;   /* by depth: its ancestors; 0 is the root */
	uint32_t *number; /* in the list that is made, by id */
};

/* A list by what its next node is. */
struct joined_next {
	uint64_t order;
	struct joined_side *side;
};

#define JOINED_END UINT64_MAX /* behind all: there is no next node */

/* Deeper nodes come first, then those of a less frame; what was folded has none. */
static uint64_t joined_order(const struct joined_side *s)
{
	const uint32_t frame = s->next <= s->n ? s->nodes[s->next].frame : 0;

	if (s->next > s->n)
		return JOINED_END;
	return (uint64_t)(UINT32_MAX - s->depth) << 32 | (frame == BLOCKS_FOLDED ? 0 : frame);
}

static uint32_t joined_parent(const struct joined_side *s)
{
	return s->number[s->nodes[s->next].parent];
}

/* Gives the next node its number, and goes on to the one behind it. */
static void joined_step(struct joined_next *at, uint32_t number)
{
	struct joined_side *s = at->side;
	const uint32_t id = s->next++;

	s->path[s->depth] = id;
	s->number[id] = number;
	if (s->next <= s->n) {
		const uint32_t parent = s->nodes[s->next].parent;

		while (s->depth && s->path[s->depth] != parent)
			s->depth--;
		s->depth++;
	}
	at->order = joined_order(s);
}

/* A heap of n lists, of which one's next node lies further behind than it did. */
static void joined_sift(struct joined_next *heap, size_t n, size_t at)
{
	const struct joined_next moved = heap[at];

	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && heap[child + 1].order < heap[child].order)
			child++;
		if (heap[child].order >= moved.order)
			break;
		heap[at] = heap[child];
	}
	heap[at] = moved;
}

/* Puts the list behind the first n of the heap into it. */
static void joined_rise(struct joined_next *heap, size_t n)
{
	const struct joined_next moved = heap[n];
	size_t at = n;

	for (; at && heap[(at - 1) / 2].order > moved.order; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = moved;
}

/* Takes the lists whose next node is that of the first one out of the heap, to behind its end. How
 * many lists are left in it. */
static size_t joined_same(struct joined_next *heap, size_t n)
{
	const uint64_t order = heap[0].order;
	const uint32_t parent = joined_parent(heap[0].side);

	do {
		const struct joined_next first = heap[0];

		heap[0] = heap[--n];
		heap[n] = first;
		joined_sift(heap, n, 0);
	} while (n && heap[0].order == order && joined_parent(heap[0].side) == parent);
	return n;
}

/* Whether no other list's next node can be that of the first one. */
static bool joined_alone(const struct joined_next *heap, size_t n)
{
	return (n < 2 || heap[1].order != heap[0].order) &&
	       (n < 3 || heap[2].order != heap[0].order);
}

/* Walks over all lists at once. The number of nodes that were made. */
static uint32_t joined_walk(struct blocks_node *to, struct joined_next *heap, size_t n)
{
	uint32_t made = 0;

	for (size_t i = n; i--;)
		joined_sift(heap, n, i);
	while (heap[0].order != JOINED_END) {
		const struct joined_side *first = heap[0].side;

		to[++made] = (struct blocks_node){ joined_parent(first),
			                           first->nodes[first->next].frame };
		if (joined_alone(heap, n)) {
			joined_step(&heap[0], made);
			joined_sift(heap, n, 0);
			continue;
		}
		for (size_t left = joined_same(heap, n); left < n; left++) {
			joined_step(&heap[left], made);
			joined_rise(heap, left);
		}
	}
	return made;
}

/* Room for the path has as many places as there can be nodes on it. -ENOMEM. */
static int joined_begin(struct joined_side *s, const struct joined *j)
{
	*s = (struct joined_side){
		.nodes = j->nodes,
		.n = j->n,
		.next = 1,
		.depth = 1,
		.path = calloc((size_t)j->n + 2, sizeof(*s->path)),
		.number = calloc((size_t)j->n + 1, sizeof(*s->number)),
	};
	return s->path && s->number ? 0 : -ENOMEM;
}

/* All counts, by the nodes' new numbers, each stack of a group once. The lists' own are empty
 * then. -ENOMEM. */
static int joined_rows(struct sums *ret, struct joined *lists, const struct joined_side *sides,
                       size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++) {
		struct sums *from = &lists[i].sums;

		r = ARRAY_ROOM(&ret->rows, &ret->capacity, ret->n + from->n + 1);
		for (size_t k = 0; k < from->n && r >= 0; k++) {
			ret->rows[ret->n] = from->rows[k];
			ret->rows[ret->n++].node = sides[i].number[from->rows[k].node];
		}
		sums_free(from);
	}
	return r < 0 ? r : sums_end(ret);
}

/* Makes one list of n that have begun; all: as many nodes as they have together. -ENOMEM. */
static int joined_make(struct joined *ret, struct joined *lists, struct joined_side *sides,
                       size_t n, size_t all)
{
	struct joined_next *heap = calloc(n, sizeof(*heap));
	int r;

	ret->nodes = calloc(all + 1, sizeof(*ret->nodes));
	r = heap && ret->nodes ? 0 : -ENOMEM;
	for (size_t i = 0; i < n && r >= 0; i++)
		heap[i] = (struct joined_next){ joined_order(&sides[i]), &sides[i] };
	if (r >= 0)
		ret->n = joined_walk(ret->nodes, heap, n);
	free(heap);
	for (size_t i = 0; i < n; i++) {
		free(lists[i].nodes);
		lists[i].nodes = NULL;
	}
	return r < 0 ? r : joined_rows(&ret->sums, lists, sides, n);
}

/* One walk over all lists, however many there are. */
int joined_all(struct joined *lists, size_t n)
{
	struct joined_side *sides;
	struct joined made = { 0 };
	size_t all = 0;
	int r = 0;

	if (n < 2)
		return 0;
	sides = calloc(n, sizeof(*sides));
	if (!sides)
		return -ENOMEM;
	for (size_t i = 0; i < n && r >= 0; i++) {
		r = joined_begin(&sides[i], &lists[i]);
		all += lists[i].n;
	}
	if (r >= 0 && all > UINT32_MAX - 1)
		r = -ENOMEM;
	if (r >= 0)
		r = joined_make(&made, lists, sides, n, all);
	for (size_t i = 0; i < n; i++) {
		free(sides[i].path);
		free(sides[i].number);
	}
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
