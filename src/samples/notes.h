/* SPDX-License-Identifier: MIT */
/*
 * notes.h: what counting, and most text, needs of each sample, noted in the first pass: who it is
 * of, its kernel half and where the answer to its cookie will be. So such a file is gone through,
 * and its samples decoded, once; what was noted lies one behind the other, where the samples lie
 * among all else.
 *
 * Not every sample can be noted: one with a stack copy to unwind, or with a group's counters, needs
 * its bytes, and one that hit elsewhere than where its kernel half begins has an ip of its own. A
 * recording with a single such sample has no notes, and load.c decodes it twice.
 *
 * Memory: 32 bytes a sample, 40 of one in user mode, and what stacks.h keeps of distinct halves.
 */
#ifndef SEAM_SAMPLES_NOTES_H
#define SEAM_SAMPLES_NOTES_H

#include "base/pool.h"
#include "samples/stacks.h"
#include "stitch/brief.h"

/* What many samples share. No padding. */
struct notes_who {
	uint32_t event; /* index */
	uint32_t pid, tid, cpu;
	uint32_t has;        /* SEAM_SAMPLE_TIME, SEAM_SAMPLE_CPU */
	uint16_t misc, kind; /* enum rules_kind */
};

#define NOTES_NO_KERNEL 0x80000000u

struct note {
	uint64_t when;   /* rules_when */
	uint64_t weight; /* the period */
	uint32_t index;  /* of the record */
	uint32_t who;    /* of whos */
	/* Half; or NOTES_NO_KERNEL and where its ip is in ips. */
	uint32_t kernel;
	uint32_t user; /* RULES_AT_ONCE: half; RULES_DEFERRED: stitch_brief::slot; else 0 */
};

#define NOTES_BLOCK 65536u /* notes */
#define NOTES_RECENT 256u

struct notes {
	struct stacks stacks; /* numbers halves */
	struct pool whos;     /* struct notes_who */
	struct note **blocks;
	size_t n_blocks;
	struct note *next, *end; /* room in the last block */
	uint64_t *ips;
	uint32_t n_ips, ips_capacity;
	struct notes_recent {
		uint64_t who[3]; /* a struct notes_who */
		uint32_t id;     /* 0: none */
	} recent[NOTES_RECENT];
};

/* NULL: out of memory. */
struct notes *notes_new(void);
void notes_free(struct notes *notes); /* NULL is fine */
/* Notes a sample: 0; 1: it cannot be noted; -ENOMEM. */
int notes_add(struct notes *notes, const struct seam_decoded *d, const struct stitch_learned *said);
/* The notes of a block in the order of the file; 0: there is none. */
size_t notes_block(const struct notes *notes, size_t block, const struct note **ret);

/* What the stitcher asks for to say what became of its stack. */
static inline struct stitch_brief notes_brief(const struct note *note, const struct notes_who *who)
{
	return (struct stitch_brief){
		.who = { .when = note->when, .pid = who->pid, .tid = who->tid },
		.index = note->index,
		.kind = who->kind,
		.slot = note->user,
	};
}

#endif
