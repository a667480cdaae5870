// SPDX-License-Identifier: MIT
/*
 * map.c: see map.h. Linear probing at a load of at most 5/8; doubles, so that n puts cost O(n).
 *
 * Two hashes of bytes: map_hash_bytes is the same in every run and may stand in files;
 * map_hash_quick is faster and takes a secret, for tables in memory. Keys of a map are mixed with
 * the secret as well.
 *
 * Invariant: between a key's home and its slot no slot is free (a deletion moves its successors
 * back).
 */
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/pages.h"

/* Each bit of x changes about half of the bits of the result. */
uint64_t map_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL; /* an odd constant with good avalanche in this shift-multiply
	                               form */
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	return x;
}

/* From so many bytes on the lanes are worth their setup. */
#define LONG 128u

/* Multiplication has a latency: four lanes hide it, for records with copies of stacks. Takes n / 32
 * * 32 bytes. */
static uint64_t map_hash_long(const unsigned char **at, size_t n, uint64_t h)
{
	const unsigned char *p = *at, *end = p + n / 32 * 32;
	uint64_t lane[4] = { h, h ^ 0x9e3779b97f4a7c15ULL, ~h, h + 0xbf58476d1ce4e5b9ULL };

	for (; p < end; p += 32) {
		uint64_t words[4];

		memcpy(words, p, 32);
		for (unsigned i = 0; i < 4; i++) {
			lane[i] = (lane[i] ^ words[i]) * 0xd6e8feb86659fd93ULL;
			lane[i] ^= lane[i] >> 32;
		}
	}
	*at = p;
	for (unsigned i = 1; i < 4; i++)
		lane[0] = map_mix(lane[0] ^ lane[i]);
	return lane[0];
}

/* The same on every machine of one byte order, so it may stand in files. It is no defence against
 * keys that are chosen to collide. */
uint64_t map_hash_bytes(const void *bytes, size_t n, uint64_t seed)
{
	const unsigned char *p = bytes;
	uint64_t h = seed ^ (n * 0x9e3779b97f4a7c15ULL), word;

	if (n >= LONG) {
		h = map_hash_long(&p, n, h);
		n %= 32;
	}
	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = (h ^ word) * 0xd6e8feb86659fd93ULL;
		h ^= h >> 32;
	}
	word = 0;
	if (n)
		memcpy(&word, p, n);
	return map_mix(h ^ word);
}

__extension__ typedef unsigned __int128 map_wide;

/* Both halves of a product of 64 by 64 bits. */
static uint64_t map_fold(uint64_t a, uint64_t b)
{
	map_wide product = (map_wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The secret keeps an attacker from choosing keys that collide. */
uint64_t map_hash_quick(const void *bytes, size_t n, uint64_t secret)
{
	const unsigned char *p = bytes;
	uint64_t h = secret ^ (n * 0x9e3779b97f4a7c15ULL), words[4];

	if (n >= LONG) { /* two lanes: else each step waits for the product of the one before */
		const uint64_t other = secret ^ 0xbf58476d1ce4e5b9ULL;
		uint64_t g = h;

		for (; n > 32; n -= 32, p += 32) {
			memcpy(words, p, 32);
			h = map_fold(words[0] ^ secret, words[1] ^ h);
			g = map_fold(words[2] ^ other, words[3] ^ g);
		}
		h ^= g;
	}
	for (; n > 16; n -= 16, p += 16) {
		memcpy(words, p, 16);
		h = map_fold(words[0] ^ secret, words[1] ^ h);
	}
	words[0] = words[1] = 0;
	if (n)
		memcpy(words, p, n);
	h = map_fold(words[0] ^ secret, words[1] ^ h);
	return map_fold(h ^ 0x9e3779b97f4a7c15ULL, 0xd6e8feb86659fd93ULL);
}

void map_free(struct map *m)
{
	pages_free(m->slots, m->capacity * sizeof(*m->slots));
	pages_free(m->used, m->capacity);
	*m = (struct map){ 0 };
}

/* Where the search for a key begins. */
static size_t map_home(const struct map *m, uint64_t key)
{
	return map_mix(key ^ m->secret) & (m->capacity - 1);
}

/* The slot of key, or the free one where it would go. */
static size_t map_find(const struct map *m, uint64_t key, bool *found)
{
	size_t i = map_home(m, key);

	while (m->used[i] && m->slots[i].key != key)
		i = (i + 1) & (m->capacity - 1);
	*found = m->used[i];
	return i;
}

uint64_t map_secret(void)
{
	const void *random =
	        (const void *)getauxval(AT_RANDOM); /* 16 bytes that the kernel chose at exec */
	uint64_t secret = 0;

	if (random)
		memcpy(&secret, random, sizeof(secret));
	return secret | 1;
}

/* Moves all entries into a table of twice the size. -ENOMEM, and the map is as it was. */
static int map_grow(struct map *m)
{
	struct map bigger = { .n = m->n, .capacity = m->capacity ? m->capacity * 2 : 16 };
	bool found;

	bigger.secret = m->capacity ? m->secret : map_secret();
	bigger.slots = pages_zeroed(bigger.capacity, sizeof(*bigger.slots));
	bigger.used = calloc(bigger.capacity, 1);
	if (!bigger.slots || !bigger.used) {
		free(bigger.slots);
		free(bigger.used);
		return -ENOMEM;
	}
	for (size_t i = 0; i < m->capacity; i++) {
		if (!m->used[i])
			continue;
		size_t at = map_find(&bigger, m->slots[i].key, &found);

		bigger.slots[at] = m->slots[i];
		bigger.used[at] = 1;
	}
	map_free(m);
	*m = bigger;
	return 0;
}

uint64_t *map_slot(struct map *m, uint64_t key, bool *is_new)
{
	bool found = false;
	size_t i;

	if ((m->n + 1) * 8 > m->capacity * 5 && map_grow(m) < 0)
		return NULL;
	i = map_find(m, key, &found);
	if (is_new)
		*is_new = !found;
	if (!found) {
		m->used[i] = 1;
		m->slots[i] = (struct map_slot){ .key = key };
		m->n++;
	}
	return &m->slots[i].value;
}

int map_put(struct map *m, uint64_t key, uint64_t value)
{
	uint64_t *slot = map_slot(m, key, NULL);

	if (!slot)
		return -ENOMEM;
	*slot = value;
	return 0;
}

/* ret may be NULL. */
bool map_get(const struct map *m, uint64_t key, uint64_t *ret)
{
	bool found;
	size_t i;

	if (!m->n)
		return false;
	i = map_find(m, key, &found);
	if (found && ret)
		*ret = m->slots[i].value;
	return found;
}

/* Removes a key; false: it was not there. Entries may move, so no pointer from map_slot stays
 * valid. */
bool map_del(struct map *m, uint64_t key)
{
	size_t mask = m->capacity - 1, hole, i;
	bool found;

	if (!m->n)
		return false;
	hole = map_find(m, key, &found);
	if (!found)
		return false;
	for (i = (hole + 1) & mask; m->used[i]; i = (i + 1) & mask) {
		/* moves back into the hole unless its home lies behind it */
		if (((i - map_home(m, m->slots[i].key)) & mask) < ((i - hole) & mask))
			continue;
		m->slots[hole] = m->slots[i];
		hole = i;
	}
	m->used[hole] = 0;
	m->n--;
	return true;
}

/* The caller begins with *i = 0 and must not change the map between two calls. */
bool map_next(const struct map *m, size_t *i, uint64_t *key, uint64_t *value)
{
	for (; *i < m->capacity; (*i)++) {
		if (!m->used[*i])
			continue;
		*key = m->slots[*i].key;
		if (value)
			*value = m->slots[*i].value;
		(*i)++;
		return true;
	}
	return false;
}

size_t map_bytes(const struct map *m)
{
	return m->capacity * (sizeof(*m->slots) + 1);
}
