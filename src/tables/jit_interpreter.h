/* SPDX-License-Identifier: MIT */
/*
 * jit_interpreter.h: the bytes of code that an interpreter copied out of its own file, once for
 * each function of the program: CPython's -X perf makes such trampolines, names them in the perf
 * map, and writes no jitdump. Who knows the file knows the code, also when the process has ended.
 *
 * Invariant: code is told only where the perf map names a copy of it ("py::..."), of the length
 * that it has in the one file of the process which holds it. Any caller that holds a lock.
 */
#ifndef SEAM_TABLES_JIT_INTERPRETER_H
#define SEAM_TABLES_JIT_INTERPRETER_H

#include "tables/jit_tables.h"

struct jit_interpreter;
struct symbol_opts;

/* symbols: where perf maps and files may be looked for, and whose maps are believed; it must
 * outlive it. -ENOMEM. */
int jit_interpreter_new(struct jit_interpreter **ret, const struct symbol_opts *symbols);
void jit_interpreter_free(struct jit_interpreter *p);
/* The code from ask->pc on to the end of its copy: how many bytes, *ret; 0: it is not known. */
size_t jit_interpreter_code(struct jit_interpreter *p, const struct jit_ask *ask,
                            const unsigned char **ret);

#endif
