// SPDX-License-Identifier: MIT
/* origin_program.c: see origin.h. Which program a task ran: of several, the one whose path sorts
 * first. Of several a task ran one after the other (exec), any would do; but it must be the same
 * one whatever the order of the records. */
#include <errno.h>
#include <string.h>

#include "profile/origin.h"

static const char *origin_path(const struct profile *p, uint32_t object)
{
	return profile_text(p, profile_object_at(p, object)->path);
}

int origin_add_program(struct profile *p, uint32_t task, uint32_t object)
{
	uint64_t *slot = map_slot(&profile_origin(p)->programs, task, NULL);

	if (!slot)
		return -ENOMEM;
	if (!*slot || strcmp(origin_path(p, object), origin_path(p, (uint32_t)*slot)) < 0)
		*slot = object;
	return 0;
}
