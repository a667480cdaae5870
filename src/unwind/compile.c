// SPDX-License-Identifier: MIT
// compile.c: the order of the sources: what .eh_frame covers wins, .debug_frame fills gaps, then .sframe.
#include "unwind/compile.h"

#include <errno.h>

#include "unwind/cfi_shares.h"
#include "unwind/layout.h"
#include "unwind/sframe.h"

#define COMPILE_ENTRY_MAX 64u /* bytes; start code is 30 to 60 */

/*
 * What stands at the entry point was not called: it is outermost, whether or not somebody said so (ld.so's _start has no
 * unwind information, nor have those of static programs of some libraries). It ends where the next function begins.
 */
static void compile_entry(struct rows *rows, const struct compile_input *in)
{
	static const struct rows_rule outermost = { .rule = { .cfa = FRAMETAB_CFA_SP,
		                                              .ra = FRAMETAB_AT_UNDEFINED } };
	uint64_t next;

	if (!in->entry || !rows->n_functions)
		return;
	rows_seal(rows);
	next = rows_next(rows, in->entry);
	if (next - in->entry > COMPILE_ENTRY_MAX)
		next = in->entry + COMPILE_ENTRY_MAX;
	if (!rows_begin(rows, in->entry, next))
		return;
	rows_add(rows, in->entry, &outermost);
	rows_end(rows);
}

int compile_table(const struct compile_input *in, struct buf *ret, struct seam_error *err)
{
	struct rows rows;
	uint32_t flags = 0;
	int status;

	buf_clear(ret);
	if (in->machine != FRAMETAB_X86_64 && in->machine != FRAMETAB_AARCH64)
		return seam_error_set(err, EOPNOTSUPP, NULL, SEAM_NO_OFFSET, "unwind table",
		                      "machine %u is neither x86_64 nor aarch64", in->machine);
	rows_init(&rows, in);
	if (in->eh_frame.bytes) {
		cfi_shares_compile(&rows, &in->eh_frame, false);
		flags |= FRAMETAB_FROM_EH_FRAME;
	}
	if (in->debug_frame.bytes) {
		rows_seal(&rows);
		cfi_shares_compile(&rows, &in->debug_frame, true);
		flags |= FRAMETAB_FROM_DEBUG_FRAME;
	}
	if (in->sframe.bytes) {
		rows_seal(&rows);
		sframe_compile(&rows, in, &in->sframe);
		flags |= FRAMETAB_FROM_SFRAME;
	}
	compile_entry(&rows, in);
	status = layout_table(&rows, flags, ret, err);
	rows_free(&rows);
	return status;
}
