// SPDX-License-Identifier: MIT
/*
 * unstacked.c: see unstacked.h.
 *
 * A walk from front to back finds for each node what is told of the stacks that end there: what is
 * outermost, what their frames say, and whether its function is further out on them, as such a
 * function counts once. Then each group's counts are walked over, which stand in the same order: so
 * there is always one way down, of which a node that is left hands its sum to the one above. Only
 * nodes on the way to a count are looked at.
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
	uint32_t of;         /* the first place of the same frame, which has the sums of all */
	bool kernel;
	struct flat_frame is;
};

/* A node on the path that is walked. */
struct unstacked_step {
	uint32_t node, top;      /* what is told of stacks that end here */
	uint32_t same, nameless; /* what its frame is the first one of on the path; 0: of none */
};

/* A node on the way down to a count, and what was counted in it and below. */
struct unstacked_level {
	uint32_t node;
	struct unstacked_sum sum;
};

struct unstacked {
	struct flat *to;
	struct profile *p;
	struct joined *lists;
	size_t n;
	struct summed *parts;
	size_t n_parts;
	enum summed_way way_of_parts;
	bool frames_apart; /* the table tells frames apart */
	const struct unstacked_groups *groups;
	struct unstacked_frame *frames;
	uint32_t folded;     /* place of what was folded in programs; behind it: in the kernel */
	uint32_t *places_of; /* by the profile's frame: its first place */
	size_t places_of_room;
	/* By what frames count once for: it is on the path. */
	unsigned char *met, *met_nameless;
	size_t met_room, met_nameless_room;
	struct unstacked_step *path;
	size_t path_room;
	/* By list and group: where its rows begin. */
	uint32_t *starts;
	/* Groups whose sums are one, and by group the next of these; 0: none. */
	struct pool totals;
	uint32_t *first, *next;
	uint32_t *tops; /* by node */
	struct unstacked_level *way;
	uint32_t *below; /* nodes that are to be on it, the innermost first */
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
	int r = made == PROFILE_FAILED
	                ? -ENOMEM
	                : ARRAY_ROOM_ZEROED(&u->places_of, &u->places_of_room, (size_t)made + 1);

	if (r < 0)
		return r;
	if (u->places_of[made]) {
		*f = u->frames[u->places_of[made]];
		return 0;
	}
	r = u->to->frame(u->to->ctx, u->p, made, &f->is);
	if (r < 0)
		return r;
	u->places_of[made] = f->of = place;
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

/* Notes what of a node's frame is not further out on the path: number 0 is nobody's. The place of
 * the frame, with that. */
static inline uint32_t unstacked_meet(const struct flat_frame *is, uint32_t place,
                                      unsigned char *met, unsigned char *met_nameless,
                                      struct unstacked_step *step)
{
	step->same = is->same && !met[is->same] ? is->same : 0;
	step->nameless = is->nameless && !met_nameless[is->nameless] ? is->nameless : 0;
	met[step->same] = step->same != 0;
	met_nameless[step->nameless] = step->nameless != 0;
	return place | (step->same ? UNSTACKED_FIRST : 0) |
	       (step->nameless ? UNSTACKED_NAMELESS : 0);
}

/* What is told of stacks that end at a node below another one; NULL: it is outermost. */
static inline uint32_t unstacked_top(const struct unstacked_frame *frames,
                                     const struct unstacked_step *parent, uint32_t place)
{
	const uint32_t above = parent ? parent->top : UNSTACKED_IS_TOP;
	const uint32_t says = (uint32_t)frames[place].is.says << UNSTACKED_SAYS;
	const bool is_top =
	        above & UNSTACKED_IS_TOP && (!parent || frames[above & UNSTACKED_PLACE].is.ended);

	if (!is_top)
		return (above & ~UNSTACKED_IS_TOP) | says;
	return place | says | (above & ~(UNSTACKED_IS_TOP | UNSTACKED_PLACE)) | UNSTACKED_IS_TOP;
}

/* The place of a node's frame; 0: there is none. */
static inline uint32_t unstacked_place(const struct unstacked *u, const struct blocks_node *nodes,
                                       uint32_t id)
{
	const struct blocks_node *node = &nodes[id];

	if (node->parent >= id)
		return 0;
	if (node->frame != BLOCKS_FOLDED)
		return node->frame < u->folded ? u->frames[node->frame].of : 0;
	return u->folded + u->frames[nodes[node->parent].frame & UNSTACKED_PLACE].kernel;
}

/* Finds what is told of each node of a list. -ENOMEM; -EBADMSG: a node's parent is not on the path
 * to the node in front. */
static int unstacked_nodes(struct unstacked *u, struct joined *j)
{
	/* Not by u: what is noted in bytes might be anything of it, for all that is known. */
	const struct unstacked_frame *const frames = u->frames;
	unsigned char *const met = u->met, *const met_nameless = u->met_nameless;
	struct unstacked_step *path = u->path;
	size_t n = 0;

	for (uint32_t id = 1; id <= j->n; id++) {
		const struct blocks_node node = j->nodes[id];
		const uint32_t place = unstacked_place(u, j->nodes, id);
		struct unstacked_step step = { .node = id };

		if (!frames[place].node)
			return -EBADMSG;
		for (; n && path[n - 1].node != node.parent; n--) {
			met[path[n - 1].same] = 0;
			met_nameless[path[n - 1].nameless] = 0;
		}
		if (!n && node.parent)
			return -EBADMSG;
		if (n == u->path_room) {
			if (ARRAY_ROOM(&u->path, &u->path_room, n + 1) < 0)
				return -ENOMEM;
			path = u->path;
		}
		step.top = unstacked_top(frames, n ? &path[n - 1] : NULL, place);
		u->tops[id] = step.top;
		j->nodes[id].frame =
		        unstacked_meet(&frames[place].is, place, met, met_nameless, &step);
		path[n++] = step;
	}
	while (n--) {
		met[path[n].same] = 0;
		met_nameless[path[n].nameless] = 0;
	}
	return 0;
}

/* ---- by state, and by what is said ---- */

/* Adds samples of a group to those of their outermost frame, and to what all frames say.
 * -ENOMEM. */
static int unstacked_tell_top(struct unstacked *u, uint32_t group, uint32_t place, uint32_t says,
                              uint64_t samples)
{
	const uint32_t state = u->groups->keys[group].state;
	uint64_t **by = &u->by_state[state < PROFILE_STATES_MAX ? state : PROFILE_STATES_MAX];

	if (!*by)
		*by = calloc((size_t)u->folded + 2, sizeof(**by));
	if (!*by)
		return -ENOMEM;
	u->to->samples[says & (FLAT_SAYS - 1)] += samples;
	(*by)[place] += samples;
	return 0;
}

/* Adds what stacks tell that does not depend on a table's columns. -ENOMEM. */
static int unstacked_tell(struct unstacked *u, const struct joined *j, uint64_t *folded)
{
	for (size_t i = 0; i < j->sums.n; i++) {
		const struct sums_row *row = &j->sums.rows[i];
		const uint32_t top = row->node ? u->tops[row->node] : 0;
		const int r = unstacked_tell_top(u, row->group, top & UNSTACKED_PLACE,
		                                 top >> UNSTACKED_SAYS, row->samples);

		if (r < 0)
			return r;
		if (row->node && (j->nodes[row->node].frame & UNSTACKED_PLACE) >= u->folded)
			*folded += row->samples;
	}
	return 0;
}

/* Where a frame is whose place in a part is this; the caller's damaged store has none there: 0. */
static inline uint32_t unstacked_part_place(const struct unstacked *u, uint32_t place)
{
	if (place < SUMMED_FRAMES)
		return place ? u->folded + (place - SUMMED_FOLDED) : 0;
	place -= SUMMED_FRAMES - 1;
	return place < u->folded ? u->frames[place].of : 0;
}

/* The same of a group of a part. -ENOMEM. */
static int unstacked_tell_piece(struct unstacked *u, const struct summed_piece *piece,
                                uint64_t *folded)
{
	struct cursor tops = piece->tops, nameless = piece->nameless;
	struct summed_top top = { 0 };
	struct summed_nameless unnamed = { 0 };
	int r = 0;

	while (r >= 0 && summed_next_top(&tops, &top))
		r = unstacked_tell_top(u, piece->group, unstacked_part_place(u, top.place),
		                       top.says, top.samples);
	*folded += piece->folded;
	while (r >= 0 && summed_next_nameless(&nameless, &unnamed)) {
		const uint32_t place = unstacked_part_place(u, unnamed.place);

		r = flat_add_nameless(u->to, u->frames[place].is.nameless, unnamed.samples);
	}
	return r;
}

/* The same of a part's groups that are wanted. -ENOMEM. */
static int unstacked_tell_part(struct unstacked *u, const struct summed *part, uint64_t *folded)
{
	int r = 0;

	for (size_t i = 0; i < part->n && r >= 0; i++)
		if (part->pieces[i].group)
			r = unstacked_tell_piece(u, &part->pieces[i], folded);
	return r;
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

#define UNSTACKED_OBJECT (1u << ROLLUP_OBJECT | 1u << ROLLUP_BUILD_ID)
/* What parts do not tell apart. */
#define UNSTACKED_LISTS_ONLY (1u << ROLLUP_FILE | 1u << ROLLUP_LINE | 1u << ROLLUP_PARENT)

bool unstacked_tells_frames(unsigned columns)
{
	return columns & (UNSTACKED_OBJECT | UNSTACKED_LISTS_ONLY | 1u << ROLLUP_SYMBOL);
}

/* Object and symbol are what parts tell apart; a build-id is its object's. */
bool unstacked_way(unsigned columns, enum summed_way *way)
{
	const unsigned object = columns & UNSTACKED_OBJECT;

	if (columns & UNSTACKED_LISTS_ONLY || object == 1u << ROLLUP_BUILD_ID)
		return false;
	*way = !(columns & 1u << ROLLUP_SYMBOL) ? SUMMED_OBJECT
	       : object                         ? SUMMED_FUNCTION
	                                        : SUMMED_SYMBOL;
	return true;
}

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

/* Adds to the sum of a place. */
static inline void unstacked_give(struct unstacked *u, uint32_t place, uint64_t samples,
                                  uint64_t weight)
{
	struct unstacked_sum *to = unstacked_at(u, place);

	to->samples += samples;
	to->weight += weight;
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

static int unstacked_pieces_order(const void *pa, const void *pb)
{
	const struct summed_piece *a = pa, *b = pb;

	return (a->group > b->group) - (a->group < b->group);
}

/* The first of a part's pieces of a group, or of what comes behind; they are sorted. */
static size_t unstacked_first_piece(const struct summed *part, uint32_t group)
{
	size_t from = 0, to = part->n;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (part->pieces[middle].group < group)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Adds what a piece has in its frames alone. Where frames are not told apart, any one stands for
 * all: that of what was folded is always there. */
static void unstacked_own_piece(struct unstacked *u, const struct summed_piece *piece)
{
	struct cursor selfs = piece->selfs;
	struct summed_self self = { 0 };

	if (!u->frames_apart) {
		const struct summed_value *all = &piece->all, *bare = &piece->bare;

		if (bare->samples)
			unstacked_give(u, 0, bare->samples, bare->weight);
		if (all->samples > bare->samples)
			unstacked_give(u, u->folded, all->samples - bare->samples,
			               all->weight - bare->weight);
	}
	while (u->frames_apart && summed_next_self(&selfs, piece->weight, &self))
		unstacked_give(u, unstacked_part_place(u, self.place), self.value.samples,
		               self.value.weight);
}

/* The same of all that parts have of a group. */
static void unstacked_own_parts(struct unstacked *u, uint32_t group)
{
	for (size_t i = 0; i < u->n_parts; i++) {
		const struct summed *part = &u->parts[i];

		for (size_t k = unstacked_first_piece(part, group);
		     k < part->n && part->pieces[k].group == group; k++)
			unstacked_own_piece(u, &part->pieces[k]);
	}
}

/* Adds a group's own samples to the profile's rows, by innermost frame. -ENOMEM. */
static int unstacked_own(struct unstacked *u, uint32_t group)
{
	unstacked_own_parts(u, group);
	for (size_t list = 0; list < u->n; list++) {
		const struct sums_row *row = unstacked_rows(u, list, group);
		const struct sums_row *end = unstacked_rows(u, list, group + 1);

		for (; row < end; row++) {
			const uint32_t frame = u->lists[list].nodes[row->node].frame;
			uint32_t place = frame & UNSTACKED_PLACE;

			if (!u->frames_apart && place)
				place = u->folded;
			unstacked_give(u, place, row->samples, row->weight);
		}
	}
	return unstacked_hand(u, &u->groups->keys[group], false);
}

/* Leaves the innermost node of the way: what it has goes to its frame, and to the node above.
 * -ENOMEM. */
static inline int unstacked_up(struct unstacked *u, const struct blocks_node *nodes, size_t *n)
{
	const struct unstacked_level *level = &u->way[--*n];
	const uint32_t frame = nodes[level->node].frame, place = frame & UNSTACKED_PLACE;
	struct unstacked_sum *to = unstacked_at(u, place);

	if (frame & UNSTACKED_FIRST) {
		to->weight += level->sum.weight;
		to->samples += level->sum.samples;
	}
	if (*n) {
		u->way[*n - 1].sum.weight += level->sum.weight;
		u->way[*n - 1].sum.samples += level->sum.samples;
	}
	return frame & UNSTACKED_NAMELESS
	               ? flat_add_nameless(u->to, u->frames[place].is.nameless, level->sum.samples)
	               : 0;
}

/* Goes to a node: up to where it leaves the way, then down. -ENOMEM. */
static inline int unstacked_go(struct unstacked *u, const struct blocks_node *nodes, size_t *n,
                               uint32_t node)
{
	size_t below = 0;
	int r = 0;

	for (uint32_t at = node, end; r >= 0;) {
		end = *n ? u->way[*n - 1].node : 0;
		for (; at > end; at = nodes[at].parent)
			u->below[below++] = at;
		if (at == end)
			break;
		r = unstacked_up(u, nodes, n);
	}
	while (below)
		u->way[(*n)++] = (struct unstacked_level){ .node = u->below[--below] };
	return r;
}

/* Sums up what one list has of a group. -ENOMEM. */
static int unstacked_sum_list(struct unstacked *u, size_t list, uint32_t group)
{
	const struct blocks_node *nodes = u->lists[list].nodes;
	const struct sums_row *row = unstacked_rows(u, list, group);
	const struct sums_row *end = unstacked_rows(u, list, group + 1);
	size_t n = 0;
	int r = 0;

	for (; row < end && r >= 0; row++) {
		/* A sample without a stack is in no function. */
		if (!row->node)
			continue;
		r = unstacked_go(u, nodes, &n, row->node);
		if (r < 0)
			break;
		u->way[n - 1].sum.weight += row->weight;
		u->way[n - 1].sum.samples += row->samples;
	}
	while (n && r >= 0)
		r = unstacked_up(u, nodes, &n);
	return r;
}

/* Adds what a part has of a group. */
static void unstacked_sum_piece(struct unstacked *u, const struct summed_piece *piece)
{
	struct summed_totals totals = piece->totals;
	struct summed_value value;
	uint32_t place = 0;

	while (summed_next_of(&totals, piece->weight, u->way_of_parts, &place, &value))
		unstacked_give(u, unstacked_part_place(u, place), value.samples, value.weight);
}

/* Sums up what parts have of a group. */
static void unstacked_sum_parts(struct unstacked *u, uint32_t group)
{
	for (size_t i = 0; i < u->n_parts; i++) {
		const struct summed *part = &u->parts[i];

		for (size_t k = unstacked_first_piece(part, group);
		     k < part->n && part->pieces[k].group == group; k++)
			unstacked_sum_piece(u, &part->pieces[k]);
	}
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

	/* No way is longer than the longest path. */
	u->way = calloc(u->path_room + 1, sizeof(*u->way));
	u->below = calloc(u->path_room + 1, sizeof(*u->below));
	if (!u->way || !u->below)
		return -ENOMEM;
	for (uint32_t total = 1; total <= u->totals.n && r >= 0; total++) {
		for (uint32_t group = u->first[total]; group && r >= 0; group = u->next[group]) {
			for (size_t list = 0; list < u->n && r >= 0; list++)
				r = unstacked_sum_list(u, list, group);
			unstacked_sum_parts(u, group);
		}
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
	return u->frames && u->by_frame && u->seen && u->places && u->tops ? 0 : -ENOMEM;
}

/* Gives back all that unstacked_start and the walks took. */
static void unstacked_end(struct unstacked *u)
{
	free(u->frames);
	free(u->by_frame);
	free(u->seen);
	free(u->places);
	free(u->tops);
	free(u->way);
	free(u->below);
	free(u->met);
	free(u->met_nameless);
	free(u->places_of);
	free(u->path);
	free(u->starts);
	free(u->first);
	free(u->next);
	pool_free(&u->totals);
	for (uint32_t i = 0; i <= PROFILE_STATES_MAX; i++)
		free(u->by_state[i]);
}

/* Frames first, as nodes are told by them; then what does not depend on the columns; then sums. */
int unstacked_add(struct flat *to, struct profile *p, struct lookup *l,
                  const struct unstacked_from *from, uint64_t *folded)
{
	struct unstacked u = { .to = to,
		               .p = p,
		               .lists = from->lists,
		               .n = from->n,
		               .parts = from->parts,
		               .n_parts = from->n_parts,
		               .groups = &from->groups,
		               .frames_apart = unstacked_tells_frames(to->columns),
		               .folded = l->lists[BLOCKS_FRAMES].highest + 1 };
	int r = unstacked_start(&u);

	if (u.n_parts && !unstacked_way(to->columns, &u.way_of_parts))
		r = -EINVAL;
	if (r >= 0)
		r = unstacked_frames(&u, l);
	for (size_t i = 0; i < u.n && r >= 0; i++) {
		r = unstacked_nodes(&u, &u.lists[i]);
		if (r >= 0)
			r = unstacked_tell(&u, &u.lists[i], folded);
	}
	for (size_t i = 0; i < u.n_parts; i++)
		if (u.parts[i].n)
			qsort(u.parts[i].pieces, u.parts[i].n, sizeof(*u.parts[i].pieces),
			      unstacked_pieces_order);
	for (size_t i = 0; i < u.n_parts && r >= 0; i++)
		r = unstacked_tell_part(&u, &u.parts[i], folded);
	if (r >= 0)
		r = unstacked_tops(&u);
	if (r >= 0)
		r = unstacked_starts(&u);
	for (uint32_t group = 1; group <= u.groups->n && r >= 0; group++)
		r = unstacked_own(&u, group);
	if (r >= 0)
		r = unstacked_totals(&u);
	unstacked_end(&u);
	to->filled = true;
	return r;
}
