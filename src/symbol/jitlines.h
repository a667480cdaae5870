/* SPDX-License-Identifier: MIT */
/*
 * jitlines.h: the source lines of the code in a process's jitdump.
 *
 * A row says that the code from some place on, up to the next row, is of a line of a file. Of calls
 * that were inlined a jitdump says nothing (V8 puts columns into the "discriminator", LLVM DWARF's,
 * others 0): a row is where the code was written. What makes no sense has no lines: a missing line
 * is better than a wrong one.
 */
#ifndef SEAM_SYMBOL_JITLINES_H
#define SEAM_SYMBOL_JITLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "symbol/symbol.h"

struct jitlines;

/* -EBADMSG: it is no jitdump. -ENOMEM. The bytes are not kept. */
int jitlines_of(struct jitlines **ret, const void *bytes, size_t n);
/* Reads the lines in a process's jitdump, which symbol_jitdump named to the cache. -ENOENT: it has
 * none, or none may be looked for. Others: it cannot be read. */
int jitlines_open(struct jitlines **ret, struct symbol_cache *cache, uint32_t pid);
void jitlines_free(struct jitlines *l);

/* Finds the row of an address, if no other code ever stood there. -ENOENT: nothing is known
 * there. */
int jitlines_find(const struct jitlines *l, uint64_t addr, uint32_t *ret);
/* The same for code that was replaced, or that replaced other code. number: as in symbol_jit_code;
 * offset: in this code. */
int jitlines_find_in(const struct jitlines *l, uint32_t number, uint64_t offset, uint32_t *ret);

struct jitlines_row {
	const char *file; /* as the compiler names it; lives as long as l */
	uint32_t line;
};
struct jitlines_row jitlines_row(const struct jitlines *l, uint32_t row);
size_t jitlines_rows(const struct jitlines *l);

/* Why it has no lines, or not all that it should have; "" when there is nothing to say. Lives as
 * long as l. */
const char *jitlines_reason(const struct jitlines *l);

#endif
