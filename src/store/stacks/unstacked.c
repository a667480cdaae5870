// SPDX-License-Identifier: MIT
/*
 * unstacked.c: see unstacked.h.
 *
 * A walk from front to back finds for each node what is told of the stacks that end there: what is
 * outermost, what their frames say, and whether its function is further out on them, as such a
 * function counts once. Then counts go from each node to its parent, from back to front, for all
 * groups whose sums are one at once; only nodes that have some are looked at.
 */
#include "store/stacks/unstacked.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/pages.h"
#include "base/pool.h"

/* In place of a node's frame: its place, and whether no such frame is further out on its stacks. */
#define UNSTACKED_FIRST (1u << 31)
#define UNSTACKED_NAMELESS (1u << 30) /* likewise, of nameless frames of its object */
#define UNSTACKED_PLACE ((1u << 24) - 1)
/* Of a node: the place of the outermost frame, what all say, and whether it is that one itself. */
#define UNSTACKED_SAYS 24
#define UNSTACKED_IS_TOP (1u << 31)

_Static_assert(BLOCKS_THINGS_MAX + 2 <= UNSTACKED_PLACE, "frames have room for their places");
_Static_assert(FLAT_SAYS <= 1u << 7, "what frames say has room beside a place");

struct unstacked_sum {
	uint64_t weight, samples;
};

/* By place: a frame's number in the store; behind these what was folded. */
struct unstacked_frame {
	uint32_t made, node; /* the profile's frame; a stack of it alone */
	bool kernel;
	struct flat_frame is;
};

struct unstacked {
	struct flat *to;
	struct profile *p;
	struct joined *lists;
	size_t n;
	const struct unstacked_groups *groups;
	struct unstacked_frame *frames;
	uint32_t folded; /* place of what was folded in programs; behind it: in the kernel */
	/* By what frames count once for: it is on the path. */
	unsigned char *met, *met_nameless;
	size_t met_room, met_nameless_room;
	uint32_t *path; /* nodes */
	size_t path_room;
	/* By list and group: where its rows begin. */
	uint32_t *starts;
	/* Groups whose sums are one, and by group the next of these; 0: none. */
	struct pool totals;
	uint32_t *first, *next;
	/* By node. */
	uint32_t *tops;
	struct unstacked_sum *sums;
	uint64_t *marks; /* a bit for each: it has a sum */
	/* By place; those that have one. */
	struct unstacked_sum *by_frame;
	unsigned char *seen;
	uint32_t *places;
	uint32_t n_places;
	uint64_t *by_state[PROFILE_STATES_MAX + 1]; /* by state, then by place of the outermost */
};

/* ---- frames ---- */

/* Makes a frame known at a place. -ENOMEM. */
static int unstacked_frame(struct unstacked *u, uint32_t place, uint32_t made)
{
	struct unstacked_frame *f = &u->frames[place];
	int r = made == PROFILE_FAILED ? -ENOMEM : u->to->frame(u->to->ctx, u->p, made, &f->is);

	if (r < 0)
		return r;
	f->made = made;
	f->node = profile_node(u->p, PROFILE_ROOT, made);
	f->kernel = profile_frame_at(u->p, made)->kind == PROFILE_KERNEL;
	if (f->node == PROFILE_FAILED ||
	    ARRAY_ROOM_ZEROED(&u->met, &u->met_room, (size_t)f->is.same + 1) < 0)
		return -ENOMEM;
	return ARRAY_ROOM_ZEROED(&u->met_nameless, &u->met_nameless_room,
	                         (size_t)f->is.nameless + 1);
}

/* Makes all frames known that are needed. -ENOMEM. */
static int unstacked_frames(struct unstacked *u, struct lookup *l)
{
	int r = 0;

	for (uint32_t id = 1; id < u->folded && r >= 0; id++)
		if (lookup_needs(l, BLOCKS_FRAMES, id))
			r = unstacked_frame(u, id, lookup_profile_frame(l, u->p, id));
	for (uint32_t i = 0; i < 2 && r >= 0; i++) {
		r = unstacked_frame(u, u->folded + i,
		                    lookup_profile_folded(u->p, i ? PROFILE_KERNEL : PROFILE_USER));
		/* It is in the kernel if its caller is, and calls nothing itself. */
		u->frames[u->folded + i].kernel = false;
	}
	return r;
}

/* ---- nodes ---- */

/* The path ends at a node's parent from here on. -EBADMSG: that is not on it. */
static int unstacked_leave(struct unstacked *u, const struct blocks_node *nodes, size_t *n,
                           uint32_t parent)
{
	while (*n && u->path[*n - 1] != parent) {
		const uint32_t frame = nodes[u->path[--*n]].frame;
		const struct flat_frame *is = &u->frames[frame & UNSTACKED_PLACE].is;

		if (frame & UNSTACKED_FIRST)
			u->met[is->same] = 0;
		if (frame & UNSTACKED_NAMELESS)
			u->met_nameless[is->nameless] = 0;
	}
	return *n || !parent ? 0 : -EBADMSG;
}

/* The place of a node's frame, with what is not further out on the path. */
static uint32_t unstacked_meet(struct unstacked *u, uint32_t place)
{
	const struct flat_frame *is = &u->frames[place].is;
	uint32_t flags = 0;

	if (is->same && !u->met[is->same]) {
		u->met[is->same] = 1;
		flags |= UNSTACKED_FIRST;
	}
	if (is->nameless && !u->met_nameless[is->nameless]) {
		u->met_nameless[is->nameless] = 1;
		flags |= UNSTACKED_NAMELESS;
	}
	return place | flags;
}

/* What is told of stacks that end at a node below another one. */
static uint32_t unstacked_top(const struct unstacked *u, uint32_t parent, uint32_t place)
{
	const uint32_t above = parent ? u->tops[parent] : UNSTACKED_IS_TOP;
	const uint32_t says = (uint32_t)u->frames[place].is.says << UNSTACKED_SAYS;
	const bool is_top = above & UNSTACKED_IS_TOP &&
	                    (!parent || u->frames[above & UNSTACKED_PLACE].is.ended);

	if (!is_top)
		return (above & ~UNSTACKED_IS_TOP) | says;
	return place | says | (above & ~(UNSTACKED_IS_TOP | UNSTACKED_PLACE)) | UNSTACKED_IS_TOP;
}

/* The place of a node's frame; 0: there is none. */
static uint32_t unstacked_place(const struct unstacked *u, const struct blocks_node *nodes,
                                uint32_t id)
{
	const struct blocks_node *node = &nodes[id];

	if (node->parent >= id)
		return 0;
	if (node->frame != BLOCKS_FOLDED)
		return node->frame < u->folded ? node->frame : 0;
	return u->folded + u->frames[nodes[node->parent].frame & UNSTACKED_PLACE].kernel;
}

/* Finds what is told of each node of a list. -ENOMEM, -EBADMSG. */
static int unstacked_nodes(struct unstacked *u, struct joined *j)
{
	size_t n = 0;
	int r;

	for (uint32_t id = 1; id <= j->n; id++) {
		struct blocks_node *node = &j->nodes[id];
		const uint32_t place = unstacked_place(u, j->nodes, id);

		if (!u->frames[place].node)
			return -EBADMSG;
		if (ARRAY_ROOM(&u->path, &u->path_room, n + 1) < 0)
			return -ENOMEM;
		r = unstacked_leave(u, j->nodes, &n, node->parent);
		if (r < 0)
			return r;
		u->tops[id] = unstacked_top(u, node->parent, place);
		node->frame = unstacked_meet(u, place);
		u->path[n++] = id;
	}
	return unstacked_leave(u, j->nodes, &n, 0);
}

/* ---- by state, and by what is said ---- */

/* Adds what stacks tell that does not depend on a table's columns. -ENOMEM. */
static int unstacked_tell(struct unstacked *u, const struct joined *j, uint64_t *folded)
{
	for (size_t i = 0; i < j->sums.n; i++) {
		const struct sums_row *row = &j->sums.rows[i];
		const uint32_t top = row->node ? u->tops[row->node] : 0;
		uint32_t state = u->groups->keys[row->group].state;
		uint64_t **by =
		        &u->by_state[state < PROFILE_STATES_MAX ? state : PROFILE_STATES_MAX];

		if (!*by)
			*by = calloc((size_t)u->folded + 2, sizeof(**by));
		if (!*by)
			return -ENOMEM;
		u->to->samples[top >> UNSTACKED_SAYS & (FLAT_SAYS - 1)] += row->samples;
		(*by)[top & UNSTACKED_PLACE] += row->samples;
		if (row->node && (j->nodes[row->node].frame & UNSTACKED_PLACE) >= u->folded)
			*folded += row->samples;
	}
	return 0;
}

/* Hands over the outermost frames. Place 0 is of samples without a stack. -ENOMEM. */
static int unstacked_tops(const struct unstacked *u)
{
	int r = 0;

	for (uint32_t state = 0; state <= PROFILE_STATES_MAX; state++)
		for (uint32_t at = 1; u->by_state[state] && at <= u->folded + 1 && r >= 0; at++) {
			const struct flat_top top = { state, u->frames[at].made,
				                      u->by_state[state][at] };

			if (top.samples)
				r = flat_add_top(u->to, &top);
		}
	return r;
}

/* ---- by frame ---- */

static const struct sums_row *unstacked_rows(const struct unstacked *u, size_t list, uint32_t group)
{
	return &u->lists[list].sums.rows[u->starts[list * (u->groups->n + 2) + group]];
}

/* Notes where each group's rows begin in each list: they are sorted by group. -ENOMEM. */
static int unstacked_starts(struct unstacked *u)
{
	const size_t n = u->groups->n + 2;

	u->starts = calloc(u->n * n, sizeof(*u->starts));
	if (!u->starts)
		return -ENOMEM;
	for (size_t list = 0; list < u->n; list++) {
		const struct sums *sums = &u->lists[list].sums;
		uint32_t at = 0;

		for (uint32_t group = 0; group < n; group++) {
			while (at < sums->n && sums->rows[at].group < group)
				at++;
			u->starts[list * n + group] = at;
		}
	}
	return 0;
}

/* The sum of a place. */
static struct unstacked_sum *unstacked_at(struct unstacked *u, uint32_t place)
{
	if (!u->seen[place]) {
		u->seen[place] = 1;
		u->places[u->n_places++] = place;
	}
	return &u->by_frame[place];
}

/* Hands over the sums of places as rows of a key, or as totals, and forgets them. -ENOMEM. */
static int unstacked_hand(struct unstacked *u, const struct profile_key *key, bool totals)
{
	int r = 0;

	for (uint32_t i = 0; i < u->n_places; i++) {
		const uint32_t place = u->places[i];
		const struct unstacked_sum sum = u->by_frame[place];
		struct profile_row row = { *key, sum.samples, sum.weight };

		row.key.node = u->frames[place].node;
		if (r >= 0 && !totals)
			r = profile_add(u->p, &row.key, row.samples, row.weight);
		else if (r >= 0 && u->frames[place].is.same)
			r = flat_add_total(u->to, &row);
		u->by_frame[place] = (struct unstacked_sum){ 0 };
		u->seen[place] = 0;
	}
	u->n_places = 0;
	return r;
}

/* Adds a group's own samples to the profile's rows, by innermost frame. -ENOMEM. */
static int unstacked_own(struct unstacked *u, uint32_t group)
{
	for (size_t list = 0; list < u->n; list++) {
		const struct sums_row *row = unstacked_rows(u, list, group);
		const struct sums_row *end = unstacked_rows(u, list, group + 1);

		for (; row < end; row++) {
			const uint32_t frame = u->lists[list].nodes[row->node].frame;
			struct unstacked_sum *sum = unstacked_at(u, frame & UNSTACKED_PLACE);

			sum->samples += row->samples;
			sum->weight += row->weight;
		}
	}
	return unstacked_hand(u, &u->groups->keys[group], false);
}

/* Adds a sum to that of a node. */
static void unstacked_add_node(struct unstacked *u, uint32_t node, uint64_t weight,
                               uint64_t samples)
{
	u->marks[node / 64] |= (uint64_t)1 << node % 64;
	u->sums[node].weight += weight;
	u->sums[node].samples += samples;
}

/* Hands a node's sum to its frame and to its parent. -ENOMEM. */
static int unstacked_node(struct unstacked *u, const struct joined *j, uint32_t id)
{
	const struct blocks_node node = j->nodes[id];
	const struct unstacked_sum sum = u->sums[id];
	struct unstacked_sum *to = unstacked_at(u, node.frame & UNSTACKED_PLACE);

	if (node.frame & UNSTACKED_FIRST) {
		to->weight += sum.weight;
		to->samples += sum.samples;
	}
	u->sums[id] = (struct unstacked_sum){ 0 };
	if (node.parent)
		unstacked_add_node(u, node.parent, sum.weight, sum.samples);
	if (!(node.frame & UNSTACKED_NAMELESS))
		return 0;
	return flat_add_nameless(u->to, u->frames[node.frame & UNSTACKED_PLACE].is.nameless,
	                         sum.samples);
}

/* Sums up what one list has of all groups from this one on. -ENOMEM. */
static int unstacked_sum_list(struct unstacked *u, size_t list, uint32_t group)
{
	const struct joined *j = &u->lists[list];
	uint32_t highest = 0;
	int r = 0;

	for (; group; group = u->next[group]) {
		const struct sums_row *row = unstacked_rows(u, list, group);
		const struct sums_row *end = unstacked_rows(u, list, group + 1);

		for (; row < end; row++) {
			if (row->node)
				unstacked_add_node(u, row->node, row->weight, row->samples);
			highest = row->node > highest ? row->node : highest;
		}
	}
	/* A node marks its parent, which has a less number: maybe in the same word. */
	for (size_t word = highest / 64 + 1; word-- && r >= 0;)
		while (u->marks[word] && r >= 0) {
			const unsigned bit = 63 - (unsigned)__builtin_clzll(u->marks[word]);

			u->marks[word] &= ~((uint64_t)1 << bit);
			r = unstacked_node(u, j, (uint32_t)(word * 64 + bit));
		}
	return r;
}

/* Finds which groups have their sums together. -ENOMEM. */
static int unstacked_link(struct unstacked *u)
{
	const uint32_t n = u->groups->n;

	u->first = calloc((size_t)n + 1, sizeof(*u->first));
	u->next = calloc((size_t)n + 1, sizeof(*u->next));
	if (!u->first || !u->next)
		return -ENOMEM;
	u->totals.size = sizeof(struct profile_key);
	for (uint32_t group = n; group; group--) {
		const struct profile_key key = flat_key(u->to, &u->groups->keys[group]);
		const uint32_t total = pool_put(&u->totals, &key);

		if (total == POOL_FAILED)
			return -ENOMEM;
		u->next[group] = u->first[total];
		u->first[total] = group;
	}
	return 0;
}

/* Sums up all lists, for each of those that have their sums together. -ENOMEM. */
static int unstacked_totals(struct unstacked *u)
{
	int r = unstacked_link(u);

	for (uint32_t total = 1; total <= u->totals.n && r >= 0; total++) {
		for (size_t list = 0; list < u->n && r >= 0; list++)
			r = unstacked_sum_list(u, list, u->first[total]);
		if (r >= 0)
			r = unstacked_hand(u, pool_at(&u->totals, total), true);
	}
	return r;
}

/* ---- the whole ---- */

/* Takes memory for the frames, and for the nodes of the longest list. -ENOMEM. */
static int unstacked_start(struct unstacked *u)
{
	const size_t frames = (size_t)u->folded + 2;
	size_t nodes = 1;

	for (size_t i = 0; i < u->n; i++)
		nodes = u->lists[i].n + (size_t)1 > nodes ? u->lists[i].n + (size_t)1 : nodes;
	u->frames = pages_zeroed(frames, sizeof(*u->frames));
	u->by_frame = pages_zeroed(frames, sizeof(*u->by_frame));
	u->seen = calloc(frames, sizeof(*u->seen));
	u->places = calloc(frames, sizeof(*u->places));
	u->tops = pages_zeroed(nodes, sizeof(*u->tops));
	u->sums = pages_zeroed(nodes, sizeof(*u->sums));
	u->marks = calloc(nodes / 64 + 1, sizeof(*u->marks));
	return u->frames && u->by_frame && u->seen && u->places && u->tops && u->sums && u->marks
	               ? 0
	               : -ENOMEM;
}

/* Gives back all that unstacked_start and the walks took. */
static void unstacked_end(struct unstacked *u)
{
	free(u->frames);
	free(u->by_frame);
	free(u->seen);
	free(u->places);
	free(u->tops);
	free(u->sums);
	free(u->marks);
	free(u->met);
	free(u->met_nameless);
	free(u->path);
	free(u->starts);
	free(u->first);
	free(u->next);
	pool_free(&u->totals);
	for (uint32_t i = 0; i <= PROFILE_STATES_MAX; i++)
		free(u->by_state[i]);
}

/* Frames first, as nodes are told by them; then what does not depend on the columns; then sums. */
int unstacked_add(struct flat *to, struct profile *p, struct lookup *l, struct joined *lists,
                  size_t n, const struct unstacked_groups *groups, uint64_t *folded)
{
	struct unstacked u = { .to = to,
		               .p = p,
		               .lists = lists,
		               .n = n,
		               .groups = groups,
		               .folded = l->lists[BLOCKS_FRAMES].highest + 1 };
	int r = unstacked_start(&u);

	if (r >= 0)
		r = unstacked_frames(&u, l);
	for (size_t i = 0; i < n && r >= 0; i++) {
		r = unstacked_nodes(&u, &lists[i]);
		if (r >= 0)
			r = unstacked_tell(&u, &lists[i], folded);
	}
	if (r >= 0)
		r = unstacked_tops(&u);
	if (r >= 0)
		r = unstacked_starts(&u);
	for (uint32_t group = 1; group <= groups->n && r >= 0; group++)
		r = unstacked_own(&u, group);
	if (r >= 0)
		r = unstacked_totals(&u);
	unstacked_end(&u);
	to->filled = true;
	return r;
}
