// SPDX-License-Identifier: MIT
/*
 * load_frame.c: see load_frame.h. Each distinct address of an address space comes here once,
 * however many stacks hold it.
 *
 * Invariant: a frame whose name is not sure has a mark in its name, wherever it is shown; what
 * nothing is known of has no name.
 */
#include "aggregate/load_frame.h"

#include <errno.h>

#include "profile/nameless.h"
#include "profile/origin.h"
#include "samples/uretprobe.h"

/* Notes where the code of an object is mapped (profile/origin.h), by the mapping of one of its
 * places. -ENOMEM. */
static int load_frame_code(struct load_namer *n, uint32_t object, const struct place *place,
                           uint64_t addr)
{
	const struct proc_mapping *m = place->mapping;
	uint64_t moved = addr - place->address;
	bool in_file = m->object->kind == PROC_KIND_FILE || m->object->kind == PROC_KIND_KERNEL;
	const struct origin_code code = { .start = m->start - moved,
		                          .limit = m->end - moved,
		                          .offset = in_file ? m->pgoff : 0 };

	return origin_add_code(profile_origin(n->profile), object, &code);
}

/* Makes it if it was not met before, and notes its code each time: its places may lie in several
 * mappings. */
uint32_t load_frame_object(struct load_namer *n, const struct place *place, uint64_t addr)
{
	char hex[IMAGE_BUILD_ID_HEX];
	const struct symbol_key *key;
	uint64_t *slot;
	bool is_new;
	uint32_t id;

	if (!place->object)
		return 0;
	slot = map_slot(&n->objects, (uintptr_t)place->object, &is_new);
	if (!slot)
		return PROFILE_FAILED;
	if (is_new) {
		key = symbol_object_key(place->object);
		*slot = profile_object(n->profile, symbol_object_name(place->object),
		                       key->build_id.size ? image_build_id_hex(&key->build_id, hex)
		                                          : NULL);
	}
	id = (uint32_t)*slot;
	return id == PROFILE_FAILED || load_frame_code(n, id, place, addr) < 0 ? PROFILE_FAILED
	                                                                       : id;
}

/* Finds the name of a frame; *ret 0: nothing is known of it. A guess is never shown as if it were
 * sure: the mark is part of the name, wherever it is shown. -ENOMEM. */
static int load_frame_name(struct load_namer *n, const struct frame_at *at, struct place *place,
                           uint32_t *ret)
{
	const char *name = place->symbol.name;
	int r = 0;

	if (!name && place->object)
		r = symbol_outline(place->object, &place->symbol);
	if (r < 0 || (!at->guessed && !name && !r))
		return r;
	buf_clear(&n->name);
	if (at->guessed)
		buf_put_text(&n->name, FRAME_GUESS);
	if (r > 0)
		nameless_put(&n->name, symbol_object_short_name(place->object),
		             place->symbol.start);
	else if (at->guessed)
		buf_put_text(&n->name, name ? name : SYMBOL_UNKNOWN);
	if (at->guessed || !name)
		name = buf_text(&n->name);
	*ret = n->name.failed ? PROFILE_FAILED : profile_string(n->profile, name);
	return *ret == PROFILE_FAILED ? -ENOMEM : 0;
}

/* A guest's address has no name here: its mappings are not this machine's. */
int load_frame_new(struct load_namer *n, const struct frame_at *at, uint32_t space,
                   uint64_t time_ns, uint64_t *ret)
{
	struct profile_frame f = { .address = at->addr };
	struct place place = { 0 };
	bool functions;
	uint32_t id;
	int r = 0;

	if (!at->guest)
		r = resolver_find(n->resolver, space, time_ns, at->addr, at->caller, &place);
	if (r < 0)
		return r;
	f.object = load_frame_object(n, &place, at->addr);
	if (f.object == PROFILE_FAILED || load_frame_name(n, at, &place, &f.symbol) < 0)
		return -ENOMEM;
	if (place.mapping) {
		f.address = place.address;
		f.kind = place.kernel ? PROFILE_KERNEL : PROFILE_USER;
	} else if (!at->user && !at->guest) {
		f.kind = PROFILE_KERNEL;
	}
	r = at->guessed ? 0 : load_lines_mark(&n->lines, &place, &f);
	if (r < 0)
		return -ENOMEM;
	n->place = place;
	functions = n->opts->functions && !r && (!n->opts->starts || (f.symbol && !at->guessed));
	n->by_function = functions && !at->guessed;
	if (functions)
		f.address = n->opts->starts ? place.symbol.start : 0;
	id = profile_frame(n->profile, &f);
	if (id == PROFILE_FAILED || (!at->guessed && load_lines_note(&n->lines, id, &place) < 0))
		return -ENOMEM;
	*ret = id | (place.stops ? LOAD_STOPS : 0) |
	       (at->user && uretprobe_took(place.mapping) ? LOAD_TAKEN : 0) |
	       (resolver_is_data(n->resolver, space, at) ? LOAD_DATA : 0);
	return place.symbol.name ? 0 : load_unnamed_note(&n->unnamed, id, f.object, &place);
}
