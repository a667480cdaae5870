/* SPDX-License-Identifier: MIT */
/*
 * sample_index.h: every sample of a recording in a few words, made in the first pass: who it is of
 * and when, both parts of its callchain by number, and where its bytes are.
 *
 * Counting, filters and most text need no more, so they read no record again: entries lie one
 * behind the other, where the samples lie among all else. What an entry does not hold (a copy of
 * the stack, registers, a group's counters) is decoded from its bytes when it is asked for
 * (samples.h).
 *
 * Memory: 40 bytes for each of the first million of samples; what is behind them lies in a file
 * without a name (base/scratch.h), of which only the blocks in use are in memory. Besides, in the
 * same way, 8 bytes for a sample that hit elsewhere than where its user part begins, or whose user
 * part comes later, 16 for one that hit elsewhere than where its kernel part begins; and what
 * stacks.h keeps of distinct parts.
 */
#ifndef SEAM_SAMPLES_SAMPLE_INDEX_H
#define SEAM_SAMPLES_SAMPLE_INDEX_H

#include <stdatomic.h>

#include "base/blocks.h"
#include "base/pool.h"
#include "base/relay.h"
#include "samples/sample_tally.h"
#include "samples/stacks.h"
#include "stitch/summary.h"

/* What a sample's entry does not hold, and how its bytes are to be read. */
enum {
	SAMPLE_INDEX_COPY = 1u << 0,   /* its user part is to be walked in its copy of the stack */
	SAMPLE_INDEX_CALLED = 1u << 1, /* its user part is in its branch records (called.h) */
	SAMPLE_INDEX_GROUP = 1u << 2,  /* it reads a group: one sample of each member that grew */
	SAMPLE_INDEX_SWAP = 1u << 3,   /* its bytes are of the other byte order */
};

/* What many samples share. No padding. */
struct sample_index_who {
	uint32_t event; /* index */
	uint32_t pid, tid, cpu;
	uint16_t has;        /* SEAM_SAMPLE_TID, SEAM_SAMPLE_TIME, SEAM_SAMPLE_CPU */
	uint16_t flags;      /* SAMPLE_INDEX_* */
	uint16_t misc, kind; /* enum rules_kind */
};

/* In sample_entry.kernel: the rest says where in ips the sample's ip is. */
#define SAMPLE_INDEX_NO_KERNEL 0x80000000u /* it has no kernel part */
#define SAMPLE_INDEX_APART 0x40000000u     /* the number of that is behind its ip */
#define SAMPLE_INDEX_IPS 0x3fffffffu

struct sample_entry {
	uint64_t time_ns; /* 0: it has none */
	uint64_t period;
	const unsigned char *bytes; /* of its record; NULL: they do not last */
	uint32_t index;             /* of the record */
	uint32_t who;               /* of whos */
	/* A part, which begins where the sample hit; 0: the user part does; or one of the two
	 * above. */
	uint32_t kernel;
	uint32_t user; /* RULES_AT_ONCE: a part; RULES_DEFERRED: stitch_summary::slot; else 0 */
};

#define SAMPLE_INDEX_BLOCK BLOCKS_THINGS /* entries */
/* Blocks that are held in memory. Those behind them lie in a file without a name. */
#define SAMPLE_INDEX_HELD 16u
#define SAMPLE_INDEX_RECENT 256u
#define SAMPLE_INDEX_WAITING 16u /* samples whose parts are looked up together */

/* What is asked of a sample: the numbers of these. */
struct sample_index_parts {
	struct seam_u64s kernel, user;
	uint64_t ip;
	bool begins; /* its parts begin there */
	enum intern_way way;
};

struct sample_index {
	struct stacks stacks;      /* numbers parts */
	struct pool whos;          /* struct sample_index_who */
	bool innermost;            /* parts end behind the innermost address of the chain */
	bool no_stacks;            /* there are no parts, and nobody asks where samples hit */
	struct sample_tally tally; /* of samples that have no entry */
	enum intern_way way;   /* who keeps parts whose bytes last; the first pass may change it */
	bool hits_in_copies;   /* some samples with a copy of the stack do not say where they hit */
	unsigned flags;        /* SAMPLE_INDEX_* of any sample */
	struct blocks entries; /* struct sample_entry */
	struct blocks ips;     /* uint64_t */
	struct sample_index_waiting {
		struct sample_entry *entry;
		struct sample_index_parts parts;
		struct stacks_asked user, kernel;
	} waiting[SAMPLE_INDEX_WAITING];
	unsigned n_waiting;
	struct relay relay;  /* to a thread that looks them up, where it is wanted: it has
	                        entries, stacks and ips then */
	int failure;         /* of it; else 0 */
	atomic_size_t again; /* parts that were copied when they were met again (INTERN_ONCE) */
	struct sample_index_recent {
		uint64_t who[3]; /* what a struct sample_index_who has, but for its flags */
		uint32_t id;     /* 0: none */
	} recent[SAMPLE_INDEX_RECENT];
};

/* NULL: out of memory. */
struct sample_index *sample_index_new(bool innermost);
void sample_index_free(struct sample_index *index); /* NULL is fine */
/* Adds a sample. -ENOMEM. -EOVERFLOW: there are more samples, or distinct parts of stacks, than
 * there are numbers. */
int sample_index_add(struct sample_index *index, const struct seam_decoded *d,
                     const struct stitch_learned *said);
/* Writes what is left of the entries; to be called after the last sample. The same errors. */
int sample_index_settle(struct sample_index *index);
/* The entries of a block in the order of the file; 0: there is none. */
size_t sample_index_block(const struct sample_index *index, size_t block,
                          const struct sample_entry **ret);
/* So many blocks before this one are not needed for a while: those that lie in a file leave memory.
 * They may still be read, by any thread. */
void sample_index_rest(const struct sample_index *index, size_t before, size_t count);
/* How many there are. */
uint64_t sample_index_count(const struct sample_index *index);
/* The entry of a record by its index; NULL: there is none. */
const struct sample_entry *sample_index_find(const struct sample_index *index, uint64_t record);

/* What the stitcher must be given to say what became of the sample's stack. */
static inline struct stitch_summary sample_index_summary(const struct sample_entry *entry,
                                                         const struct sample_index_who *who)
{
	uint64_t when = who->has & SEAM_SAMPLE_TIME ? entry->time_ns & ~RULES_UNTIMED
	                                            : RULES_UNTIMED | entry->index;

	return (struct stitch_summary){
		.who = { .when = when, .pid = who->pid, .tid = who->tid },
		.index = entry->index,
		.kind = who->kind,
		.slot = entry->user,
	};
}
/* What sample_entry.kernel names. */
static inline uint64_t sample_index_word(const struct sample_index *index, uint32_t at)
{
	return *(const uint64_t *)blocks_at(&index->ips, at);
}
/* The number of its kernel part; 0: it has none. */
static inline uint32_t sample_index_kernel(const struct sample_index *index,
                                           const struct sample_entry *entry)
{
	if (entry->kernel & SAMPLE_INDEX_NO_KERNEL)
		return 0;
	return entry->kernel & SAMPLE_INDEX_APART
	               ? (uint32_t)sample_index_word(index, (entry->kernel & SAMPLE_INDEX_IPS) + 1)
	               : entry->kernel;
}

#endif
