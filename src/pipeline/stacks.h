/* SPDX-License-Identifier: MIT */
/*
 * stacks.h: samples counted by their raw addresses: equal stacks of equal tasks in equal address
 * spaces are one entry.
 *
 * Each distinct half of a stack is kept once and named by a number, because few halves make many
 * stacks: so what most samples touch is small, and equal stacks are equal keys. Where the sample's
 * bytes last until the reader is closed, a half points at them; else they are copied. One thread per
 * table.
 *
 * Entries lie all over memory, so a few samples wait at a time while theirs are asked for.
 */
#ifndef SEAM_PIPELINE_STACKS_H
#define SEAM_PIPELINE_STACKS_H

#include <seam/stitch.h>

#include "base/intern.h"

struct stacks_key {
	const char *comm; /* one pointer per name, as proc_comm gives it */
	uint32_t event;   /* index */
	uint32_t pid, tid, cpu;
	uint32_t state;
	uint32_t user_space, kernel_space;
	uint32_t slice;
	/* Filled by stacks_add: */
	uint32_t kernel, user; /* halves; 0: an empty one */
	uint32_t misc;         /* of a sample without any chain, as is ip; else 0 */
	uint32_t reserved;     /* 0 */
	uint64_t ip;
};

struct stacks_entry {
	struct stacks_key key;
	uint64_t samples, weight;
	uint64_t time_ns; /* proc_time of its first sample */
};

/* One sample of an entry, for what wants to know when it was. */
struct stacks_sample {
	uint64_t time_ns;
	uint64_t weight;
	uint32_t entry;
};

#define STACKS_WAITING 16u

struct stacks {
	bool keep_samples;
	struct stacks_sample *samples; /* in the order in which they were added */
	size_t n_samples, samples_capacity;
	struct stacks_entry *entries;
	size_t n, entries_capacity;
	uint64_t *index; /* high half of the hash, entry + 1 below; 0 is free */
	size_t index_capacity;
	uint64_t secret;         /* of this process: where an entry goes */
	struct intern halves[2]; /* by the byte order of their words: 1 is the other one */
	struct stacks_waiting {
		struct stacks_key key;
		uint64_t hash, weight, time_ns;
	} waiting[STACKS_WAITING];
	unsigned n_waiting;
};

/* Zero-initialise to start. Takes a sample; stable: its bytes last. -ENOMEM. */
int stacks_add(struct stacks *s, const struct stacks_key *key, const struct seam_stitched *sample,
               bool stable, uint64_t time_ns);
/* Behind the last sample: counts those that wait. -ENOMEM. */
int stacks_settle(struct stacks *s);
/* The sample that an entry stands for, as far as its frames are concerned. */
struct seam_stitched stacks_sample(const struct stacks *s, const struct stacks_entry *e,
                                   const struct seam_events *events);
void stacks_free(struct stacks *s);

#endif
