// SPDX-License-Identifier: MIT
/*
 * intern.c: see intern.h. A table of ids probed linearly at a load of at most 1/2.
 *
 * An id is the number of a distinct string, in order of arrival. The table holds ids + 1; the
 * entries hold their strings' hashes, so that growing does not hash again, and most comparisons end
 * at the hash. Hashes are mixed with a secret of the process, because names come from files.
 */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/pages.h"

#define INTERN_LONGEST 0x3fffffffu

void intern_free(struct intern *in)
{
	arena_free(&in->arena);
	free(in->entries);
	free(in->table);
	free(in->checks);
	*in = (struct intern){ 0 };
}

/* Doubles the table of ids. The entries and their hashes stay, so no string is hashed again. -1:
 * out of memory. */
static int intern_grow_table(struct intern *in)
{
	size_t capacity = in->capacity ? in->capacity * 2 : 64;
	uint32_t *table = pages_zeroed(capacity, sizeof(*table));

	if (!table)
		return -1;
	for (size_t id = 0; id < in->n; id++) {
		size_t i = in->entries[id].hash & (capacity - 1);

		while (table[i])
			i = (i + 1) & (capacity - 1);
		table[i] = (uint32_t)id + 1;
	}
	pages_free(in->table, in->capacity * sizeof(*in->table));
	in->table = table;
	in->capacity = capacity;
	return 0;
}

/* 64 bits more of a string's hash: not 0. */
static uint64_t intern_check(const struct intern *in, const void *bytes, size_t n)
{
	const uint64_t check = map_hash_quick(bytes, n, map_mix(~in->secret));

	return check ? check : 1;
}

/* Appends a string and returns its id. */
static uint32_t intern_add(struct intern *in, const void *bytes, size_t n, uint32_t hash,
                           enum intern_way way)
{
	const char *kept = bytes;

	if (way == INTERN_FAR) {
		if (ARRAY_ROOM_ZEROED(&in->checks, &in->checks_capacity, in->n + 1) < 0)
			return INTERN_FAILED;
		in->checks[in->n] = intern_check(in, bytes, n);
	}

	if (ARRAY_ROOM(&in->entries, &in->entries_capacity, in->n + 1) < 0)
		return INTERN_FAILED;
	if (way == INTERN_COPY)
		kept = arena_string(&in->arena, bytes, n);
	if (!kept)
		return INTERN_FAILED;
	in->entries[in->n] = (struct intern_entry){ .bytes = kept,
		                                    .n = (uint32_t)n & INTERN_LONGEST,
		                                    .once = way == INTERN_ONCE,
		                                    .far = way == INTERN_FAR,
		                                    .hash = hash };
	return (uint32_t)in->n++;
}

/* A string that is there was met again. False: out of memory. */
static bool intern_again(struct intern *in, struct intern_entry *e)
{
	char *kept;

	if (!e->once)
		return true;
	kept = arena_string(&in->arena, e->bytes, e->n);
	if (!kept)
		return false;
	e->bytes = kept;
	e->once = 0;
	in->n_again++;
	return true;
}

/* Whether a string with the same hash is the same. check: its intern_check; 0: not known yet. */
static bool intern_same(const struct intern *in, const struct intern_entry *e, const void *bytes,
                        size_t n, uint64_t *check)
{
	if (e->bytes == bytes || !e->far)
		return e->bytes == bytes || !memcmp(e->bytes, bytes, n);
	if (!*check)
		*check = intern_check(in, bytes, n);
	return in->checks[e - in->entries] == *check;
}

uint64_t intern_ask(struct intern *in, const void *bytes, size_t n)
{
	uint64_t hash;

	if (!in->secret)
		in->secret = map_secret();
	hash = map_hash_quick(bytes, n, in->secret);
	if (in->capacity)
		__builtin_prefetch(&in->table[(uint32_t)hash & (in->capacity - 1)]);
	return hash;
}

void intern_ask_again(const struct intern *in, uint64_t hash)
{
	uint32_t id = in->capacity ? in->table[(uint32_t)hash & (in->capacity - 1)] : 0;

	if (id)
		__builtin_prefetch(&in->entries[id - 1]);
}

/* The id of a string, added when it is new; INTERN_FAILED: out of memory or of ids. The first id,
 * 0, is always the empty string. */
uint32_t intern_put_asked(struct intern *in, const void *bytes, size_t n, uint64_t asked,
                          enum intern_way way)
{
	const uint32_t hash = (uint32_t)asked;
	uint64_t check = 0;
	uint32_t id;
	size_t i;

	if (!in->n && n && intern_bytes(in, "", 0) == INTERN_FAILED)
		return INTERN_FAILED;
	if (n > INTERN_LONGEST || in->n >= UINT32_MAX - 2 ||
	    (in->n * 2 >= in->capacity && intern_grow_table(in) < 0))
		return INTERN_FAILED;
	for (i = hash & (in->capacity - 1); in->table[i]; i = (i + 1) & (in->capacity - 1)) {
		struct intern_entry *e = &in->entries[in->table[i] - 1];

		if (e->hash == hash && e->n == n && intern_same(in, e, bytes, n, &check))
			return intern_again(in, e) ? in->table[i] - 1 : INTERN_FAILED;
	}
	id = intern_add(in, bytes, n, hash, way);
	if (id != INTERN_FAILED)
		in->table[i] = id + 1;
	return id;
}

uint32_t intern_put(struct intern *in, const void *bytes, size_t n, enum intern_way way)
{
	return intern_put_asked(in, bytes, n, intern_ask(in, bytes, n), way);
}

/* None of the bytes may be at NULL. */
uint32_t intern_bytes(struct intern *in, const void *bytes, size_t n)
{
	return intern_put(in, n ? bytes : "", n, INTERN_COPY);
}

uint32_t intern_text(struct intern *in, const char *text)
{
	return intern_bytes(in, text, strlen(text));
}

/* "" for an id that was not given out. */
const char *intern_get(const struct intern *in, uint32_t id)
{
	return id < in->n ? in->entries[id].bytes : "";
}

size_t intern_length(const struct intern *in, uint32_t id)
{
	return id < in->n ? in->entries[id].n : 0;
}

size_t intern_held(const struct intern *in)
{
	return in->arena.bytes + in->entries_capacity * sizeof(*in->entries) +
	       in->capacity * sizeof(*in->table) + in->checks_capacity * sizeof(*in->checks);
}
