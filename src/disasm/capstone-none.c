// SPDX-License-Identifier: MIT
// capstone-none.c: disasm.h where seam is built without libcapstone: there is no disassembly, and
// that is said.
#include <errno.h>

#include "disasm/disasm.h"

int disasm_new(struct disasm **ret, unsigned machine, int big_endian)
{
	(void)machine;
	(void)big_endian;
	*ret = NULL;
	return -ENOTSUP;
}

void disasm_free(struct disasm *d)
{
	(void)d;
}

/* Never called: no struct disasm can be had here. */
void disasm_next(struct disasm *d, const unsigned char *bytes, size_t n, uint64_t address,
                 struct disasm_line *ret)
{
	(void)d;
	(void)bytes;
	*ret = (struct disasm_line){ .address = address, .size = (unsigned)(n > 4 ? 4 : n) };
}

const char *disasm_missing(void)
{
	return "seam was built without libcapstone";
}
