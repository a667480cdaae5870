// SPDX-License-Identifier: MIT
/*
 * lookup.c: see lookup.h. A node's parent has a less number, so one pass over the blocks, from the
 * last one down, finds all that is needed; then the frames that these nodes have, and so on.
 *
 * Numbers that a store hands out are only asked for as far as a query needs them: an epoch has
 * hundreds of thousands of nodes. Every number is checked against its list; -EBADMSG says that the
 * store is damaged.
 */
#include "store/lookup.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/leb.h"

/* fetch gives the block that holds a thing. */
void lookup_start(struct lookup *l, lookup_fetch *fetch, void *ctx)
{
	*l = (struct lookup){ .fetch = fetch, .ctx = ctx };
}

void lookup_free(struct lookup *l)
{
	for (int i = 0; i < BLOCKS_KINDS; i++) {
		free(l->lists[i].needed);
		free(l->made[i]);
	}
	free(l->nodes);
	free(l->frames);
	free(l->objects);
	free(l->strings);
	buf_free(&l->text);
	*l = (struct lookup){ 0 };
}

/* So that a thing, and all in front of it, have their byte. -ENOMEM. */
static int lookup_room_for(struct lookup_list *list, uint32_t id)
{
	return ARRAY_ROOM_ZEROED(&list->needed, &list->n, (size_t)id + 1);
}

/* Marks a thing as needed. */
int lookup_need(struct lookup *l, enum blocks_kind kind, uint32_t id)
{
	struct lookup_list *list = &l->lists[kind];

	if (id >= BLOCKS_THINGS_MAX)
		return -EBADMSG;
	if (lookup_room_for(list, id) < 0)
		return -ENOMEM;
	list->needed[id] = 1;
	if (id > list->highest)
		list->highest = id;
	return 0;
}

/* ---- loading ---- */

/* Reads a number that must be less than `below`. */
static uint32_t lookup_number(struct cursor *c, uint64_t below)
{
	uint64_t v = leb_unsigned(c);

	if (v >= below)
		cursor_fail(c);
	return v < below ? (uint32_t)v : 0;
}

static int lookup_load_string(struct lookup *l, struct cursor *c, uint32_t id, bool needed)
{
	uint64_t n = leb_unsigned(c);
	const unsigned char *bytes = cursor_bytes(c, n);

	if (!needed || c->failed)
		/* A string that is not needed is passed over. */
		return 0;
	l->strings[id] = (uint32_t)l->text.n;
	if (memchr(bytes, 0, n) || l->text.n > UINT32_MAX / 2)
		return -EBADMSG;
	buf_put(&l->text, bytes, n);
	return buf_put(&l->text, "", 1);
}

static int lookup_load_object(struct lookup *l, struct cursor *c, uint32_t id, bool needed)
{
	const struct blocks_object o = {
		.path = lookup_number(c, BLOCKS_THINGS_MAX),
		.build_id = lookup_number(c, BLOCKS_THINGS_MAX),
	};
	int r;

	if (!needed || c->failed)
		return 0;
	l->objects[id] = o;
	r = lookup_need(l, BLOCKS_STRINGS, o.path);
	return r < 0 ? r : lookup_need(l, BLOCKS_STRINGS, o.build_id);
}

/* Reads a frame and makes needed what it names. */
static int lookup_load_frame(struct lookup *l, struct cursor *c, uint32_t id, bool needed)
{
	struct blocks_frame f;
	int r;

	f.kind = lookup_number(c, PROFILE_KINDS);
	f.object = lookup_number(c, BLOCKS_THINGS_MAX);
	f.symbol = lookup_number(c, BLOCKS_THINGS_MAX);
	f.file = lookup_number(c, BLOCKS_THINGS_MAX);
	f.line = lookup_number(c, 1ULL << 32);
	f.depth = lookup_number(c, 1ULL << 32);
	if (!needed || c->failed)
		return 0;
	l->frames[id] = f;
	r = lookup_need(l, BLOCKS_OBJECTS, f.object);
	if (r >= 0)
		r = lookup_need(l, BLOCKS_STRINGS, f.symbol);
	return r < 0 ? r : lookup_need(l, BLOCKS_STRINGS, f.file);
}

static int lookup_load_node(struct lookup *l, struct cursor *c, uint32_t id, bool needed)
{
	uint32_t up = lookup_number(c, (uint64_t)id + 1);
	uint32_t frame = lookup_number(c, BLOCKS_THINGS_MAX);
	int r;

	if (!needed || c->failed)
		return 0;
	/* Node 0 is the root: it stands in no block, and frame 0 is none. */
	if (!up || !frame)
		return -EBADMSG;
	l->nodes[id] = (struct blocks_node){ id - up, frame };
	r = lookup_need(l, BLOCKS_NODES, id - up);
	return r < 0 ? r : lookup_need(l, BLOCKS_FRAMES, frame);
}

/* A node makes its parent needed, which may stand in front of it in the same block: this is found
 * out backwards before the block is read. */
/* A copy of the cursor reads the block once before the others do. */
static int lookup_mark_parents(struct lookup *l, struct cursor c, uint32_t first, uint32_t n)
{
	uint32_t *up = calloc((size_t)n + 1, sizeof(*up));
	int r = up ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n && r >= 0; i++) {
		up[i] = lookup_number(&c, (uint64_t)first + i + 1);
		leb_unsigned(&c);
	}
	for (uint32_t i = n; i-- && r >= 0;)
		if (l->lists[BLOCKS_NODES].needed[first + i])
			r = lookup_need(l, BLOCKS_NODES, first + i - up[i]);
	free(up);
	return r;
}

static int lookup_load_things(struct lookup *l, enum blocks_kind kind, struct cursor *c,
                              uint32_t first, uint32_t n)
{
	static int (*const load[])(struct lookup *, struct cursor *, uint32_t, bool) = {
		[BLOCKS_STRINGS] = lookup_load_string,
		[BLOCKS_OBJECTS] = lookup_load_object,
		[BLOCKS_FRAMES] = lookup_load_frame,
		[BLOCKS_NODES] = lookup_load_node,
	};
	int r = kind == BLOCKS_NODES ? lookup_mark_parents(l, *c, first, n) : 0;

	for (uint32_t id = first; id - first < n && r >= 0; id++)
		r = load[kind](l, c, id, l->lists[kind].needed[id]);
	return r < 0 ? r : c->failed ? -EBADMSG : 0;
}

/* Fetches and reads the block that holds a thing; *first: where it begins. */
static int lookup_load_block(struct lookup *l, enum blocks_kind kind, uint32_t id, uint32_t *first)
{
	struct buf plain = { 0 };
	const void *bytes;
	struct cursor c;
	uint32_t n;
	size_t size;
	int r = l->fetch(l->ctx, kind, id, first, &n, &bytes, &size);

	if (r < 0)
		return r == -ENOENT ? -EBADMSG : r;
	/* A block that does not hold the thing would be fetched for ever. */
	if (!*first || *first > id || id - *first >= n || n > BLOCKS_THINGS_MAX - *first)
		return -EBADMSG;
	r = blocks_unpack(&plain, bytes, size);
	c = cursor_of(plain.bytes, plain.n, false);
	if (r >= 0)
		/* What is needed in it must have room, also below the thing that was asked for. */
		r = lookup_room_for(&l->lists[kind], *first + n - 1);
	if (r >= 0)
		r = lookup_load_things(l, kind, &c, *first, n);
	buf_free(&plain);
	return r;
}

/* From the highest number down: what a block makes needed in its own list lies in front. */
static int lookup_load_list(struct lookup *l, enum blocks_kind kind)
{
	const struct lookup_list *list = &l->lists[kind];
	int r = 0;

	for (uint32_t id = list->highest, first; id && r >= 0; id--)
		if (list->needed[id]) {
			r = lookup_load_block(l, kind, id, &first);
			/* The loop goes on in front of the block. */
			id = first;
		}
	return r;
}

/* For the things of a list up to the highest that is needed; blocks may go beyond it. */
static void *lookup_array(const struct lookup *l, enum blocks_kind kind, size_t size)
{
	return calloc((size_t)l->lists[kind].highest + 1, size);
}

/* From the list that names others to those that are named. */
int lookup_load(struct lookup *l)
{
	int r = 0;

	buf_put(&l->text, "", 1);
	l->nodes = lookup_array(l, BLOCKS_NODES, sizeof(*l->nodes));
	r = l->nodes ? lookup_load_list(l, BLOCKS_NODES) : -ENOMEM;
	if (r < 0)
		return r;
	l->frames = lookup_array(l, BLOCKS_FRAMES, sizeof(*l->frames));
	r = l->frames ? lookup_load_list(l, BLOCKS_FRAMES) : -ENOMEM;
	if (r < 0)
		return r;
	l->objects = lookup_array(l, BLOCKS_OBJECTS, sizeof(*l->objects));
	r = l->objects ? lookup_load_list(l, BLOCKS_OBJECTS) : -ENOMEM;
	if (r < 0)
		return r;
	l->strings = lookup_array(l, BLOCKS_STRINGS, sizeof(*l->strings));
	return l->strings ? lookup_load_list(l, BLOCKS_STRINGS) : -ENOMEM;
}

/* ---- a profile ---- */

/* The text is valid until lookup_free. */
const char *lookup_text(const struct lookup *l, uint32_t string)
{
	return string <= l->lists[BLOCKS_STRINGS].highest
	               ? (const char *)l->text.bytes + l->strings[string]
	               : "";
}

/* The profile's number of a string, made once. */
static uint32_t lookup_made_string(struct lookup *l, struct profile *p, uint32_t id)
{
	if (id && !l->made[BLOCKS_STRINGS][id])
		l->made[BLOCKS_STRINGS][id] = profile_string(p, lookup_text(l, id));
	return l->made[BLOCKS_STRINGS][id];
}

static uint32_t lookup_made_object(struct lookup *l, struct profile *p, uint32_t id)
{
	const struct blocks_object *o = &l->objects[id];

	if (id && !l->made[BLOCKS_OBJECTS][id])
		l->made[BLOCKS_OBJECTS][id] =
		        profile_object(p, lookup_text(l, o->path),
		                       o->build_id ? lookup_text(l, o->build_id) : NULL);
	return l->made[BLOCKS_OBJECTS][id];
}

/* The profile's number of a frame, made once. PROFILE_FAILED. */
static uint32_t lookup_made_frame(struct lookup *l, struct profile *p, uint32_t id)
{
	const struct blocks_frame *from = &l->frames[id];

	if (id && !l->made[BLOCKS_FRAMES][id]) {
		const struct profile_frame f = {
			.object = lookup_made_object(l, p, from->object),
			.symbol = lookup_made_string(l, p, from->symbol),
			.file = lookup_made_string(l, p, from->file),
			.line = from->line,
			.kind = from->kind,
			.depth = from->depth,
		};

		if (f.object == PROFILE_FAILED || f.symbol == PROFILE_FAILED ||
		    f.file == PROFILE_FAILED)
			return PROFILE_FAILED;
		l->made[BLOCKS_FRAMES][id] = profile_frame(p, &f);
	}
	return l->made[BLOCKS_FRAMES][id];
}

/* Parents come first, because their numbers are less. */
int lookup_make(struct lookup *l, struct profile *p)
{
	uint32_t *nodes;

	for (int i = 0; i < BLOCKS_KINDS; i++) {
		l->made[i] = calloc((size_t)l->lists[i].highest + 1, sizeof(*l->made[i]));
		if (!l->made[i])
			return -ENOMEM;
	}
	nodes = l->made[BLOCKS_NODES];
	for (uint32_t id = 1; id <= l->lists[BLOCKS_NODES].highest; id++) {
		uint32_t frame;

		if (!l->nodes[id].frame)
			/* Nodes that are not needed have no frame. */
			continue;
		frame = lookup_made_frame(l, p, l->nodes[id].frame);
		if (frame == PROFILE_FAILED)
			return -ENOMEM;
		nodes[id] = profile_node(p, nodes[l->nodes[id].parent], frame);
		if (nodes[id] == PROFILE_FAILED)
			return -ENOMEM;
	}
	return 0;
}

/* The profile's node for one of the store's; lookup_make has made it. */
uint32_t lookup_node(const struct lookup *l, uint32_t node)
{
	return l->made[BLOCKS_NODES][node];
}
