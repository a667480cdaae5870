// SPDX-License-Identifier: MIT
/* cookies.c: see cookies.h. Each distinct key costs one line of 16 slots, and a line is never given
 * back before cookies_free. The lines lie in one array that moves when it grows, so callers keep a
 * slot's number (cookies_place_of) and not its address. */
#include "stitch/cookies.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

void cookies_free(struct cookies *c)
{
	map_free(&c->lines);
	free(c->line);
	*c = (struct cookies){ 0 };
}

/* Returns the slot of a cookie, 0 in it when it is new; NULL: out of memory. The pointer is valid
 * until the next call. Neighbouring cookies share a line, because the kernel counts them up. */
uint32_t *cookies_find(struct cookies *c, uint64_t cookie)
{
	uint64_t key = cookies_key(cookie), *at;
	size_t last = key % COOKIES_LAST;
	bool is_new;

	if (c->n == c->capacity) {
		size_t capacity = c->capacity ? c->capacity + c->capacity / 2 : 64;
		void *line =
		        pages_grown(c->line, c->n * sizeof(*c->line), capacity * sizeof(*c->line));

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
	/* A ring's records come in runs of one CPU: the next call finds this line without the
	 * map. */
	c->last[last].key = key;
	c->last[last].line = *at + 1;
	return &c->line[*at][cookies_place(cookie)];
}

/* For readers of a sealed index: it changes nothing, also not `last`, so threads may share it. */
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
