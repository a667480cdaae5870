// SPDX-License-Identifier: MIT
/*
 * dictionary.c: see dictionary.h.
 *
 * A writer numbers strings, objects, frames and nodes of stacks once per epoch, and the store gets
 * each when it is new: a window then costs its counts and little more. The numbers of an epoch
 * never change, and it ends when its lists are full, so memory is bounded.
 */
#include "store/stacks/dictionary.h"

#include <stdlib.h>

/* Beyond one of these the next window begins another list of nodes, or another epoch of names. */
#define FULL_NODES 400000u
#define FULL_BYTES ((size_t)32 << 20)

/* Begins an empty dictionary: numbers of things start at 1. */
void dictionary_start(struct dictionary *d)
{
	*d = (struct dictionary){ 0 };
	d->things[BLOCKS_OBJECTS].size = sizeof(struct blocks_object);
	d->things[BLOCKS_FRAMES].size = sizeof(struct blocks_frame);
	d->things[BLOCKS_NODES].size = sizeof(struct blocks_node);
}

void dictionary_free(struct dictionary *d)
{
	intern_free(&d->strings);
	for (int i = 0; i < BLOCKS_KINDS; i++)
		pool_free(&d->things[i]);
}

/* What it holds in memory of names. */
static size_t dictionary_bytes(const struct dictionary *d)
{
	size_t bytes = intern_held(&d->strings);

	for (int i = 0; i < BLOCKS_NODES; i++)
		bytes += (size_t)d->things[i].n * d->things[i].size +
		         d->things[i].capacity * sizeof(uint64_t);
	return bytes;
}

bool dictionary_full(const struct dictionary *d)
{
	return d->things[BLOCKS_NODES].n >= FULL_NODES;
}

bool dictionary_names_full(const struct dictionary *d)
{
	return dictionary_bytes(d) >= FULL_BYTES;
}

void dictionary_next(struct dictionary *d)
{
	pool_free(&d->things[BLOCKS_NODES]);
	d->told[BLOCKS_NODES] = 0;
}

/* The number of a text, cut to what a block may hold. DICTIONARY_FAILED: out of memory, or of
 * numbers. */
uint32_t dictionary_string(struct dictionary *d, const char *text)
{
	uint32_t id = intern_bytes(&d->strings, text, strnlen(text, BLOCKS_STRING_MAX));

	return id < BLOCKS_THINGS_MAX ? id : DICTIONARY_FAILED;
}

/* The same of a struct: equal bytes have one number. */
static uint32_t dictionary_thing(struct dictionary *d, enum blocks_kind kind, const void *thing)
{
	uint32_t id = pool_put(&d->things[kind], thing);

	return id < BLOCKS_THINGS_MAX ? id : DICTIONARY_FAILED;
}

/* ---- from a profile ---- */

/* A map goes from one profile's numbers to the dictionary's. It is made for one window. */
int dictionary_map_start(struct dictionary_map *m, const struct profile *p)
{
	*m = (struct dictionary_map){ .profile = p };
	m->strings = calloc(profile_n_strings(p) + 1, sizeof(*m->strings));
	m->objects = calloc(profile_n_objects(p) + 1, sizeof(*m->objects));
	m->frames = calloc(profile_n_frames(p) + 1, sizeof(*m->frames));
	m->nodes = calloc(profile_n_nodes(p) + 1, sizeof(*m->nodes));
	if (m->strings && m->objects && m->frames && m->nodes)
		return 0;
	dictionary_map_free(m);
	return -ENOMEM;
}

void dictionary_map_free(struct dictionary_map *m)
{
	free(m->strings);
	free(m->objects);
	free(m->frames);
	free(m->nodes);
	*m = (struct dictionary_map){ 0 };
}

/* 0 in the profile stays 0. The same of objects and frames. */
static uint32_t dictionary_map_string(struct dictionary *d, struct dictionary_map *m, uint32_t id)
{
	if (id && !m->strings[id])
		m->strings[id] = dictionary_string(d, profile_text(m->profile, id));
	return m->strings[id];
}

static uint32_t dictionary_map_object(struct dictionary *d, struct dictionary_map *m, uint32_t id)
{
	if (id && !m->objects[id]) {
		const struct profile_object *o = profile_object_at(m->profile, id);
		const struct blocks_object object = {
			dictionary_map_string(d, m, o->path),
			dictionary_map_string(d, m, o->build_id),
		};

		if (object.path == DICTIONARY_FAILED || object.build_id == DICTIONARY_FAILED)
			return DICTIONARY_FAILED;
		m->objects[id] = dictionary_thing(d, BLOCKS_OBJECTS, &object);
	}
	return m->objects[id];
}

/* The dictionary's number of a frame of the profile, looked up once. DICTIONARY_FAILED. */
static uint32_t dictionary_map_frame(struct dictionary *d, struct dictionary_map *m, uint32_t id)
{
	if (id && !m->frames[id]) {
		const struct profile_frame *f = profile_frame_at(m->profile, id);
		const struct blocks_frame frame = {
			.object = dictionary_map_object(d, m, f->object),
			.symbol = dictionary_map_string(d, m, f->symbol),
			.file = dictionary_map_string(d, m, f->file),
			.line = f->line,
			.kind = f->kind,
			.depth = f->depth,
		};

		if (frame.object == DICTIONARY_FAILED || frame.symbol == DICTIONARY_FAILED ||
		    frame.file == DICTIONARY_FAILED)
			return DICTIONARY_FAILED;
		m->frames[id] = dictionary_thing(d, BLOCKS_FRAMES, &frame);
	}
	return m->frames[id];
}

/* A node's parent was mapped before it. */
static uint32_t dictionary_map_node(struct dictionary *d, struct dictionary_map *m, uint32_t id)
{
	const struct profile_node node = profile_node_at(m->profile, id);
	const struct blocks_node n = {
		m->nodes[node.parent],
		dictionary_map_frame(d, m, node.frame),
	};

	return n.frame == DICTIONARY_FAILED ? DICTIONARY_FAILED
	                                    : dictionary_thing(d, BLOCKS_NODES, &n);
}

/* A parent's id is less than its child's: one pass down marks what rows need, one up makes it.
 * -ENOMEM: some things are in the dictionary, and the epoch must end. */
int dictionary_add(struct dictionary *d, struct dictionary_map *m)
{
	const struct profile *p = m->profile;

	for (size_t i = 0; i < profile_n_rows(p); i++)
		/* 1 marks a node that is needed, until it gets its number. */
		m->nodes[profile_row_at(p, i)->key.node] = 1;
	for (size_t id = profile_n_nodes(p); id; id--)
		if (m->nodes[id])
			m->nodes[profile_node_at(p, (uint32_t)id).parent] = 1;
	m->nodes[PROFILE_ROOT] = 0;
	for (uint32_t id = 1; id <= profile_n_nodes(p); id++) {
		if (!m->nodes[id])
			continue;
		m->nodes[id] = dictionary_map_node(d, m, id);
		if (m->nodes[id] == DICTIONARY_FAILED)
			return -ENOMEM;
	}
	return 0;
}

/* ---- blocks ---- */

/* Appends a thing as blocks have it. */
static void dictionary_put(const struct dictionary *d, enum blocks_kind kind, uint32_t id,
                           struct buf *to)
{
	const void *thing = kind == BLOCKS_STRINGS ? NULL : pool_at(&d->things[kind], id);

	if (kind == BLOCKS_STRINGS) {
		size_t n = intern_length(&d->strings, id);

		blocks_put_number(to, n);
		buf_put(to, intern_get(&d->strings, id), n);
	} else if (kind == BLOCKS_OBJECTS) {
		const struct blocks_object *o = thing;

		blocks_put_number(to, o->path);
		blocks_put_number(to, o->build_id);
	} else if (kind == BLOCKS_FRAMES) {
		const struct blocks_frame *f = thing;

		blocks_put_number(to, f->kind);
		blocks_put_number(to, f->object);
		blocks_put_number(to, f->symbol);
		blocks_put_number(to, f->file);
		blocks_put_number(to, f->line);
		blocks_put_number(to, f->depth);
	} else {
		const struct blocks_node *n = thing;

		/* A parent's number is less, and mostly not by much. */
		blocks_put_number(to, id - n->parent);
		blocks_put_number(to, n->frame);
	}
}

/* Of the strings, number 0 is the empty one, which stands in no block. */
/* What is new of a kind since the last call, as one block: numbers *first to *first + *n - 1. 1; 0:
 * nothing is new; -ENOMEM. */
int dictionary_block(struct dictionary *d, enum blocks_kind kind, uint32_t *first, uint32_t *n,
                     struct buf *plain)
{
	uint32_t last = d->things[kind].n;

	if (kind == BLOCKS_STRINGS)
		last = d->strings.n ? (uint32_t)d->strings.n - 1 : 0;
	*first = d->told[kind] + 1;
	*n = last - d->told[kind];
	if (!*n)
		return 0;
	for (uint32_t id = *first; id <= last; id++)
		dictionary_put(d, kind, id, plain);
	d->told[kind] = last;
	return plain->failed ? -ENOMEM : 1;
}
