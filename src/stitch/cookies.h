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
/*
 * Little endian: bits 0-31 CPU + 1, bit 32 always 1, bits 33-63 count. (line key, place) names each
 * u64 once: the place is bits 33-36, the key is all others.
 */
static inline uint64_t cookies_key(uint64_t cookie)
{
	return cookie & ~(0xfULL << 33);
}

static inline unsigned cookies_place(uint64_t cookie)
{
	return (cookie >> 33) & 0xf;
}

uint32_t *cookies_find(struct cookies *c, uint64_t cookie); /* for cookies_slot */
/* The value of a cookie, 0 when new; NULL: out of memory. Lives until the next call. */
static inline uint32_t *cookies_slot(struct cookies *c, uint64_t cookie)
{
	uint64_t key = cookies_key(cookie);
	size_t last = key % COOKIES_LAST;

	if (c->last[last].line && c->last[last].key == key)
		return &c->line[c->last[last].line - 1][cookies_place(cookie)];
	return cookies_find(c, cookie);
}
/* 0 when it is not there. */
uint32_t cookies_get(const struct cookies *c, uint64_t cookie);
/* The place of a slot among all, by which its value is found without a search. */
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
