/* SPDX-License-Identifier: MIT */
/* jitdump.h: jitdumps made up for tests, in either byte order. */
#ifndef SEAM_TESTS_JITDUMP_H
#define SEAM_TESTS_JITDUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

static inline void put32(struct buf *b, uint32_t v, bool swap)
{
	buf_put_u32(b, swap ? __builtin_bswap32(v) : v);
}

static inline void put64(struct buf *b, uint64_t v, bool swap)
{
	buf_put_u64(b, swap ? __builtin_bswap64(v) : v);
}

static inline void put_header(struct buf *b, bool swap)
{
	put32(b, 0x4a695444, swap);
	put32(b, 1, swap);
	put32(b, 40, swap);
	put32(b, 62, swap);
	put32(b, 0, swap);
	put32(b, 77, swap);
	put64(b, 1000, swap);
	put64(b, 0, swap);
}

static inline void put_load(struct buf *b, uint64_t at, uint64_t size, uint64_t index,
                            const char *name, bool swap)
{
	put32(b, 0, swap);
	put32(b, (uint32_t)(16 + 40 + strlen(name) + 1 + size), swap);
	put64(b, 1000 + index, swap);
	put64(b, 0, swap);
	put64(b, at, swap);
	put64(b, at, swap);
	put64(b, size, swap);
	put64(b, index, swap);
	buf_put(b, name, strlen(name) + 1);
	buf_put_zeros(b, size);
}

static inline void put_move(struct buf *b, uint64_t from, uint64_t to, uint64_t size,
                            uint64_t index, bool swap)
{
	put32(b, 1, swap);
	put32(b, 16 + 48, swap);
	put64(b, 2000, swap);
	put64(b, 0, swap);
	put64(b, from, swap);
	put64(b, from, swap);
	put64(b, to, swap);
	put64(b, size, swap);
	put64(b, index, swap);
}

/* The head of a record that tells of lines; its entries follow, and then put_lines_end, with where
 * it began. */
static inline size_t put_lines(struct buf *b, uint64_t at, uint64_t n, bool swap)
{
	size_t begin = b->n;

	put32(b, 2, swap);
	put32(b, 0, swap);
	put64(b, 900, swap);
	put64(b, at, swap);
	put64(b, n, swap);
	return begin;
}

static inline void put_entry(struct buf *b, uint64_t addr, int32_t line, const char *file,
                             bool swap)
{
	put64(b, addr, swap);
	put32(b, (uint32_t)line, swap);
	put32(b, 7, swap);
	buf_put(b, file, strlen(file) + 1);
}

static inline void put_lines_end(struct buf *b, size_t begin, bool swap)
{
	uint32_t total = (uint32_t)(b->n - begin);

	total = swap ? __builtin_bswap32(total) : total;
	memcpy(b->bytes + begin + 4, &total, 4);
}

#endif
