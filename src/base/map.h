/* SPDX-License-Identifier: MIT */
/*
 * map.h: u64 -> u64, open addressing. Where a key goes depends on a secret of this process, so that
 * a hostile file cannot choose keys that collide. Zero-initialise to start. Any key and any value
 * may be stored.
 */
#ifndef SEAM_BASE_MAP_H
#define SEAM_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key, value;
};

struct map {
	struct map_slot *slots;
	unsigned char *used; /* 0 free, 1 used */
	size_t n;            /* keys */
	size_t capacity;     /* power of two, or 0 */
	uint64_t secret;     /* of this process */
};

void map_free(struct map *m);
/* Sets key to value; -ENOMEM. */
int map_put(struct map *m, uint64_t key, uint64_t value);
/* True and *ret when key is there; ret may be NULL. */
bool map_get(const struct map *m, uint64_t key, uint64_t *ret);
/* The slot of key, made with value 0 when new (*is_new tells, may be NULL); NULL: out of memory.
 * Lives until the next put. */
uint64_t *map_slot(struct map *m, uint64_t key, bool *is_new);
bool map_del(struct map *m, uint64_t key);
/* Walks: start with *i = 0; true and a pair until the end; value may be NULL. Order is
 * arbitrary. */
bool map_next(const struct map *m, size_t *i, uint64_t *key, uint64_t *value);
size_t map_bytes(const struct map *m);

/* A 64-bit mix; also for callers that hash their own things. */
uint64_t map_mix(uint64_t x);
uint64_t map_hash_bytes(const void *bytes, size_t n, uint64_t seed);
/* The secret that map mixes its keys with; never 0. */
uint64_t map_secret(void);
/* Twice as fast as map_hash_bytes on short keys, for tables in memory: where a key goes depends on
 * map_secret(), which the caller keeps and gives. Never into a file. */
uint64_t map_hash_quick(const void *bytes, size_t n, uint64_t secret);

/* The same of two words. */
static inline uint64_t map_hash_pair(uint64_t a, uint64_t b, uint64_t secret)
{
	__extension__ typedef unsigned __int128 wide;
	const wide product = (wide)(a ^ secret) * (b ^ (secret << 32 | secret >> 32));

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
