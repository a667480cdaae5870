/* SPDX-License-Identifier: MIT */
/*
 * room.h: memory that is taken for a moment, in a program that has a limit. Who is about to take
 * much asks first, and does without if there is no room now.
 */
#ifndef SEAM_BASE_ROOM_H
#define SEAM_BASE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct room {
	/* Whether so many bytes may be taken now. Called from the thread that takes them. NULL: as
	 * many as there are. */
	bool (*has)(void *ctx, uint64_t bytes);
	void *ctx;
};

static inline bool room_has(const struct room *r, uint64_t bytes)
{
	return !r->has || r->has(r->ctx, bytes);
}

#endif
