// SPDX-License-Identifier: MIT
// map.c: see map.h. Linear probing at a load of at most 5/8; doubles, so that n puts cost O(n).
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	FREE,
	USED,
	DELETED
};

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

uint64_t map_hash_bytes(const void *bytes, size_t n, uint64_t seed)
{
	const unsigned char *p = bytes;
	uint64_t h = seed ^ (n * 0x9e3779b97f4a7c15ULL), word;

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

void map_free(struct map *m)
{
	free(m->slots);
	free(m->used);
	*m = (struct map){ 0 };
}

static size_t map_find(const struct map *m, uint64_t key, bool *found)
{
	size_t mask = m->capacity - 1, i = map_mix(key) & mask, first_deleted = SIZE_MAX;

	for (;; i = (i + 1) & mask) {
		if (m->used[i] == FREE) {
			*found = false;
			return first_deleted != SIZE_MAX ? first_deleted : i;
		}
		if (m->used[i] == DELETED) {
			if (first_deleted == SIZE_MAX)
				first_deleted = i;
		} else if (m->slots[i].key == key) {
			*found = true;
			return i;
		}
	}
}

static int map_grow(struct map *m)
{
	struct map old = *m, bigger = { 0 };
	bool found;

	bigger.capacity =
	        old.capacity && old.n * 2 < old.capacity ? old.capacity : old.capacity * 2;
	if (!bigger.capacity)
		bigger.capacity = 16;
	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	bigger.used = calloc(bigger.capacity, 1);
	if (!bigger.slots || !bigger.used) {
		free(bigger.slots);
		free(bigger.used);
		return -ENOMEM;
	}
	for (size_t i = 0; i < old.capacity; i++) {
		if (old.used[i] != USED)
			continue;
		size_t at = map_find(&bigger, old.slots[i].key, &found);

		bigger.slots[at] = old.slots[i];
		bigger.used[at] = USED;
		bigger.n++;
	}
	bigger.filled = bigger.n;
	map_free(&old);
	*m = bigger;
	return 0;
}

uint64_t *map_slot(struct map *m, uint64_t key, bool *is_new)
{
	bool found = false;
	size_t i;

	if ((m->filled + 1) * 8 > m->capacity * 5 && map_grow(m) < 0)
		return NULL;
	i = map_find(m, key, &found);
	if (is_new)
		*is_new = !found;
	if (!found) {
		if (m->used[i] == FREE)
			m->filled++;
		m->used[i] = USED;
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

bool map_del(struct map *m, uint64_t key)
{
	bool found;
	size_t i;

	if (!m->n)
		return false;
	i = map_find(m, key, &found);
	if (!found)
		return false;
	m->used[i] = DELETED;
	m->n--;
	return true;
}

bool map_next(const struct map *m, size_t *i, uint64_t *key, uint64_t *value)
{
	for (; *i < m->capacity; (*i)++) {
		if (m->used[*i] != USED)
			continue;
		*key = m->slots[*i].key;
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
