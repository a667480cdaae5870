// SPDX-License-Identifier: MIT
// pool.c: see pool.h. Things lie in blocks, in the order of their ids; the index holds ids alone,
// probed linearly at a load of at most 3/4, so that a thing costs little more than its own size.
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

void pool_free(struct pool *p)
{
	for (size_t i = 0; i * POOL_BLOCK < p->n; i++)
		free(p->blocks[i]);
	free(p->blocks);
	free(p->index);
	*p = (struct pool){ .size = p->size };
}

/* Where in the index a thing is, or belongs. */
static size_t pool_find(const struct pool *p, const void *thing)
{
	size_t i = map_hash_quick(thing, p->size, p->secret) & (p->capacity - 1);

	while (p->index[i] && memcmp(pool_at(p, p->index[i]), thing, p->size))
		i = (i + 1) & (p->capacity - 1);
	return i;
}

/* Doubles the index by hashing every thing again, because hashes are not kept. -1: out of
 * memory. */
static int pool_grow_index(struct pool *p)
{
	size_t capacity = p->capacity ? p->capacity * 2 : 64;
	uint32_t *index = calloc(capacity, sizeof(*index));

	if (!index)
		return -1;
	p->secret = map_secret();
	for (uint32_t id = 1; id <= p->n; id++) {
		size_t i = map_hash_quick(pool_at(p, id), p->size, p->secret) & (capacity - 1);

		while (index[i])
			i = (i + 1) & (capacity - 1);
		index[i] = id;
	}
	free(p->index);
	p->index = index;
	p->capacity = capacity;
	return 0;
}

/* Room for one thing more behind the last. */
static int pool_grow(struct pool *p)
{
	size_t n = p->n / POOL_BLOCK;
	unsigned char **blocks;

	if (p->n % POOL_BLOCK)
		return 0;
	if (!(n & (n - 1))) { /* 0, 1, 2, 4 ...: doubled */
		blocks = realloc(p->blocks, (n ? 2 * n : 1) * sizeof(*blocks));
		if (!blocks)
			return -1;
		p->blocks = blocks;
	}
	p->blocks[n] = malloc((size_t)POOL_BLOCK * p->size);
	return p->blocks[n] ? 0 : -1;
}

uint32_t pool_put(struct pool *p, const void *thing)
{
	size_t i;

	if (p->n >= POOL_FAILED - 1)
		return POOL_FAILED;
	if (((uint64_t)p->n + 1) * 4 > (uint64_t)p->capacity * 3 && pool_grow_index(p) < 0)
		return POOL_FAILED;
	i = pool_find(p, thing);
	if (p->index[i])
		return p->index[i];
	if (pool_grow(p) < 0)
		return POOL_FAILED;
	memcpy(p->blocks[p->n / POOL_BLOCK] + (size_t)(p->n % POOL_BLOCK) * p->size, thing,
	       p->size);
	return p->index[i] = ++p->n;
}
