// SPDX-License-Identifier: MIT
// callees.c: see callees.h. All lists lie in one array: one that is full moves to its end, with
// twice the room.
#include "store/stacks/callees.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Moves a list to where it has twice the room. -ENOMEM. */
static int callees_move(struct callees *c, struct callees_of *of)
{
	const uint32_t room = of->room ? 2 * of->room : 2;

	if (ARRAY_ROOM(&c->frames, &c->capacity, c->n + room) < 0)
		return -ENOMEM;
	if (of->n)
		memcpy(c->frames + c->n, c->frames + of->at, of->n * sizeof(*c->frames));
	of->at = (uint32_t)c->n;
	of->room = room;
	c->n += room;
	return 0;
}

int callees_add(struct callees *c, uint32_t caller, uint32_t frame)
{
	struct callees_of *of;

	if (ARRAY_ROOM_ZEROED(&c->of, &c->n_of, (size_t)caller + 1) < 0)
		return -ENOMEM;
	of = &c->of[caller];
	if (of->n == of->room && callees_move(c, of) < 0)
		return -ENOMEM;
	c->frames[of->at + of->n++] = frame;
	return 0;
}

int callees_place(struct callees *c, uint32_t caller, uint32_t frame, uint32_t *place, bool *is_new)
{
	uint64_t *slot = map_slot(&c->places, (uint64_t)caller << 32 | frame, is_new);

	if (!slot)
		return -ENOMEM;
	if (*is_new) {
		*slot = callees_n(c, caller);
		if (callees_add(c, caller, frame) < 0)
			return -ENOMEM;
	}
	*place = (uint32_t)*slot;
	return 0;
}

void callees_free(struct callees *c)
{
	free(c->of);
	free(c->frames);
	map_free(&c->places);
	*c = (struct callees){ 0 };
}
