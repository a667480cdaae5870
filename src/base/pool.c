// SPDX-License-Identifier: MIT
// pool.c: see pool.h. Things lie in blocks, in the order of their ids. The index has 32 bits of
// each thing's hash beside its id, probed linearly at a load of at most 3/4: a thing that is
// another is mostly known by these bits, without a look at its block, and the index grows without
// hashing again.
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/pages.h"

/* The size of an element stays, so that the pool can be used again. */
void pool_free(struct pool *p)
{
	for (size_t i = 0; i * POOL_BLOCK < p->n; i++)
		free(p->blocks[i]);
	free(p->blocks);
	free(p->index);
	*p = (struct pool){ .size = p->size };
}

/* Where in the index a thing with this hash is, or belongs. */
static size_t pool_find(const struct pool *p, const void *thing, uint32_t hash)
{
	size_t i = hash & (p->capacity - 1);

	while (p->index[i] && (p->index[i] >> 32 != hash ||
	                       memcmp(pool_at(p, (uint32_t)p->index[i]), thing, p->size) != 0))
		i = (i + 1) & (p->capacity - 1);
	return i;
}

/* Doubles the index. -1: out of memory. */
static int pool_grow_index(struct pool *p)
{
	size_t capacity = p->capacity ? p->capacity * 2 : 64;
	uint64_t *index = pages_zeroed(capacity, sizeof(*index));

	if (!index)
		return -1;
	for (size_t old = 0; old < p->capacity; old++) {
		size_t i = (p->index[old] >> 32) & (capacity - 1);

		if (!p->index[old])
			continue;
		while (index[i])
			i = (i + 1) & (capacity - 1);
		index[i] = p->index[old];
	}
	if (!p->capacity)
		p->secret = map_secret();
	pages_free(p->index, p->capacity * sizeof(*p->index));
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
	if (!(n & (n - 1))) { /* 0, 1, 2, 4 ...: doubled; no capacity is kept */
		blocks = realloc(p->blocks, (n ? 2 * n : 1) * sizeof(*blocks));
		if (!blocks)
			return -1;
		p->blocks = blocks;
	}
	p->blocks[n] = malloc((size_t)POOL_BLOCK * p->size);
	return p->blocks[n] ? 0 : -1;
}

uint32_t pool_add(struct pool *p, const void *thing)
{
	if (p->n >= POOL_FAILED - 1 || pool_grow(p) < 0)
		return POOL_FAILED;
	memcpy(p->blocks[p->n / POOL_BLOCK] + (size_t)(p->n % POOL_BLOCK) * p->size, thing,
	       p->size);
	return ++p->n;
}

/* One probe of the index tells a thing that is known from a new one, which is copied behind the
 * last. The id, or POOL_FAILED. */
uint32_t pool_put(struct pool *p, const void *thing)
{
	uint32_t hash, id;
	size_t i;

	if (p->n >= POOL_FAILED - 1)
		return POOL_FAILED;
	if (((uint64_t)p->n + 1) * 4 > (uint64_t)p->capacity * 3 && pool_grow_index(p) < 0)
		return POOL_FAILED;
	hash = (uint32_t)map_hash_quick(thing, p->size, p->secret);
	i = pool_find(p, thing, hash);
	if (p->index[i])
		return (uint32_t)p->index[i];
	id = pool_add(p, thing);
	if (id != POOL_FAILED)
		p->index[i] = (uint64_t)hash << 32 | id;
	return id;
}
