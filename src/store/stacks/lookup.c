// SPDX-License-Identifier: MIT
/*
 * lookup.c: see lookup.h. A node's parent has a less number, so one pass over the blocks, from the
 * last one down, finds all that is needed; then the frames that these nodes have, and so on.
 *
 * Numbers that a store hands out are only asked for as far as a query needs them: an epoch has
 * hundreds of thousands of nodes. Every number is checked against its list; -EBADMSG says that the
 * store is damaged.
 */
#include "store/stacks/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/leb.h"
#include "base/pages.h"
#include "store/stacks/sorted.h"

/* fetch gives the block that holds a thing. */
void lookup_start(struct lookup *l, lookup_fetch *fetch, void *ctx)
{
	*l = (struct lookup){ .fetch = fetch, .ctx = ctx };
}

void lookup_free(struct lookup *l)
{
	for (int i = 0; i < BLOCKS_NODES; i++) {
		free(l->lists[i].needed);
		free(l->made[i]);
	}
	free(l->frames);
	free(l->objects);
	free(l->strings);
	free(l->taken);
	buf_free(&l->text);
	*l = (struct lookup){ 0 };
}

/* What its blocks are and what is needed stays, so that it can be used again. */
void lookup_stacks_free(struct lookup_stacks *s)
{
	free(s->list.needed);
	free(s->nodes);
	free(s->made);
	*s = (struct lookup_stacks){ .sorted = s->sorted, .innermost = s->innermost };
}

/* So that a thing, and all in front of it, have their byte. -ENOMEM. */
static int lookup_room_for(struct lookup_list *list, uint32_t id)
{
	return ARRAY_ROOM_ZEROED(&list->needed, &list->n, (size_t)id + 1);
}

/* Marks a thing as needed. */
static int lookup_list_need(struct lookup_list *list, uint32_t id)
{
	if (id >= BLOCKS_THINGS_MAX)
		return -EBADMSG;
	if (lookup_room_for(list, id) < 0)
		return -ENOMEM;
	list->needed[id] = 1;
	if (id > list->highest)
		list->highest = id;
	return 0;
}

int lookup_need(struct lookup *l, enum blocks_kind kind, uint32_t id)
{
	return lookup_list_need(&l->lists[kind], id);
}

int lookup_stacks_need(struct lookup_stacks *s, uint32_t node)
{
	return lookup_list_need(&s->list, node);
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

struct blocks_frame lookup_frame(struct cursor *c)
{
	struct blocks_frame f;

	f.kind = lookup_number(c, PROFILE_KINDS);
	f.object = lookup_number(c, BLOCKS_THINGS_MAX);
	f.symbol = lookup_number(c, BLOCKS_THINGS_MAX);
	f.file = lookup_number(c, BLOCKS_THINGS_MAX);
	f.line = lookup_number(c, 1ULL << 32);
	f.depth = lookup_number(c, 1ULL << 32);
	return f;
}

/* Reads a frame and makes needed what it names. */
static int lookup_load_frame(struct lookup *l, struct cursor *c, uint32_t id, bool needed)
{
	struct blocks_frame f = lookup_frame(c);
	int r;

	if (!needed || c->failed)
		return 0;
	if (l->functions)
		f.file = f.line = f.depth = 0;
	l->frames[id] = f;
	r = lookup_need(l, BLOCKS_OBJECTS, f.object);
	if (r >= 0)
		r = lookup_need(l, BLOCKS_STRINGS, f.symbol);
	return r < 0 ? r : lookup_need(l, BLOCKS_STRINGS, f.file);
}

/* Reads a block of things that are named by their numbers. */
static int lookup_load_things(struct lookup *l, enum blocks_kind kind, struct cursor *c,
                              uint32_t first, uint32_t n)
{
	static int (*const load[])(struct lookup *, struct cursor *, uint32_t, bool) = {
		[BLOCKS_STRINGS] = lookup_load_string,
		[BLOCKS_OBJECTS] = lookup_load_object,
		[BLOCKS_FRAMES] = lookup_load_frame,
	};
	int r = 0;

	for (uint32_t id = first; id - first < n && r >= 0; id++)
		r = load[kind](l, c, id, l->lists[kind].needed[id]);
	return r < 0 ? r : c->failed ? -EBADMSG : 0;
}

/* Fetches the block that holds a thing, unpacked, and gives all that is in it its place in the
 * list; *first: where it begins. */
static int lookup_fetch_block(struct lookup *l, enum blocks_kind kind, uint32_t id,
                              struct lookup_list *list, struct buf *plain, uint32_t *first,
                              uint32_t *n)
{
	const void *bytes;
	size_t size;
	int r = l->fetch(l->ctx, kind, id, first, n, &bytes, &size);

	if (r < 0)
		return r == -ENOENT ? -EBADMSG : r;
	/* A block that does not hold the thing would be fetched for ever. */
	if (!*first || *first > id || id - *first >= *n || *n > BLOCKS_THINGS_MAX - *first)
		return -EBADMSG;
	r = blocks_unpack(plain, bytes, size);
	/* What is needed in it must have room, also below the thing that was asked for. */
	return r < 0 ? r : lookup_room_for(list, *first + *n - 1);
}

/* From the highest number down: what a block makes needed in its own list lies in front. */
static int lookup_load_list(struct lookup *l, enum blocks_kind kind)
{
	struct lookup_list *list = &l->lists[kind];
	int r = 0;

	for (uint32_t id = list->highest, first = 1, n; id && r >= 0; id--) {
		struct buf plain = { 0 };
		struct cursor c;

		if (!list->needed[id])
			continue;
		r = lookup_fetch_block(l, kind, id, list, &plain, &first, &n);
		c = cursor_of(plain.bytes, plain.n, false);
		if (r >= 0)
			r = lookup_load_things(l, kind, &c, first, n);
		buf_free(&plain);
		/* The loop goes on in front of the block. */
		id = first;
	}
	return r;
}

/* ---- nodes ---- */

/* Blocks of a list that grew by and by: how far in front the parent is, and the frame. */
static int lookup_read_nodes(struct cursor *c, uint32_t first, uint32_t n, struct blocks_node *to)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t up = lookup_number(c, (uint64_t)first + i + 1);

		/* Node 0 is the root: it stands in no block. */
		if (!up)
			cursor_fail(c);
		to[i] = (struct blocks_node){ first + i - up, lookup_number(c, BLOCKS_THINGS_MAX) };
	}
	return c->failed ? -EBADMSG : 0;
}

/* Keeps what is needed of n nodes from `first` on, of which a block has more or not. A node makes
 * its parent needed, which may stand in front of it in the same block: so backwards. Frame 0 is
 * none. */
static int lookup_take_nodes(struct lookup *l, struct lookup_stacks *s, uint32_t first, uint32_t n)
{
	const struct lookup_list *frames = &l->lists[BLOCKS_FRAMES];
	unsigned char *needed = s->list.needed;
	int r = 0;

	for (uint32_t id = first + n; id-- > first && r >= 0;) {
		struct blocks_node *node = &s->nodes[id];
		const uint32_t frame = node->frame;

		if (!needed[id]) {
			*node = (struct blocks_node){ 0 };
			continue;
		}
		if (!frame)
			return -EBADMSG;
		if (!s->innermost || frame == BLOCKS_FOLDED)
			needed[node->parent] = 1;
		/* Most frames are needed already. */
		if (frame != BLOCKS_FOLDED && !(frame < frames->n && frames->needed[frame]))
			r = lookup_need(l, BLOCKS_FRAMES, frame);
	}
	return r;
}

/* Reads the n nodes of a block to where they belong; of the last block only what is in front of the
 * highest node has a place. -EBADMSG, -ENOMEM. */
static int lookup_put_nodes(struct lookup_stacks *s, struct cursor *c, uint32_t first, uint32_t n)
{
	int (*const read)(struct cursor * c, uint32_t first, uint32_t n, struct blocks_node * to) =
	        s->sorted ? sorted_read : lookup_read_nodes;
	const uint32_t room = s->list.highest - first + 1;
	struct blocks_node *nodes;
	int r;

	if (n <= room)
		return read(c, first, n, &s->nodes[first]);
	nodes = calloc((size_t)n, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	r = read(c, first, n, nodes);
	if (r >= 0)
		memcpy(&s->nodes[first], nodes, room * sizeof(*nodes));
	free(nodes);
	return r;
}

/* Fetches and reads the block that holds a node; *first: where it begins. */
static int lookup_load_nodes(struct lookup *l, struct lookup_stacks *s, uint32_t id,
                             uint32_t *first)
{
	const uint32_t highest = s->list.highest;
	struct buf plain = { 0 };
	struct cursor c;
	uint32_t n;
	int r = lookup_fetch_block(l, BLOCKS_NODES, id, &s->list, &plain, first, &n);

	/* A node has two bytes at least. */
	if (r >= 0 && n > plain.n)
		r = -EBADMSG;
	c = cursor_of(plain.bytes, plain.n, false);
	if (r >= 0)
		r = lookup_put_nodes(s, &c, *first, n);
	if (r >= 0)
		r = lookup_take_nodes(l, s, *first,
		                      n <= highest - *first ? n : highest - *first + 1);
	buf_free(&plain);
	return r;
}

int lookup_stacks_load(struct lookup *l, struct lookup_stacks *s)
{
	int r = 0;

	s->nodes = pages_zeroed((size_t)s->list.highest + 1, sizeof(*s->nodes));
	if (!s->nodes)
		return -ENOMEM;
	for (uint32_t id = s->list.highest, first = 1; id && r >= 0; id--)
		if (s->list.needed[id]) {
			r = lookup_load_nodes(l, s, id, &first);
			id = first;
		}
	return r;
}

/* ---- all lists ---- */

/* For the things of a list up to the highest that is needed; blocks may go beyond it. */
static void *lookup_array(const struct lookup *l, enum blocks_kind kind, size_t size)
{
	return pages_zeroed((size_t)l->lists[kind].highest + 1, size);
}

/* From the list that names others to those that are named. */
int lookup_load(struct lookup *l)
{
	int r = 0;

	buf_put(&l->text, "", 1);
	l->frames = lookup_array(l, BLOCKS_FRAMES, sizeof(*l->frames));
	r = l->frames ? lookup_load_list(l, BLOCKS_FRAMES) : -ENOMEM;
	if (r < 0)
		return r;
	l->objects = lookup_array(l, BLOCKS_OBJECTS, sizeof(*l->objects));
	r = l->objects ? lookup_load_list(l, BLOCKS_OBJECTS) : -ENOMEM;
	if (r < 0)
		return r;
	l->strings = lookup_array(l, BLOCKS_STRINGS, sizeof(*l->strings));
	r = l->strings ? lookup_load_list(l, BLOCKS_STRINGS) : -ENOMEM;
	for (int i = 0; i < BLOCKS_NODES && r >= 0; i++) {
		l->made[i] = lookup_array(l, i, sizeof(*l->made[i]));
		r = l->made[i] ? 0 : -ENOMEM;
	}
	return r;
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

/* Notes that a frame of the store is this one of the profile. PROFILE_FAILED. */
static uint32_t lookup_took_frame(struct lookup *l, uint32_t frame)
{
	if (frame == PROFILE_FAILED ||
	    ARRAY_ROOM_ZEROED(&l->taken, &l->n_taken, (size_t)frame + 1) < 0)
		return PROFILE_FAILED;
	l->alike |= l->taken[frame];
	l->taken[frame] = 1;
	return frame;
}

/* It is made once. */
uint32_t lookup_profile_frame(struct lookup *l, struct profile *p, uint32_t id)
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
		l->made[BLOCKS_FRAMES][id] = lookup_took_frame(l, profile_frame(p, &f));
	}
	return l->made[BLOCKS_FRAMES][id];
}

uint32_t lookup_profile_folded(struct profile *p, uint32_t kind)
{
	struct profile_frame folded = { .symbol = profile_string(p, LOOKUP_FOLDED), .kind = kind };

	return folded.symbol == PROFILE_FAILED ? PROFILE_FAILED : profile_frame(p, &folded);
}

/* The profile's frame of a node. What was folded was in the kernel if its caller was. */
static uint32_t lookup_made_frame_of(struct lookup *l, struct profile *p,
                                     const struct lookup_stacks *s, const struct blocks_node *node)
{
	const uint32_t caller = s->nodes[node->parent].frame;
	const bool kernel =
	        caller && caller != BLOCKS_FOLDED && l->frames[caller].kind == PROFILE_KERNEL;

	if (node->frame != BLOCKS_FOLDED)
		return lookup_profile_frame(l, p, node->frame);
	return lookup_profile_folded(p, kernel ? PROFILE_KERNEL : PROFILE_USER);
}

/* Makes a node below its parent's, which is made. A list has a stack once: below a node that the
 * profile did not have before, nothing needs to be looked for, unless frames are alike.
 * PROFILE_FAILED. */
static uint32_t lookup_made_node(struct lookup *l, struct profile *p, const struct lookup_stacks *s,
                                 const struct blocks_node *node, uint32_t before)
{
	const uint32_t frame = lookup_made_frame_of(l, p, s, node);
	const uint32_t parent = s->made[node->parent];

	if (frame == PROFILE_FAILED)
		return PROFILE_FAILED;
	if (parent > before && !l->alike && node->frame != BLOCKS_FOLDED)
		return profile_node_new(p, parent, frame);
	return profile_node(p, parent, frame);
}

/* Parents come first, because their numbers are less. */
int lookup_make(struct lookup *l, struct lookup_stacks *s, struct profile *p)
{
	const uint32_t before = (uint32_t)profile_n_nodes(p);

	s->made = pages_zeroed((size_t)s->list.highest + 1, sizeof(*s->made));
	if (!s->made)
		return -ENOMEM;
	for (uint32_t id = 1; id <= s->list.highest; id++) {
		/* Nodes that are not needed have no frame. */
		if (!s->nodes[id].frame)
			continue;
		s->made[id] = lookup_made_node(l, p, s, &s->nodes[id], before);
		if (s->made[id] == PROFILE_FAILED)
			return -ENOMEM;
	}
	return 0;
}
