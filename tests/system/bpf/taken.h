/* SPDX-License-Identifier: MIT */
/*
 * taken.h: a command recorded with user stacks by BPF, every stack beside the registers and the
 * bytes of stack that were copied at the same moment. What the stacks are held against is the
 * caller's: the walker outside the kernel has walked the same bytes already, libdw can.
 */
#ifndef SEAM_TESTS_BPF_TAKEN_H
#define SEAM_TESTS_BPF_TAKEN_H

#include "base/buf.h"
#include "base/map.h"
#include "capture/bpf/kwalk.h"
#include "tables/tables.h"
#include "proc/proc.h"
#include "unwind/walk.h"

struct taken_stack {
	uint32_t pid, tid;
	uint64_t time_ns, cookie;
	size_t frames, n;        /* what the recording has: in taken.words */
	size_t prefix;           /* of them by the programs in the kernel */
	size_t walked, n_walked; /* the walker's, on the same registers and bytes: in taken.words */
	size_t raw, n_raw; /* struct kwalk_raw, cut to its length: in taken.bytes; 0: not kept */
	uint64_t stack, n_stack;   /* what was copied: from there on, so many bytes */
	enum kwalk_end first, end; /* in the sample; in the end, when it was deferred */
	enum walk_end walk_end;
	uint64_t walk_pc, walk_needed;
	bool unanswered;
	/* the programs left it to the recorder: the recording has the walker's frames */
	bool outside;
	bool remote, guessed;
	bool gone; /* the walker was not told any more what was mapped then */
};

struct taken {
	struct buf stacks; /* struct taken_stack */
	struct buf words, bytes;
	struct buf answers; /* struct taken_answer */
	struct proc_table
	        *procs; /* by the kernel's own records, not by what the programs were told */
	struct tables *tables;
	struct kwalk_totals totals;
	uint64_t told_lost, told_tasks; /* samples and tasks, as LOST_SAMPLES records say */
	struct kwalk *kwalk;
	const struct taken_opts *opts;
	const struct seam_events *events;
};

struct taken_opts {
	enum kwalk_when when;
	unsigned frequency; /* 0: 997 */
	size_t ring_bytes;  /* 0: ample */
	uint32_t tasks;     /* 0: ample */
	bool keep;          /* the bytes, for another walker */
	bool no_copies;     /* no registers and stacks at all: only the totals count */
	bool read_late;     /* the rings are read only when the command has ended */
	bool no_time;       /* to end: what is in the rings then is left out */
	bool tables_anew;   /* no cache */
};

/* sh -c command, from its exec to its end. -errno, and it was said why. */
int taken_record(struct taken *ret, const char *command, const struct taken_opts *opts);
void taken_free(struct taken *t);

size_t taken_count(const struct taken *t);
const struct taken_stack *taken_at(const struct taken *t, size_t i);
const uint64_t *taken_words(const struct taken *t, size_t at);
/* NULL: not kept. Its bytes of stack end at n. */
const struct kwalk_raw *taken_raw(const struct taken *t, const struct taken_stack *s);

#endif
