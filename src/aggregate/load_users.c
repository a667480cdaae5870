// SPDX-License-Identifier: MIT
/* load_users.c: see load_users.h. A part is put into the tree once for each space in which it is
 * looked up, and each way in which it is read. */
#include "aggregate/load_users.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* Where the value of a user part is kept, for the space that is given, with how the part is read.
 * *is_new: it was not met before, and the value is 0. NULL: out of memory. */
static uint64_t *load_user_slot(struct load_users *users, const struct load_whose *e,
                                uint32_t space, bool *is_new)
{
	struct load_users_first *first;

	if (e->user & 1)
		return map_slot(&users->by_end[e->key->end], (uint64_t)e->user << 32 | space,
		                is_new);
	if (ARRAY_ROOM_ZEROED(&users->first, &users->capacity, (size_t)e->user / 2 + 1) < 0)
		return NULL;
	first = &users->first[e->user / 2];
	*is_new = !first->set;
	if (*is_new)
		*first = (struct load_users_first){ .space = space,
			                            .end = e->key->end,
			                            .set = true };
	if (first->space == space && first->end == e->key->end)
		return &first->value;
	return map_slot(&users->by_end[e->key->end], (uint64_t)e->user << 32 | space, is_new);
}

/* How the words of a user part are read. Addresses from stack copies carry marks. The numbers of
 * user address spaces leave these bits free, so they tell the kinds apart. */
uint32_t load_how(const struct load_whose *e, const struct callchain *sample)
{
	return (sample->state == SEAM_STITCH_STACK_COPY ? RECORDING_KERNEL : 0) |
	       (e->key->by_tables ? RECORDING_KERNEL >> 1 : 0);
}

/* The node of an entry's user part: few parts stand below many kernel parts, tasks and states. */
int load_user(struct load_descent *d, struct load_users *users, const struct load_whose *e,
              struct callchain sample, uint32_t *ret)
{
	uint32_t how = load_how(e, &sample);
	bool is_new;
	uint64_t *slot = load_user_slot(users, e, e->user_space | how, &is_new);
	int r = slot ? 0 : -ENOMEM;

	d->told = 0;
	*ret = PROFILE_ROOT;
	if (slot && !is_new) {
		*ret = (uint32_t)*slot;
		d->told = *slot & LOAD_TOLD;
	} else if (slot) {
		sample.kernel.n = 0;
		r = load_descend_user(d, e, &sample, how, LOAD_ROOT_BY_END, ret);
		*slot = *ret | d->told;
	}
	return r;
}

void load_users_free(struct load_users *users)
{
	free(users->first);
	for (size_t i = 0; i < SAMPLE_ENDS; i++)
		map_free(&users->by_end[i]);
}
