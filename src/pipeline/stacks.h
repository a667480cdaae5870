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
	uint32_t slice;
	uint32_t reserved; /* 0 */
};

/* Small, because most samples touch one at random: what else a sample has is not kept. */
struct stacks_entry {
	struct stacks_key key;
	uint64_t hash;
	uint64_t samples, weight;
	struct seam_u64s kernel, user;
	const struct seam_event *event;
	uint64_t ip;      /* of its first sample; of all when there is no chain */
	uint64_t time_ns; /* proc_time of its first sample */
	uint16_t misc;
};

/* One sample of an entry, for what wants to know when it was. */
struct stacks_sample {
	uint64_t time_ns;
	uint64_t weight;
	uint32_t entry;
};

struct stacks {
	bool keep_samples;
	struct stacks_sample *samples; /* in the order in which they were added */
	size_t n_samples, samples_capacity;
	struct stacks_entry *entries;
	size_t n, entries_capacity;
	uint64_t *index; /* high half of the hash, entry + 1 below; 0 is free */
	size_t index_capacity;
	struct arena arena;
};

/* Zero-initialise to start. stable: the bytes last. -ENOMEM. */
int stacks_add(struct stacks *s, const struct stacks_key *key, const struct seam_stitched *sample,
               bool stable, uint64_t time_ns);
/* The sample that an entry stands for, as far as its frames are concerned. */
struct seam_stitched stacks_sample(const struct stacks_entry *e);
void stacks_free(struct stacks *s);

#endif
