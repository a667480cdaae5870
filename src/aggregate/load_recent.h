/* SPDX-License-Identifier: MIT */
/*
 * load_recent.h: the frames of addresses that were met last, in front of the resolver's slots:
 * these are many more than a processor's cache holds. For load_descend.c only.
 *
 * Invariant: what is said of an address of an address space is what its slot says.
 */
#ifndef SEAM_AGGREGATE_LOAD_RECENT_H
#define SEAM_AGGREGATE_LOAD_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregate/load_frame.h"

/* Addresses of the user's are below it, those of the kernel that are kept so near to the end. */
#define LOAD_RECENT_ADDRESS (1ULL << 58)
#define LOAD_RECENT_KEY (LOAD_RECENT_ADDRESS * 2 - 1)

/* An address, whether it is a caller's, and above these the marks of its frame (LOAD_*). */
struct load_recent {
	uint64_t key;
	uint32_t space, frame; /* 0: none */
};

_Static_assert(LOAD_STOPS == 1ULL << 32 && LOAD_DATA == 1ULL << 33 && LOAD_TAKEN == 1ULL << 34,
               "three marks, which fit above a key");

/* Where a key is kept, in a table of 1 << bits. */
static inline size_t load_recent_hash(uint64_t key, unsigned bits)
{
	return key * 0x9e3779b97f4a7c15ULL >> (64 - bits);
}

/* Where an address is, or would be; NULL: it is not kept. Spaces of the kernel have other numbers
 * than those of processes. */
static inline struct load_recent *load_recent_at(struct load_recent *table, unsigned bits,
                                                 const struct frame_at *at, uint64_t *key)
{
	const uint64_t addr = at->user ? at->addr : at->addr + LOAD_RECENT_ADDRESS;

	if (at->guest || at->guessed || addr >= LOAD_RECENT_ADDRESS)
		return NULL;
	*key = addr << 1 | at->caller;
	return &table[load_recent_hash(*key, bits)];
}

/* Whether it is there, and its value as the resolver's slot has it. */
static inline bool load_recent_get(const struct load_recent *r, uint64_t key, uint32_t space,
                                   uint64_t *value)
{
	*value = r->frame | r->key >> 59 << 32;
	return (r->key & LOAD_RECENT_KEY) == key && r->space == space && r->frame;
}

static inline void load_recent_put(struct load_recent *r, uint64_t key, uint32_t space,
                                   uint64_t value)
{
	*r = (struct load_recent){ .key = key | value >> 32 << 59,
		                   .space = space,
		                   .frame = (uint32_t)value };
}

#endif
