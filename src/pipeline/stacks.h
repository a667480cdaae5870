/* SPDX-License-Identifier: MIT */
/*
 * stacks.h: samples counted by their raw addresses: equal stacks of equal tasks in equal address
 * spaces are one entry, found by one hash and one comparison.
 *
 * Where the sample's bytes last until the reader is closed, an entry points at them; else they are
 * copied once. One thread per table.
 */
#ifndef SEAM_PIPELINE_STACKS_H
#define SEAM_PIPELINE_STACKS_H

#include <seam/stitch.h>

#include "base/arena.h"

struct stacks_key {
	const char *comm; /* one pointer per name, as proc_comm gives it */
	uint32_t event;   /* index */
	uint32_t pid, tid, cpu;
	uint32_t state;
	uint32_t user_space, kernel_space;
};

struct stacks_entry {
	struct stacks_key key;
	uint64_t hash;
	uint64_t time_ns;            /* proc_time of its first sample */
	struct seam_stitched sample; /* of its first sample: the two halves, ip and misc */
	uint64_t samples, weight;
};

struct stacks {
	struct stacks_entry *entries;
	size_t n, entries_capacity;
	uint32_t *index; /* entry + 1; 0 is free */
	size_t index_capacity;
	struct arena arena;
};

/* Zero-initialise to start. stable: the bytes last. -ENOMEM. */
int stacks_add(struct stacks *s, const struct stacks_key *key, const struct seam_stitched *sample,
               bool stable, uint64_t time_ns);
void stacks_free(struct stacks *s);

#endif
