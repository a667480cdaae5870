// SPDX-License-Identifier: MIT
/* annotate_insns.c: bytes as instructions. Uses disasm/, which may be missing: then there is a
 * reason and no instruction. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "annotate/annotate.h"
#include "disasm/disasm.h"

/* Adds one instruction. -ENOMEM. */
static int insns_add(struct annotate_function *f, const struct disasm_line *line, size_t *capacity)
{
	if (ARRAY_ROOM(&f->insns, capacity, f->n_insns + 1) < 0)
		return -ENOMEM;
	f->insns[f->n_insns] = (struct annotate_insn){ .address = line->address,
		                                       .size = line->size,
		                                       .text = strdup(line->text) };
	return f->insns[f->n_insns++].text ? 0 : -ENOMEM;
}

/* Every byte ends up in one line, so that each sample has a place. */
int annotate_disassemble(struct annotate_function *f, const struct annotate_bytes *code)
{
	struct disasm *d = NULL;
	size_t capacity = 0;
	struct disasm_line line;
	int r = disasm_new(&d, code->machine, code->is_big_endian);

	if (r == -ENOTSUP) {
		snprintf(f->reason, sizeof(f->reason), "%s",
		         disasm_missing() ? disasm_missing()
		                          : "the disassembler does not know this machine");
		return 0;
	}
	/* disasm_next never gives a size of 0: a byte that is no instruction is a line by
	 * itself. */
	for (uint64_t at = 0; r >= 0 && at < f->size; at += line.size) {
		disasm_next(d, code->bytes + at, f->size - at, f->start + at, &line);
		r = insns_add(f, &line, &capacity);
	}
	disasm_free(d);
	return r;
}
