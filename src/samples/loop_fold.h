/* SPDX-License-Identifier: MIT */
/*
 * loop_fold.h: user stacks of interpreters. In a recording each call of an interpreter's loop
 * stands behind the functions that it runs (abi/runtime_code.h). Shown is what the user wrote: the
 * loop's own frame is folded into them. Under python3 -X perf a piece of code that Python makes for
 * each function, for profilers to see its name, calls the loop in turn: it is folded likewise.
 */
#ifndef SEAM_SAMPLES_LOOP_FOLD_H
#define SEAM_SAMPLES_LOOP_FOLD_H

#include "samples/callchain.h"

struct proc_table;

/* Zeroed to start. */
struct loop_fold {
	uint64_t *words; /* of the last chain */
	size_t capacity;
	/* What is mapped where, by which code is told that Python made; NULL: that stays */
	const struct proc_table *procs;
};

void loop_fold_free(struct loop_fold *f);
/* Whether any of the n innermost words of a user part stands for a function of an interpreter. */
bool loop_any(const struct seam_u64s *user, uint64_t n);
/* Leaves the loops out of a chain's user part, which is of that space of f->procs, and whose words
 * are then f's until the next call. -ENOMEM. */
int loop_fold(struct loop_fold *f, uint32_t space, struct callchain *chain);
/* Leaves the functions out, and keeps the loops: what the machine ran. -ENOMEM. */
int loop_native(struct loop_fold *f, struct callchain *chain);

#endif
