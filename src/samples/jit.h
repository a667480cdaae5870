/* SPDX-License-Identifier: MIT */
/*
 * jit.h: code that was replaced by other code at the same address, as told by the jitdumps of
 * processes. Each piece becomes a mapping of its own, so that the time of a sample decides over its
 * name. For recording.c only.
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

/* Whether the path is that of a jitdump, as JIT compilers name it. */
bool jit_is_dump(const char *path);

#endif
