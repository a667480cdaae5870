/* SPDX-License-Identifier: MIT */
/*
 * intern.h: byte strings stored once, named by a dense id (0, 1, 2 ...). Id 0 is always the empty
 * string. Pointers live until intern_free. Zero-initialise to start.
 */
#ifndef SEAM_BASE_INTERN_H
#define SEAM_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct intern_entry {
	const char *bytes; /* NUL-terminated, unless they are the caller's */
	uint32_t n : 30;
	uint32_t once : 1; /* INTERN_ONCE, and not met a second time */
	uint32_t far : 1;  /* INTERN_FAR */
	uint32_t hash;
};

struct intern {
	struct arena arena;
	struct intern_entry *entries;
	uint32_t *table; /* id + 1, 0 is free */
	size_t n, entries_capacity, capacity;
	uint64_t secret;  /* of this process: where a string goes */
	uint64_t *checks; /* by id: more bits of the hash, of INTERN_FAR */
	size_t checks_capacity;
	size_t n_again; /* strings that were copied when they were met again */
};

/* Who keeps the bytes of a new string. */
enum intern_way {
	INTERN_COPY,    /* the pool */
	INTERN_LASTING, /* the caller: they live as long as the pool */
	/* the same until they are met again, when they are copied: where to look at them often
	 * would cost memory (perfdata/window.h) */
	INTERN_ONCE,
	/* the caller, and they are not looked at again: they are those of another string if both
	 * are as long and have the same 96 bits of hashes that depend on secrets of this process */
	INTERN_FAR,
};

#define INTERN_FAILED UINT32_MAX /* out of memory, a string of 1 GiB, or too many */

/* Whether to look at a string that is there costs memory: it is in the caller's far bytes. */
static inline bool intern_is_far(const struct intern *in, uint32_t id)
{
	return in->entries[id].once || in->entries[id].far;
}

void intern_free(struct intern *in);
uint32_t intern_bytes(struct intern *in, const void *bytes, size_t n);
uint32_t intern_put(struct intern *in, const void *bytes, size_t n, enum intern_way way);
/*
 * The same in steps, for callers that have several strings at hand: all of them are asked for
 * before the first is put, so that their memory arrives meanwhile. What intern_ask returns is given
 * to the other two; intern_ask_again is for when some time has gone by.
 */
uint64_t intern_ask(struct intern *in, const void *bytes, size_t n);
void intern_ask_again(const struct intern *in, uint64_t asked);
uint32_t intern_put_asked(struct intern *in, const void *bytes, size_t n, uint64_t asked,
                          enum intern_way way);
uint32_t intern_text(struct intern *in, const char *text);
const char *intern_get(const struct intern *in, uint32_t id); /* "" for an id that is not there */
size_t intern_length(const struct intern *in, uint32_t id);
size_t intern_held(const struct intern *in); /* bytes of memory */

#endif
