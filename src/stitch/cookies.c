// SPDX-License-Identifier: MIT
/* cookies.c: see cookies.h. */
#include "stitch/cookies.h"

#include <stdlib.h>
#include <string.h>

/*
 * Little endian: bits 0-31 CPU + 1, bit 32 always 1, bits 33-63 count. (line key, place) names each
 * u64 once: the place is bits 33-36, the key is all others.
 */
static uint64_t cookies_key(uint64_t cookie)
{
	return cookie & ~(0xfULL << 33);
}

static unsigned cookies_place(uint64_t cookie)
{
	return (cookie >> 33) & 0xf;
}

void cookies_free(struct cookies *c)
{
	map_free(&c->lines);
	free(c->line);
	*c = (struct cookies){ 0 };
}

uint32_t *cookies_slot(struct cookies *c, uint64_t cookie)
{
	uint64_t key = cookies_key(cookie), *at;
	size_t last = key % COOKIES_LAST;
	bool is_new;

	if (c->last[last].line && c->last[last].key == key)
		return &c->line[c->last[last].line - 1][cookies_place(cookie)];
	if (c->n == c->capacity) {
		size_t capacity = c->capacity ? c->capacity + c->capacity / 2 : 64;
		void *line = realloc(c->line, capacity * sizeof(*c->line));

		if (!line)
			return NULL;
		c->line = line;
		c->capacity = capacity;
	}
	at = map_slot(&c->lines, key, &is_new);
	if (!at)
		return NULL;
	if (is_new) {
		memset(c->line[c->n], 0, sizeof(*c->line));
		*at = c->n++;
	}
	c->last[last].key = key;
	c->last[last].line = *at + 1;
	return &c->line[*at][cookies_place(cookie)];
}

uint32_t cookies_get(const struct cookies *c, uint64_t cookie)
{
	uint64_t at;

	if (!map_get(&c->lines, cookies_key(cookie), &at))
		return 0;
	return c->line[at][cookies_place(cookie)];
}

size_t cookies_bytes(const struct cookies *c)
{
	return map_bytes(&c->lines) + c->capacity * sizeof(*c->line);
}
