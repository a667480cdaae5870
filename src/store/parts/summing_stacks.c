// SPDX-License-Identifier: MIT
/*
 * summing_stacks.c: see summing.h: sums of stacks.
 *
 * As unstacked.c does for one table: a walk from front to back finds for each node what is told of
 * the stacks that end there, and by which ways it is the outermost of frames that are alike. Then
 * counts are walked over, which stand in the same order: a node that is left hands its sum to the
 * one above.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "store/parts/summing.h"

/* By place: what is told of a frame. */
struct stacks_frame {
	uint32_t alike[SUMMED_WAYS + 1]; /* one number is met once on a stack; the last: nameless */
	uint32_t of; /* the first place of the same frame, which has the sums of all */
	unsigned char says;
	bool known, ended, kernel;
};

/* What is told of stacks that end at a node. */
struct stacks_node {
	uint32_t place, top;
	unsigned char says, first; /* by which ways it is outermost, as bits */
	bool is_top;               /* it is that top itself */
};

struct stacks_step {
	uint32_t node;
	uint32_t met[SUMMED_WAYS + 1]; /* what it is the first one of; 0: of none */
};

/* A node on the way down to a count. */
struct stacks_level {
	uint32_t node;
	struct summed_value sum;
};

struct summing_walk {
	struct summing *to;
	const struct summing_stacks *of;
	struct stacks_frame *frames; /* by place */
	uint32_t n_places;
	struct map functions; /* symbol << 32 | object -> number */
	uint32_t *places_of;  /* by the profile's frame: its first place */
	size_t places_of_room;
	unsigned char *met[SUMMED_WAYS + 1];
	size_t met_room[SUMMED_WAYS + 1];
	struct stacks_step *path;
	struct stacks_level *way;
	uint32_t *below;
	size_t path_room, way_room, below_room;
	struct stacks_node *nodes; /* of the list */
};

/* ---- frames ---- */

/* Makes a frame known at a place. -ENOMEM. */
static int stacks_frame(struct summing_walk *s, uint32_t place, uint32_t made)
{
	struct stacks_frame *f = &s->frames[place];
	const struct profile_frame *of;
	struct flat_frame is;
	uint64_t *function;
	int r = made == PROFILE_FAILED
	                ? -ENOMEM
	                : ARRAY_ROOM_ZEROED(&s->places_of, &s->places_of_room, (size_t)made + 1);

	if (r < 0)
		return r;
	if (s->places_of[made]) {
		*f = s->frames[s->places_of[made]];
		return 0;
	}
	r = s->of->how->frame(s->of->how->ctx, s->of->p, made, &is);
	if (r < 0)
		return r;
	s->places_of[made] = place;
	of = profile_frame_at(s->of->p, made);
	function = map_slot(&s->functions, (uint64_t)of->symbol << 32 | of->object, NULL);
	if (!function)
		return -ENOMEM;
	if (!*function)
		*function = s->functions.n;
	*f = (struct stacks_frame){ .of = place,
		                    .says = is.says,
		                    .known = true,
		                    .ended = is.ended,
		                    .kernel = of->kind == PROFILE_KERNEL };
	/* 0 is nobody's. */
	f->alike[SUMMED_FUNCTION] = (uint32_t)*function;
	f->alike[SUMMED_SYMBOL] = of->symbol + 1;
	f->alike[SUMMED_OBJECT] = of->object + 1;
	f->alike[SUMMED_WAYS] = is.nameless;
	for (unsigned way = 0; way <= SUMMED_WAYS && r >= 0; way++)
		r = ARRAY_ROOM_ZEROED(&s->met[way], &s->met_room[way], (size_t)f->alike[way] + 1);
	return r;
}

/* Makes all frames known that are needed. -ENOMEM. */
static int stacks_frames(struct summing_walk *s)
{
	struct lookup *l = s->of->names;
	int r = 0;

	for (uint32_t id = 1; id + SUMMED_FRAMES <= s->n_places && r >= 0; id++)
		if (lookup_needs(l, BLOCKS_FRAMES, id))
			r = stacks_frame(s, SUMMED_FRAMES + id - 1,
			                 lookup_profile_frame(l, s->of->p, id));
	for (uint32_t i = 0; i < 2 && r >= 0; i++) {
		r = stacks_frame(s, SUMMED_FOLDED + i,
		                 lookup_profile_folded(s->of->p,
		                                       i ? PROFILE_KERNEL : PROFILE_USER));
		/* It is in the kernel if its caller is, and calls nothing itself. */
		s->frames[SUMMED_FOLDED + i].kernel = false;
	}
	return r;
}

/* ---- nodes ---- */

/* The place of a node's frame; SUMMED_NO_STACK: there is none. */
static uint32_t stacks_place(const struct summing_walk *s, const struct blocks_node *node,
                             uint32_t id)
{
	uint32_t place;

	if (node->parent >= id || !node->frame)
		return SUMMED_NO_STACK;
	if (node->frame == BLOCKS_FOLDED)
		return SUMMED_FOLDED + s->frames[s->nodes[node->parent].place].kernel;
	place = SUMMED_FRAMES + node->frame - 1;
	return place < s->n_places && s->frames[place].known ? s->frames[place].of
	                                                     : SUMMED_NO_STACK;
}

/* What is told of a node below another one; NULL: it is outermost. */
static struct stacks_node stacks_tell(const struct summing_walk *s,
                                      const struct stacks_node *parent, uint32_t place)
{
	const struct stacks_frame *f = &s->frames[place];
	struct stacks_node n = { .place = place, .top = place, .says = f->says, .is_top = true };

	if (!parent)
		return n;
	n.says |= parent->says;
	n.is_top = parent->is_top && s->frames[parent->top].ended;
	if (!n.is_top)
		n.top = parent->top;
	return n;
}

/* Leaves steps of the path. */
static void stacks_leave(struct summing_walk *s, const struct stacks_step *step)
{
	for (unsigned way = 0; way <= SUMMED_WAYS; way++)
		s->met[way][step->met[way]] = 0;
}

/* Notes which of a node's frame are not further out on the path. */
static void stacks_meet(struct summing_walk *s, struct stacks_node *node, struct stacks_step *step)
{
	for (unsigned way = 0; way <= SUMMED_WAYS; way++) {
		const uint32_t alike = s->frames[node->place].alike[way];

		if (!alike || s->met[way][alike])
			continue;
		s->met[way][alike] = 1;
		step->met[way] = alike;
		node->first |= (unsigned char)(1u << way);
	}
}

/* Finds what is told of each node of a list. -ENOMEM; -EBADMSG: a node's parent is not on the path
 * to the node in front. */
static int stacks_nodes(struct summing_walk *s, const struct joined *j)
{
	size_t n = 0;
	int r = 0;

	for (uint32_t id = 1; id <= j->n && r >= 0; id++) {
		const struct blocks_node *node = &j->nodes[id];
		const uint32_t place = stacks_place(s, node, id);
		struct stacks_step step = { .node = id };

		while (n && s->path[n - 1].node != node->parent)
			stacks_leave(s, &s->path[--n]);
		if (place == SUMMED_NO_STACK || (!n && node->parent))
			r = -EBADMSG;
		else
			r = ARRAY_ROOM(&s->path, &s->path_room, n + 1);
		if (r < 0)
			break;
		s->nodes[id] = stacks_tell(s, n ? &s->nodes[s->path[n - 1].node] : NULL, place);
		stacks_meet(s, &s->nodes[id], &step);
		s->path[n++] = step;
	}
	while (n)
		stacks_leave(s, &s->path[--n]);
	return r;
}

/* ---- sums ---- */

/* Leaves the innermost node of the way: what it has goes to its frame, and to the node above.
 * -ENOMEM. */
static int stacks_up(struct summing_walk *s, uint32_t group, size_t *n)
{
	const struct stacks_level *level = &s->way[--*n];
	const struct stacks_node *node = &s->nodes[level->node];
	struct summed_total *to = summing_total(s->to, group, node->place);

	if (!to)
		return -ENOMEM;
	for (unsigned way = 0; way < SUMMED_WAYS; way++)
		if (node->first & 1u << way)
			summed_add(&to->of[way], &level->sum);
	if (*n)
		summed_add(&s->way[*n - 1].sum, &level->sum);
	if (node->first & 1u << SUMMED_WAYS) {
		uint64_t *nameless = summing_nameless(s->to, group, node->place);

		if (!nameless)
			return -ENOMEM;
		*nameless += level->sum.samples;
	}
	return 0;
}

/* Goes to a node: up to where it leaves the way, then down. -ENOMEM. */
static int stacks_go(struct summing_walk *s, const struct blocks_node *nodes, uint32_t group,
                     size_t *n, uint32_t node)
{
	size_t below = 0;
	uint32_t at = node;
	int r = 0;

	for (uint32_t end; r >= 0; r = stacks_up(s, group, n)) {
		end = *n ? s->way[*n - 1].node : 0;
		for (; at > end && r >= 0; at = nodes[at].parent) {
			r = ARRAY_ROOM(&s->below, &s->below_room, below + 1);
			if (r >= 0)
				s->below[below++] = at;
		}
		if (at == end || r < 0)
			break;
	}
	if (r >= 0)
		r = ARRAY_ROOM(&s->way, &s->way_room, *n + below + 1);
	while (below && r >= 0)
		s->way[(*n)++] = (struct stacks_level){ .node = s->below[--below] };
	return r;
}

/* Adds a count to its own frame, and to what is told of its stack. -ENOMEM. */
static int stacks_own(struct summing_walk *s, uint32_t group, const struct sums_row *row)
{
	const struct summed_value v = { row->samples, row->weight };
	const struct stacks_node *node = row->node ? &s->nodes[row->node] : NULL;
	struct summed_value *self =
	        summing_self(s->to, group, node ? node->place : SUMMED_NO_STACK);
	uint64_t *top = summing_top(s->to, group, node ? node->top : SUMMED_NO_STACK,
	                            node ? node->says : 0);

	if (!self || !top)
		return -ENOMEM;
	summed_add(self, &v);
	*top += v.samples;
	return 0;
}

/* Adds up a list, whose rows are by group, then by node. -ENOMEM; -EBADMSG. */
static int stacks_sum(struct summing_walk *s, const struct joined *j)
{
	uint32_t of = 0, group = 0;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < j->sums.n && r >= 0; i++) {
		const struct sums_row *row = &j->sums.rows[i];

		if (row->node > j->n)
			return -EBADMSG;
		while (row->group != of && n && r >= 0)
			r = stacks_up(s, group, &n);
		if (row->group != of)
			group = summing_group(s->to, &s->of->heads[row->group]);
		of = row->group;
		if (r >= 0)
			r = group == POOL_FAILED ? -ENOMEM : stacks_own(s, group, row);
		/* A sample without a stack is in no function. */
		if (r < 0 || !row->node)
			continue;
		r = stacks_go(s, j->nodes, group, &n, row->node);
		if (r >= 0)
			summed_add(&s->way[n - 1].sum,
			           &(struct summed_value){ row->samples, row->weight });
	}
	while (n && r >= 0)
		r = stacks_up(s, group, &n);
	return r;
}

/* Adds one list. -ENOMEM; -EBADMSG. */
static int stacks_list(struct summing_walk *s, const struct joined *j)
{
	int r;

	s->nodes = calloc((size_t)j->n + 1, sizeof(*s->nodes));
	if (!s->nodes)
		return -ENOMEM;
	r = stacks_nodes(s, j);
	if (r >= 0)
		r = stacks_sum(s, j);
	free(s->nodes);
	s->nodes = NULL;
	return r;
}

static void stacks_free(struct summing_walk *s)
{
	free(s->frames);
	map_free(&s->functions);
	free(s->places_of);
	for (unsigned way = 0; way <= SUMMED_WAYS; way++)
		free(s->met[way]);
	free(s->path);
	free(s->way);
	free(s->below);
}

int summing_add_stacks(struct summing *to, const struct summing_stacks *of)
{
	struct summing_walk s = { .to = to,
		                  .of = of,
		                  .n_places =
		                          SUMMED_FRAMES + of->names->lists[BLOCKS_FRAMES].highest };
	int r;

	s.frames = calloc((size_t)s.n_places + 1, sizeof(*s.frames));
	r = s.frames ? stacks_frames(&s) : -ENOMEM;
	for (size_t i = 0; i < of->n && r >= 0; i++)
		r = stacks_list(&s, &of->lists[i]);
	stacks_free(&s);
	return r;
}
