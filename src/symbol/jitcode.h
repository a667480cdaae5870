/* SPDX-License-Identifier: MIT */
/* jitcode.h: the bytes of the code in a process's jitdump, and what it says of unwinding them. */
#ifndef SEAM_SYMBOL_JITCODE_H
#define SEAM_SYMBOL_JITCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbol/symbol.h"

struct jitcode;

/* As jitlines_open. */
int jitcode_open(struct jitcode **ret, struct symbol_cache *cache, uint32_t pid);
/* The dump at a path, by symbol_opts' rules of where it may be and whose. *ret_size: its bytes.
 * -ENOENT ... */
int jitcode_open_path(struct jitcode **ret, const struct symbol_opts *opts, uint32_t pid,
                      const char *path, uint64_t *ret_size);
void jitcode_free(struct jitcode *j);

/* As the dump has it; lives as long as j. */
struct jitcode_piece {
	uint64_t start, size;
	const char *name;
	const unsigned char *bytes; /* size of them; NULL: not told */
	/* An .eh_frame, as if it stood behind the code, from the next multiple of 8 bytes on (V8,
	 * CPython, and perf put it there). NULL: not told. */
	const unsigned char *frames;
	size_t n_frames;
};
/* Finds the code at an address, if no other code ever stood there. -ENOENT: there is none. */
int jitcode_find(const struct jitcode *j, uint64_t addr, struct jitcode_piece *ret);

/* For disasm_new. */
unsigned jitcode_machine(const struct jitcode *j);
bool jitcode_is_big_endian(const struct jitcode *j);

#endif
