/* SPDX-License-Identifier: MIT */
/*
 * cookies.h: cookie -> u32, for millions of them. Zero-initialise to start.
 *
 * A cookie is a CPU and that CPU's counter, so those of one time are neighbours: sixteen successive
 * cookies of a CPU share one cache line, and only the lines are found by hash. That is why the time
 * per cookie does not grow with their number. Any u64 is a valid cookie; those that are not built
 * like that only cost a line each.
 */
#ifndef SEAM_STITCH_COOKIES_H
#define SEAM_STITCH_COOKIES_H

#include "base/map.h"

#define COOKIES_LINE 16u
#define COOKIES_LAST 16u

struct cookies {
	struct map lines; /* cookie without the low bits of its counter -> line */
	uint32_t (*line)[COOKIES_LINE];
	size_t n, capacity;
	struct {
		uint64_t key;
		size_t line;  /* + 1; 0: none */
	} last[COOKIES_LAST]; /* by the low bits of the CPU: a ring's records come in runs */
};

void cookies_free(struct cookies *c);
/* The value of a cookie, 0 when new; NULL: out of memory. Lives until the next call. */
uint32_t *cookies_slot(struct cookies *c, uint64_t cookie);
/* 0 when it is not there. */
uint32_t cookies_get(const struct cookies *c, uint64_t cookie);
/* Where a slot is among all, and the value there: no search. */
static inline uint64_t cookies_place_of(const struct cookies *c, const uint32_t *slot)
{
	return (uint64_t)(slot - c->line[0]);
}

static inline uint32_t cookies_at(const struct cookies *c, uint64_t place)
{
	return c->line[place / COOKIES_LINE][place % COOKIES_LINE];
}
size_t cookies_bytes(const struct cookies *c);

#endif
