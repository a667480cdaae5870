/* SPDX-License-Identifier: MIT */
/*
 * lines_jit.h: source lines of code that a process made, as its jitdump tells them. For resolver.c
 * only.
 *
 * Each process is an object of `lines` (LINES_JIT) whose addresses are rows of its dump, so that
 * code which stood in another's place has the lines of its own time. They are told to `lines` as
 * they are asked for.
 */
#ifndef SEAM_RESOLVE_LINES_JIT_H
#define SEAM_RESOLVE_LINES_JIT_H

#include "base/map.h"
#include "resolve/lines.h"
#include "proc/proc.h"
#include "symbol/symbol.h"

/* Zero-initialise to start. */
struct lines_jit {
	struct map processes; /* pid -> struct lines_jit_process * */
};

void lines_jit_free(struct lines_jit *j);
/* Finds the line of an address that was looked up in a mapping of kind ANON or JIT: *ret is the
 * process's object of lines, *ret_row the row that stands for the address; *ret NULL: nothing is
 * known. A dump is read when it is first needed. -ENOMEM. One thread. */
int lines_jit_find(struct lines_jit *j, struct lines *lines, struct symbol_cache *symbols,
                   const struct proc_mapping *mapping, uint64_t addr, struct lines_object **ret,
                   uint64_t *ret_row);

#endif
