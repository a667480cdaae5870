/* SPDX-License-Identifier: MIT */
/*
 * unwound.h: the user part of samples that carry registers and a copy of the stack (perf record
 * --call-graph dwarf), walked by the unwind tables of what was mapped.
 */
#ifndef SEAM_SAMPLES_UNWOUND_H
#define SEAM_SAMPLES_UNWOUND_H

#include <seam/stitch.h>

#include "tables/tables.h"
#include "proc/proc.h"
#include "unwind/walk.h"

struct recording; /* recording.h */

struct unwound_counts {
	uint64_t samples;        /* walked */
	uint64_t end[WALK_ENDS]; /* why each walk ended: their sum is samples */
	uint64_t guessed;        /* samples with guessed frames */
	uint64_t frames, guessed_frames;
	/* registers of a machine, or a mode, that is not understood: not walked */
	uint64_t unusable;
	uint64_t needed; /* bytes: the longest stack copy that a truncated walk asked for, so far */
};

/* Where walks ended for want of unwind information. */
struct unwound_missing {
	const struct proc_object *object; /* NULL: nothing was mapped there */
	const char *reason; /* why it has no table; "": it has one, without that address */
	uint64_t samples;
};

/* One thread's. */
struct unwound;

struct unwound_opts {
	size_t sz;
	const struct proc_table *procs; /* sealed, or live and not changed meanwhile */
	struct tables *tables;          /* shared between threads */
	uint32_t machine;               /* enum frametab_machine; 0: nothing can be walked */
	bool own_vdso; /* the recorded vdso is this process's: same machine, same kernel */
	struct kernel_trap *trap; /* shared; NULL: samples in a trap are not recognized */
	bool running;             /* the processes run: what they see at a path may be looked at */
};

int unwound_new(struct unwound **ret, const struct unwound_opts *opts);
void unwound_free(struct unwound *u);

/*
 * Walks a sample in an address space (proc_space) if its state is SEAM_STITCH_STACK_COPY, and puts
 * the addresses, with walk.h's marks, into sample->user: borrowed, until the next call. 1: walked;
 * 0: nothing to walk; -ENOMEM.
 */
int unwound_sample(struct unwound *u, uint32_t space, struct seam_stitched *sample);
/* Asks for the memory that walking this sample is likely to read, because it will be walked soon.
 * Does not change any result. */
void unwound_ask(const struct unwound *u, const struct seam_stitched *sample);
/* How the last walk ended; valid until the next one. */
const struct walk *unwound_last(const struct unwound *u);

const struct unwound_counts *unwound_count(const struct unwound *u);
void unwound_add_counts(struct unwound_counts *to, const struct unwound_counts *from);
/* Objects that ended walks, in the order they were met; *n of them. Reasons live as long as the
 * tables. */
const struct unwound_missing *unwound_missing(const struct unwound *u, size_t *n);

/* Options for a recording, except tables; false: none of its events copies stacks. */
bool unwound_opts_of(const struct recording *rec, struct unwound_opts *ret);

/* Makes tables for a recording; opts may be NULL, and its strings must outlive the recording. No
 * table is made of a file that may not be the recorded one any more. From then on unwound_opts_of
 * gives trap, too. */
int unwound_tables(struct recording *rec, const struct tables_opts *opts, struct tables **ret);

/* The machine of a recording, by the text of its ARCH feature ("x86_64", "aarch64"); 0: none that
 * can be unwound. */
uint32_t unwound_machine(const char *arch);

#endif
