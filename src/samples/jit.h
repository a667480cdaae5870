/* SPDX-License-Identifier: MIT */
/*
 * jit.h: code that was replaced by other code in its place, by the processes' jitdumps: mappings of
 * their own, so that it is named by the time of a sample. For recording.c only.
 */
#ifndef SEAM_SAMPLES_JIT_H
#define SEAM_SAMPLES_JIT_H

#include "base/arena.h"
#include "base/buf.h"
#include "samples/recording.h"
#include "symbol/symbol.h"

/* The jitdumps that were mapped. Zero-initialise to start. */
struct jit {
	struct buf dumps; /* struct jit_dump */
	struct arena arena;
};

/* Notes a mapping, if it is of a jitdump. -ENOMEM. */
int jit_note(struct jit *jit, const struct seam_mmap *mmap);
/* Teaches what was replaced, before procs are sealed; sets rec->jit_timed. -ENOMEM. */
int jit_learn(struct jit *jit, struct recording *rec, const struct symbol_opts *symbols);
void jit_free(struct jit *jit);

/* Is it the path of a jitdump, as JIT compilers name it? */
bool jit_is_dump(const char *path);

#endif
