/* SPDX-License-Identifier: MIT */
/*
 * disasm.h: machine code as text, one instruction at a time.
 *
 * Any bytes may be given: what is no instruction becomes "(bad)", and the walk goes on behind it.
 * One thread per struct disasm.
 */
#ifndef SEAM_DISASM_DISASM_H
#define SEAM_DISASM_DISASM_H

#include <stddef.h>
#include <stdint.h>

struct disasm;

struct disasm_line {
	uint64_t address;
	unsigned size; /* bytes; never 0, never more than there were */
	char text[192];
};

/* machine: EM_* of elf.h. -ENOTSUP: seam was built without a disassembler, or it does not know the
 * machine; -ENOMEM. */
int disasm_new(struct disasm **ret, unsigned machine, int big_endian);
void disasm_free(struct disasm *d);
/* The instruction with which bytes begin, n > 0. */
void disasm_next(struct disasm *d, const unsigned char *bytes, size_t n, uint64_t address,
                 struct disasm_line *ret);
/* Why there is no disassembly, for people; NULL: there is. */
const char *disasm_missing(void);

#endif
