// SPDX-License-Identifier: MIT
// annotate_jit.c: the code of a function that a process made at run time, and its lines, out of the
// process's jitdump.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "annotate/annotate.h"
#include "symbol/jitcode.h"
#include "symbol/jitlines.h"

/* A function that was compiled more than once stands in several places: the one with the most
 * samples is shown, and samples of the others count as outside of it. -ENOENT: no piece of code
 * that has its bytes was hit. */
static int jit_choose(const struct annotate_function *f, const struct jitcode *j,
                      struct jitcode_piece *ret)
{
	struct map by_start = { 0 };
	uint64_t most = 0, *sum;
	struct jitcode_piece piece;
	int r = -ENOENT;

	for (size_t i = 0; i < f->n; i++) {
		if (jitcode_find(j, f->vaddrs[i], &piece) < 0 || !piece.bytes)
			continue;
		sum = map_slot(&by_start, piece.start, NULL);
		if (!sum) {
			r = -ENOMEM;
			break;
		}
		*sum += f->counts[i].weight;
		if (r < 0 || *sum > most) {
			most = *sum;
			*ret = piece;
			r = 0;
		}
	}
	map_free(&by_start);
	return r;
}

/* Gives each instruction the line that the process's jitdump has for it. That it has none is no
 * failure. -ENOMEM. */
static int jit_lines(struct annotate *a, struct annotate_function *f, uint32_t pid)
{
	struct jitlines *l;
	uint32_t row;
	int r = jitlines_open(&l, a->load.symbols, pid);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < f->n_insns; i++) {
		struct annotate_insn *insn = &f->insns[i];

		if (jitlines_find(l, insn->address, &row) < 0)
			continue;
		insn->file = intern_text(&a->files, jitlines_row(l, row).file);
		insn->line = jitlines_row(l, row).line;
		if (insn->file == INTERN_FAILED)
			r = -ENOMEM;
	}
	if (jitlines_reason(l)[0])
		snprintf(f->lines_reason, sizeof(f->lines_reason), "the jitdump of %u: %s", pid,
		         jitlines_reason(l));
	jitlines_free(l);
	return r;
}

/* pid: the process whose jitdump has the code. */
int annotate_jit(struct annotate *a, struct annotate_function *f, uint32_t pid)
{
	struct annotate_bytes code = { 0 };
	struct jitcode_piece piece;
	struct jitcode *j;
	int r = jitcode_open(&j, a->load.symbols, pid);

	if (r < 0) {
		snprintf(f->reason, sizeof(f->reason), "no jitdump of process %u has its code: %s",
		         pid, strerror(-r));
		return r == -ENOMEM ? r : 0;
	}
	r = jit_choose(f, j, &piece);
	if (r >= 0) {
		f->start = piece.start;
		f->size = piece.size < ANNOTATE_BYTES_MAX ? piece.size : ANNOTATE_BYTES_MAX;
		code.bytes = piece.bytes;
		code.machine = jitcode_machine(j);
		code.is_big_endian = jitcode_is_big_endian(j);
		r = annotate_disassemble(f, &code);
	} else if (r != -ENOMEM) {
		snprintf(f->reason, sizeof(f->reason),
		         "the jitdump of process %u has no code that was all of the time at its "
		         "addresses",
		         pid);
		r = 0;
	}
	jitcode_free(j);
	return r < 0 || !f->n_insns ? r : jit_lines(a, f, pid);
}
