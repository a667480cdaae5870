/* SPDX-License-Identifier: MIT */
/* jitcode.h: the bytes of the code in a process's jitdump, to be shown. */
#ifndef SEAM_SYMBOL_JITCODE_H
#define SEAM_SYMBOL_JITCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbol/symbol.h"

struct jitcode;

/* As jitlines_open. */
int jitcode_open(struct jitcode **ret, struct symbol_cache *cache, uint32_t pid);
void jitcode_free(struct jitcode *j);

/* As the dump has it; lives as long as j. */
struct jitcode_piece {
	uint64_t start, size;
	const char *name;
	const unsigned char *bytes;
};
/* The code that stands alone at its place, always, at an address. -ENOENT: there is none, or its bytes are not told. */
int jitcode_find(const struct jitcode *j, uint64_t addr, struct jitcode_piece *ret);

/* For disasm_new. */
unsigned jitcode_machine(const struct jitcode *j);
bool jitcode_is_big_endian(const struct jitcode *j);

#endif
