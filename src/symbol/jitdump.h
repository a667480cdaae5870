/* SPDX-License-Identifier: MIT */
/* jitdump.h: the pieces of code in a jitdump. For this room only. */
#ifndef SEAM_SYMBOL_JITDUMP_H
#define SEAM_SYMBOL_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "symbol/symbol.h"

/* Pointers go into the bytes. */
struct jitdump_code {
	struct symbol_jit_code told;
	bool ambiguous;             /* what is at its addresses depends on the time */
	bool moved;                 /* bytes and lines are those of the code that it was */
	const unsigned char *bytes; /* the code, told.size of them; NULL: not told */
	const unsigned char *lines; /* what its JIT_CODE_DEBUG_INFO holds; NULL: it has none */
	size_t n_lines;
	const unsigned char *frames; /* its .eh_frame, as jitcode.h has it; NULL: not told */
	size_t n_frames;
	/* the address of the code, as the lines have it: before it was moved */
	uint64_t lines_start;
};

struct jitdump {
	struct buf codes; /* struct jitdump_code, by address */
	const unsigned char *bytes;
	size_t n;
	bool swap;
	bool other_clock; /* its times are not CLOCK_MONOTONIC's */
	uint32_t machine; /* as in ELF headers: EM_X86_64 */
	uint64_t bad;     /* records that make no sense */
	/* While it is read: */
	uint64_t time_ns;      /* of the record */
	struct map by_index;   /* code_index -> its number */
	struct map told_lines; /* address of code that is to come -> where its lines are told */
	const unsigned char *frames; /* of the code that comes next */
	size_t n_frames;
};

/* Reads the jitdump of a process, which symbol_jitdump named to the cache. -ENOENT: it has none, or
 * none may be looked for. Others: it cannot be read. */
int jitdump_open(struct buf *ret, struct symbol_cache *cache, uint32_t pid);
/* bytes must outlive d. -EBADMSG: it is none. -ENOMEM. */
int jitdump_read(struct jitdump *d, const void *bytes, size_t n);
void jitdump_free(struct jitdump *d);

#endif
