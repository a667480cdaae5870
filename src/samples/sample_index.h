/* SPDX-License-Identifier: MIT */
/*
 * sample_index.h: what counting, and most text, needs of each sample, indexed in the first pass:
 * who it is of, its kernel part and where the deferred record to its cookie will be. So such a file
 * is gone through, and its samples decoded, once; what was indexed lies one behind the other, where
 * the samples lie among all else.
 *
 * Not every sample can be indexed: one with a stack copy to unwind, or with a group's counters,
 * needs its bytes, and one that hit elsewhere than where its kernel part begins has an ip of its
 * own. A recording with a single such sample has no entries, and load.c decodes it twice.
 *
 * Memory: 32 bytes a sample, 40 of one in user mode, and what stacks.h keeps of distinct parts.
 */
#ifndef SEAM_SAMPLES_SAMPLE_INDEX_H
#define SEAM_SAMPLES_SAMPLE_INDEX_H

#include "base/pool.h"
#include "samples/stacks.h"
#include "stitch/summary.h"

/* What many samples share. No padding. */
struct sample_index_who {
	uint32_t event; /* index */
	uint32_t pid, tid, cpu;
	uint32_t has;        /* SEAM_SAMPLE_TIME, SEAM_SAMPLE_CPU */
	uint16_t misc, kind; /* enum rules_kind */
};

#define SAMPLE_INDEX_NO_KERNEL 0x80000000u

struct sample_entry {
	uint64_t when;   /* rules_when */
	uint64_t weight; /* the period */
	uint32_t index;  /* of the record */
	uint32_t who;    /* of whos */
	/* A part; or SAMPLE_INDEX_NO_KERNEL and where its ip is in ips. */
	uint32_t kernel;
	uint32_t user; /* RULES_AT_ONCE: a part; RULES_DEFERRED: stitch_summary::slot; else 0 */
};

#define SAMPLE_INDEX_BLOCK 65536u /* entries */
#define SAMPLE_INDEX_RECENT 256u

struct sample_index {
	struct stacks stacks; /* numbers parts */
	struct pool whos;     /* struct sample_index_who */
	struct sample_entry **blocks;
	size_t n_blocks;
	struct sample_entry *next, *end; /* room in the last block */
	uint64_t *ips;
	uint32_t n_ips, ips_capacity;
	struct sample_index_recent {
		uint64_t who[3]; /* a struct sample_index_who */
		uint32_t id;     /* 0: none */
	} recent[SAMPLE_INDEX_RECENT];
};

/* NULL: out of memory. */
struct sample_index *sample_index_new(void);
void sample_index_free(struct sample_index *index); /* NULL is fine */
/* Takes a sample in: 0; 1: it cannot be indexed; -ENOMEM. */
int sample_index_add(struct sample_index *index, const struct seam_decoded *d,
                     const struct stitch_learned *said);
/* The entries of a block in the order of the file; 0: there is none. */
size_t sample_index_block(const struct sample_index *index, size_t block,
                          const struct sample_entry **ret);

/* What the stitcher asks for to say what became of its stack. */
static inline struct stitch_summary sample_index_summary(const struct sample_entry *entry,
                                                         const struct sample_index_who *who)
{
	return (struct stitch_summary){
		.who = { .when = entry->when, .pid = who->pid, .tid = who->tid },
		.index = entry->index,
		.kind = who->kind,
		.slot = entry->user,
	};
}

#endif
