/* SPDX-License-Identifier: MIT */
/*
 * runtime_code.h: addresses that stand for lines of functions which an interpreter runs. No
 * process has memory there: user addresses of x86_64 have at most 56 bits, and the kernel's are
 * above 2^63.
 *
 * A recording names each piece in a KSYMBOL record of user mode (docs/format.md): it begins at the
 * piece's first address. The line is in the address itself, so no table is needed. An address is
 * odd, so that the one before it, at which a caller is looked up, has the same line.
 */
#ifndef SEAM_ABI_RUNTIME_CODE_H
#define SEAM_ABI_RUNTIME_CODE_H

#include <stdbool.h>
#include <stdint.h>

#define RUNTIME_CODE_BASE (1ULL << 56)
#define RUNTIME_CODE_END (1ULL << 57)
#define RUNTIME_CODE_SIZE (1ULL << 21) /* addresses of a piece: 2^20 lines */
#define RUNTIME_CODES_MAX ((RUNTIME_CODE_END - RUNTIME_CODE_BASE) / RUNTIME_CODE_SIZE)

static inline bool runtime_code_is(uint64_t address)
{
	return address >= RUNTIME_CODE_BASE && address < RUNTIME_CODE_END;
}

/* The first address of a piece, by its number. */
static inline uint64_t runtime_code_start(uint32_t number)
{
	return RUNTIME_CODE_BASE + number * RUNTIME_CODE_SIZE;
}

/* line 0: it is not known. */
static inline uint64_t runtime_code_address(uint64_t start, uint32_t line)
{
	return start + (line < RUNTIME_CODE_SIZE / 2 ? line * 2ULL : 0) + 1;
}

static inline uint32_t runtime_code_line(uint64_t address)
{
	return (uint32_t)(address % RUNTIME_CODE_SIZE / 2);
}

#endif
