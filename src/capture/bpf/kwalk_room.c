// SPDX-License-Identifier: MIT
/*
 * kwalk_room.c: which unwind tables are in the arena. A table comes in when its object is first
 * mapped, while there is room; after that when a walk has needed it, for tables that no walk needed
 * for longest. A mapping whose table is out is not known to the programs: such samples bring a copy
 * of the stack, and the recorder, which has all tables, walks it. So with little memory stacks cost
 * more and are the same.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/bpf/kwalk_parts.h"
#include "unwind/frametab_form.h"

#define ROOM_LOOK_NS 100000000ull
#define ROOM_IDLE_NS 500000000ull /* a table that was needed since does not leave */

struct room_object {
	const void *blob; /* its first bytes are: */
	struct frametab_header header;
	uint32_t offset; /* of its copy; 0: out */
	uint32_t number; /* of this copy: none else ever has it; 0: it has none */
	bool wanted;     /* out, and needed */
	bool was_out;
	uint64_t used_ns; /* 0: never, as far as is known */
};

/* Bytes of the parts that the programs read: expressions they do not. */
static uint64_t kwalk_table_bytes(const struct frametab_header *h)
{
	return sizeof(*h) + (uint64_t)h->n_rules * sizeof(struct frametab_rule) +
	       ((uint64_t)h->n_pages + 1) * 4 + (uint64_t)h->n_rows * 4 + (uint64_t)h->n_saves * 2;
}

/* The header is looked at once more, because the blob is the recorder's and offsets are made of
 * it. */
static bool kwalk_table_is_ours(const struct frametab_header *h)
{
	return h->magic == FRAMETAB_MAGIC && h->version == FRAMETAB_VERSION &&
	       h->machine == FRAMETAB_X86_64 && kwalk_table_bytes(h) <= h->size;
}

/* The entry of a table, made if `make` is set; NULL: there is none, it is no table for this
 * machine, or memory is out. */
static struct room_object *room_object(struct kwalk_room *r, const void *blob, bool make)
{
	struct frametab_header header;
	struct room_object *o;
	uint64_t known, *slot;

	if (map_get(&r->objects, (uintptr_t)blob, &known))
		return (struct room_object *)(uintptr_t)known;
	if (!make)
		return NULL;
	memcpy(&header, blob, sizeof(header));
	if (!kwalk_table_is_ours(&header))
		return NULL;
	o = calloc(1, sizeof(*o));
	slot = o ? map_slot(&r->objects, (uintptr_t)blob, NULL) : NULL;
	if (!slot) {
		free(o);
		return NULL;
	}
	o->blob = blob;
	o->header = header;
	*slot = (uintptr_t)o;
	return o;
}

/* The table's own bytes are not needed now: the programs have their copy, or no walk uses it. */
static void room_rests(struct kwalk *l, const struct room_object *o)
{
	if (l->opts.rests)
		l->opts.rests(l->opts.ctx, o->blob);
}

/* By its number the programs remember rules that they found in a table. Memory is used again,
 * numbers are not: what was remembered of a table that left is never taken for another's. */
static uint32_t room_number(struct kwalk *l, const struct frametab_header *h)
{
	if (!l->arena.remembers || l->room.entered >= KWALK_NUMBER_MOST ||
	    (uint64_t)h->n_pages * FRAMETAB_PAGE > 1ull << KWALK_KNOWN_ADDRESS)
		return 0;
	return ++l->room.entered;
}

/* Copies it into the arena, if there is room now. */
static bool room_enter(struct kwalk *l, struct room_object *o, uint64_t now_ns)
{
	uint64_t n = kwalk_table_bytes(&o->header);

	o->offset = arena_take_table(&l->arena, n, now_ns);
	if (!o->offset)
		return false;
	memcpy(l->arena.bytes + o->offset, o->blob, n);
	room_rests(l, o);
	o->number = room_number(l, &o->header);
	l->room.n++;
	l->room.bytes += n;
	l->room.returned += o->was_out;
	o->wanted = o->was_out = false;
	return true;
}

/* Programs may be using it at this moment: its memory rests, and mappings lose it when they are
 * published. */
static void room_leave(struct kwalk *l, struct room_object *o, uint64_t now_ns)
{
	uint64_t n = kwalk_table_bytes(&o->header);

	arena_give_table(&l->arena, o->offset, n, now_ns);
	o->offset = 0;
	o->was_out = true;
	l->room.n--;
	l->room.bytes -= n;
	l->room.left++;
	kwalk_spaces_touch(&l->spaces, o->blob);
}

/* Does not make room: a table that does not fit waits until a walk needs it (room_make). */
enum room_state room_table(struct kwalk *l, const void *blob, struct kwalk_mapping *m)
{
	struct room_object *o = room_object(&l->room, blob, true);
	const struct frametab_header *h;

	if (!o)
		return ROOM_NONE;
	if (!o->offset && (o->was_out || !room_enter(l, o, kwalk_now_ns()))) {
		if (!o->was_out)
			room_rests(l, o);
		__atomic_store_n(&l->room.pressed, true, __ATOMIC_RELAXED);
		o->was_out = true;
		return ROOM_OUT;
	}
	h = &o->header;
	m->n_pages = h->n_pages;
	m->rules = o->offset + (uint32_t)sizeof(*h);
	m->index = m->rules + h->n_rules * sizeof(struct frametab_rule);
	m->rows = m->index + (h->n_pages + 1) * 4;
	m->saves = m->rows + h->n_rows * 4;
	m->flags |= o->number << KWALK_NUMBER_SHIFT;
	m->base = h->text_start; /* the caller adds where the object is */
	return ROOM_IN;
}

/* Uses matter only where memory is short (room_is_pressed). */
void room_used(struct kwalk *l, const void *blob)
{
	struct room_object *o = room_object(&l->room, blob, false);

	if (!o)
		return;
	o->used_ns = kwalk_now_ns();
	o->wanted |= !o->offset;
	l->room.wanted |= o->wanted;
}

/* The table of at least so many bytes that was not needed for longest. */
static struct room_object *room_oldest(struct kwalk_room *r, uint64_t least, uint64_t before_ns)
{
	struct room_object *oldest = NULL;
	uint64_t blob, value;
	size_t i = 0;

	while (map_next(&r->objects, &i, &blob, &value)) {
		struct room_object *o = (struct room_object *)(uintptr_t)value;

		if (o->offset && o->used_ns < before_ns && kwalk_table_bytes(&o->header) >= least &&
		    (!oldest || o->used_ns < oldest->used_ns))
			oldest = o;
	}
	return oldest;
}

/* Brings a table in that a walk needed, if there is room. If not, tables that no walk needed for
 * longest leave, and there is room when their memory has rested. */
static void room_want(struct kwalk *l, struct room_object *o, uint64_t now_ns)
{
	uint64_t need = kwalk_table_bytes(&o->header), idle_ns = now_ns - ROOM_IDLE_NS;

	if (!arena_could(&l->arena, need)) {
		o->wanted = false;
		return;
	}
	if (room_enter(l, o, now_ns)) {
		kwalk_spaces_touch(&l->spaces, o->blob);
		return;
	}
	/* What leaves now can be used when it has rested. Small pieces do not lie together, so one
	 * table that makes enough room goes before several. */
	while (arena_soon(&l->arena) < need) {
		struct room_object *old = room_oldest(&l->room, need, idle_ns);

		if (!old)
			old = room_oldest(&l->room, 0, idle_ns);
		if (!old)
			return;
		room_leave(l, old, now_ns);
	}
}

/* Looks at most every ROOM_LOOK_NS. Mappings of tables that came or went are marked for
 * publishing. */
void room_make(struct kwalk *l)
{
	uint64_t now_ns = kwalk_now_ns(), blob, value;
	size_t i = 0;

	if (!l->room.wanted || now_ns < l->room.looked_ns + ROOM_LOOK_NS)
		return;
	l->room.looked_ns = now_ns;
	l->room.wanted = false;
	while (map_next(&l->room.objects, &i, &blob, &value)) {
		struct room_object *o = (struct room_object *)(uintptr_t)value;

		/* A table that was needed only a while ago waits no longer: the room is for what is
		 * needed now. */
		if (o->wanted && o->used_ns + ROOM_IDLE_NS < now_ns)
			o->wanted = false;
		if (o->wanted)
			room_want(l, o, now_ns);
		l->room.wanted |= o->wanted;
	}
}

void room_free(struct kwalk_room *r)
{
	uint64_t blob, value;
	size_t i = 0;

	while (map_next(&r->objects, &i, &blob, &value))
		free((struct room_object *)(uintptr_t)value);
	map_free(&r->objects);
}
