/* SPDX-License-Identifier: MIT */
/*
 * stacks.h: samples counted by their raw addresses: equal stacks of equal tasks in equal address
 * spaces are one entry.
 *
 * Each distinct part of a stack is kept once and has a number, because few parts make many stacks.
 * So the memory that most samples touch is small, and stacks are equal if their keys are. Where the
 * bytes of the sample last until the reader is closed, a part points to them; else they are copied.
 * Of a large file only parts that are met again are copied, or none: then each is looked at once
 * more, when it is named, in about the order of the file (recording_opts.once).
 * There is one table for each thread. Entries are scattered in memory, so a few samples wait at a
 * time while theirs are fetched.
 */
#ifndef SEAM_SAMPLES_STACKS_H
#define SEAM_SAMPLES_STACKS_H

#include <seam/stitch.h>

#include "base/intern.h"
#include "base/pool.h"
#include "samples/callchain.h"
#include "stitch/summary.h"

/* Room for more than there are: an unused one costs 4 bytes a key. Odd, so there is no padding. */
#define STACKS_NUMBERS 9u

/* Whose sample it is. Few of these keys are in many entries, so they have numbers, too. No
 * padding. */
struct stacks_key {
	const char *comm; /* one pointer per name, as proc_comm gives it */
	uint32_t event;   /* index */
	uint32_t pid, tid;
	uint16_t state;
	uint8_t by_tables;      /* walk_result_by_tables */
	uint8_t user_first : 1; /* its kernel part begins with a user's address, without a marker */
	uint8_t end : 7;        /* sample_end: why its user part is not whole */
	uint32_t user_space, kernel_space;
	uint32_t
	        program; /* a space that runs the program of the user space; 0: not kept, or none */
	uint32_t number[STACKS_NUMBERS]; /* other numbers of the sample: the caller knows which */
};

/* What tells one entry from another. No padding. */
struct stacks_same {
	uint32_t key;          /* of keys */
	uint32_t kernel, user; /* parts; 0: an empty one */
	uint32_t hit;          /* of hits, for a sample that hit_apart; else 0 */
};

struct stacks_hit {
	uint64_t ip, misc;
};

struct stacks_entry {
	struct stacks_same same;
	uint64_t samples, weight;
	uint64_t time_ns; /* proc_time of its first sample */
};

/* One sample of an entry, for those who must know the time of each sample. */
struct stacks_sample {
	uint64_t time_ns;
	uint64_t weight;
	uint32_t entry;
};

#define STACKS_WAITING 16u
#define STACKS_SEEN 4096u
#define STACKS_CHAINS 1024u
#define STACKS_KEYS 64u

/* What was met last: most samples are recognized by one comparison. Never NULL once there is a
 * sample. */
struct stacks_recent {
	/* Parts by the place of their words, which is the same for equal ones (stitch/index.h) and
	 * never that of another. */
	struct stacks_seen {
		const unsigned char *bytes;
		uint32_t n, part;
	} deferred[STACKS_SEEN];
	/* Chains by some of their words; bytes are those that parts keep. */
	struct stacks_seen chain[STACKS_CHAINS];
	struct stacks_key key[STACKS_KEYS];
	uint32_t key_id[STACKS_KEYS]; /* 0: none */
};

/*
 * Parts that have numbers already, and keep them: those of other stacks (the sample index), and
 * behind them the chains of deferred records. Zeroed: there are none.
 */
struct stacks_base {
	const struct intern *parts;  /* those of stacks */
	const struct intern *chains; /* of deferred records */
	uint32_t n[2];               /* of parts, by their byte order */
	uint32_t n_chains;
};

struct stacks {
	struct stacks_base base; /* set before the first sample; own parts are numbered behind it */
	bool keep_samples;
	struct stacks_sample *samples; /* in the order in which they were added */
	size_t n_samples, samples_capacity;
	struct stacks_entry *entries;
	size_t n, entries_capacity;
	uint64_t *index; /* high half of the hash, entry + 1 below; 0 is free */
	size_t index_capacity;
	uint64_t secret;        /* of this process: where an entry goes */
	struct intern parts[2]; /* by the byte order of their words: 1 is the other one */
	struct pool keys, hits; /* struct stacks_key, struct stacks_hit */
	struct stacks_recent *recent;
	struct stacks_waiting {
		struct stacks_same same;
		uint64_t hash, weight, time_ns;
	} waiting[STACKS_WAITING];
	unsigned n_waiting;
};

/* Makes the base of stacks and of a sealed stitcher, to which nothing is added any more.
 * -EOVERFLOW: there are too many parts for numbers. */
int stacks_base_of(struct stacks_base *ret, const struct stacks *stacks,
                   const struct seam_stitch *stitch);
/* The number of a deferred record's chain; 0: it has no words. */
uint32_t stacks_base_chain(const struct stacks_base *base, const struct stitch_verdict *verdict);
struct seam_u64s stacks_base_words(const struct stacks_base *base, uint32_t part);
/* -ENOMEM. */
int stacks_start(struct stacks *s);
/* Takes a sample; way: who keeps its words. -ENOMEM. */
int stacks_add(struct stacks *s, const struct stacks_key *key, const struct callchain *chain,
               uint64_t weight, enum intern_way way, uint64_t time_ns);
/*
 * The steps of stacks_add, for samples that are taken apart before they are counted
 * (sample_index.h): numbers for the parts of a stacks_same, then a sample that has them. *ret is 0
 * if there are no words. All: -ENOMEM.
 */
int stacks_key_id(struct stacks *s, const struct stacks_key *key, uint32_t *ret);
int stacks_part(struct stacks *s, const struct seam_u64s *words, enum intern_way way,
                uint32_t *ret);
/* stacks_part in steps, for several parts (intern_ask). The words stay where they are until the
 * answer. */
struct stacks_asked {
	struct seam_u64s words;
	struct stacks_seen *seen;
	uint64_t hash;
	uint32_t part; /* 0: not known yet */
};
void stacks_ask(struct stacks *s, const struct seam_u64s *words, struct stacks_asked *ret);
void stacks_ask_again(const struct stacks *s, const struct stacks_asked *asked);
int stacks_answer(struct stacks *s, const struct stacks_asked *asked, enum intern_way way,
                  uint32_t *ret);
int stacks_hit(struct stacks *s, uint64_t ip, uint16_t misc, uint32_t *ret);
/* A number of its own, which stacks_hit does not give. */
int stacks_hit_new(struct stacks *s, uint64_t ip, uint16_t misc, uint32_t *ret);
int stacks_put(struct stacks *s, const struct stacks_same *same, uint64_t weight, uint64_t time_ns);
/* Counts the samples that still wait; to be called after the last one. -ENOMEM. */
int stacks_settle(struct stacks *s);
/* Changes all keys; entries that no longer differ become one, at the place of the first. Numbers of
 * keys are others then. Not with keep_samples, and nothing may wait. -ENOMEM. */
int stacks_change_keys(struct stacks *s, void (*change)(void *ctx, struct stacks_key *key),
                       void *ctx);
/* The words of a part; none for 0. */
struct seam_u64s stacks_words(const struct stacks *s, uint32_t part);
const struct stacks_key *stacks_key(const struct stacks *s, const struct stacks_entry *e);
/* The stack that an entry stands for. */
struct callchain stacks_callchain(const struct stacks *s, const struct stacks_entry *e,
                                  const struct seam_events *events);
/* Lets go of the samples of keep_samples. */
void stacks_drop_samples(struct stacks *s);
void stacks_free(struct stacks *s);

#endif
