// SPDX-License-Identifier: MIT
// load_unnamed.c: see load_unnamed.h. Goes by nodes, not by samples: a node has the set of objects
// with nameless frames on its path, and most nodes have their parent's. Few sets are distinct.
#include "aggregate/load_unnamed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "profile/segments.h"

struct load_unnamed_object {
	struct symbol_object *object;
	enum symbol_state state;
	uint64_t samples;
};

/* A set is another set with one object more. Set 0 is empty. */
struct unnamed_set {
	uint32_t rest, object;
};

struct unnamed_sets {
	struct map known; /* rest << 32 | object -> set */
	struct buf all;   /* struct unnamed_set */
};

/* The same frame may be noted more than once. */
int load_unnamed_note(struct load_unnamed_frames *u, uint32_t frame, uint32_t object,
                      const struct place *place)
{
	if (ARRAY_ROOM_ZEROED(&u->object_of, &u->frames, (size_t)frame + 1) < 0)
		return -ENOMEM;
	u->object_of[frame] = object + 1;
	if (ARRAY_ROOM_ZEROED(&u->objects, &u->n_objects, (size_t)object + 1) < 0)
		return -ENOMEM;
	u->objects[object].object = place->object;
	u->objects[object].state = place->object ? place->symbol.state : SYMBOL_NO_FILE;
	return 0;
}

static const struct unnamed_set *unnamed_set(const struct unnamed_sets *sets, uint32_t set)
{
	return &((const struct unnamed_set *)(const void *)sets->all.bytes)[set];
}

/* The set with one object more; it is made if it is new. */
static int unnamed_with(struct unnamed_sets *sets, uint32_t set, uint32_t object, uint32_t *ret)
{
	const struct unnamed_set more = { .rest = set, .object = object };
	bool is_new;
	uint64_t *slot;

	for (uint32_t s = set; s; s = unnamed_set(sets, s)->rest) {
		if (unnamed_set(sets, s)->object == object) {
			*ret = set;
			return 0;
		}
	}
	slot = map_slot(&sets->known, (uint64_t)set << 32 | object, &is_new);
	if (!slot)
		return -ENOMEM;
	if (is_new) {
		*slot = sets->all.n / sizeof(more);
		if (buf_put(&sets->all, &more, sizeof(more)) < 0)
			return -ENOMEM;
	}
	*ret = (uint32_t)*slot;
	return 0;
}

/* Finds the set of each segment's last node. A segment's number is greater than that of the one
 * above it. */
static int unnamed_of_segments(const struct load_unnamed_frames *u, const struct segments *s,
                               struct unnamed_sets *sets, uint32_t *of)
{
	int r = 0;

	for (uint32_t i = 1; i <= s->n && r >= 0; i++) {
		uint32_t node = segments_first(s, i);

		of[i] = of[s->above[i]];
		for (; node <= s->last[i] && r >= 0; node++) {
			const uint32_t frame = trie_at(s->tree, node).key;

			if (frame < u->frames && u->object_of[frame])
				r = unnamed_with(sets, of[i], u->object_of[frame] - 1, &of[i]);
		}
	}
	return r;
}

/* A stack with several such frames of one object counts once for it. */
int load_unnamed_count(struct load_unnamed_frames *u, const struct profile *p, uint64_t *all)
{
	struct unnamed_sets sets = { 0 };
	const struct segments *segments = segments_of(p);
	uint32_t *of;
	int r;

	if (!segments)
		return -ENOMEM;
	of = calloc((size_t)segments->n + 1, sizeof(*of));
	r = of ? buf_put_zeros(&sets.all, sizeof(struct unnamed_set)) : -ENOMEM;
	if (r >= 0)
		r = unnamed_of_segments(u, segments, &sets, of);
	for (size_t i = 0; i < profile_n_rows(p) && r >= 0; i++) {
		const struct profile_row *row = profile_row_at(p, i);
		uint32_t set = of[segments_at(segments, row->key.node)];

		*all += set ? row->samples : 0;
		for (; set; set = unnamed_set(&sets, set)->rest)
			u->objects[unnamed_set(&sets, set)->object].samples += row->samples;
	}
	map_free(&sets.known);
	buf_free(&sets.all);
	free(of);
	return r;
}

/* Samples with nameless frames of this object. */
uint64_t load_unnamed_samples(const struct load_unnamed_frames *u, uint32_t object)
{
	return object < u->n_objects ? u->objects[object].samples : 0;
}

/* The most samples first, then by path. */
static int unnamed_order(const void *pa, const void *pb)
{
	const struct load_unnamed *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return strcmp(a->object, b->object);
}

/* The list is sorted by samples, the most first. Objects without samples are left out. */
int load_unnamed_list(struct load_unnamed_frames *u, struct load *load)
{
	int r = u->frames ? load_unnamed_count(u, load->profile, &load->taken_unnamed) : 0;

	load->unnamed = calloc(u->n_objects + 1, sizeof(*load->unnamed));
	if (r < 0 || !load->unnamed)
		return -ENOMEM;
	for (size_t i = 0; i < u->n_objects; i++) {
		const struct load_unnamed_object *o = &u->objects[i];

		if (!o->samples)
			continue;
		load->unnamed[load->n_unnamed++] = (struct load_unnamed){
			.object = o->object ? symbol_object_name(o->object) : SYMBOL_UNKNOWN,
			.reason = o->object ? symbol_object_reason(o->object) : "",
			.state = o->state,
			.key = o->object ? symbol_object_key(o->object) : NULL,
			.samples = o->samples,
		};
	}
	qsort(load->unnamed, load->n_unnamed, sizeof(*load->unnamed), unnamed_order);
	return 0;
}

void load_unnamed_free(struct load_unnamed_frames *u)
{
	free(u->object_of);
	free(u->objects);
}
