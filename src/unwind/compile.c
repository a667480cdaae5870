// SPDX-License-Identifier: MIT
/*
 * compile.c: the order of the sources: what .eh_frame covers wins, .debug_frame fills gaps, then
 * .sframe. What no source covers, and the code itself can tell of, comes last: the entry point, a
 * few bytes between two functions, long stretches that keep frame pointers.
 *
 * Why this order: .eh_frame is what the program's own exceptions are unwound by, so it is right
 * wherever it says something. .debug_frame is for debuggers, and may be of a debug file. .sframe
 * knows less of each row.
 *
 * Invariant: a table is made of the bytes that are given, and of nothing else: the same input gives
 * the same table, whatever the number of threads.
 */
#include "unwind/compile.h"

#include <errno.h>

#include "unwind/cfi_shares.h"
#include "unwind/layout.h"
#include "unwind/sframe.h"

#define COMPILE_ENTRY_MAX 64u /* bytes; start code is 30 to 60 */

/*
 * The code at the entry point was not called, so its frame is the outermost one, whether or not
 * unwind information says so (ld.so's _start has none, nor have static programs of some libraries).
 * It ends where the next function begins.
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
	/* No CFA: a rule without one leads to walker_guess. */
	rows_end(rows);
}

/*
 * Finds large stretches without unwind information between code that has some, as V8's builtins in
 * node. Where their code keeps frame pointers the table says so. No CFA is given, so that nothing
 * is taken for sure.
 */
static void compile_gaps(struct rows *rows, const struct compile_input *in)
{
	static const struct rows_rule kept = { .rule = { .flags = FRAMETAB_KEEPS_FP } };
	struct compile_range gaps[COMPILE_GAPS_MAX];
	size_t n = 0;

	if (!in->keeps_fp)
		return;
	rows_seal(rows);
	/* Collected first: adding a function changes the list that is being read. */
	for (size_t i = 0; i + 1 < rows->n_functions && n < COMPILE_GAPS_MAX; i++) {
		struct compile_range gap = { rows->functions[i].end, rows->functions[i + 1].start };

		if (gap.end - gap.start >= COMPILE_GAP &&
		    in->keeps_fp(in->code_ctx, gap.start, gap.end))
			gaps[n++] = gap;
	}
	for (size_t i = 0; i < n; i++) {
		if (!rows_begin(rows, gaps[i].start, gaps[i].end))
			continue;
		rows_add(rows, gaps[i].start, &kept);
		rows_end(rows);
	}
}

/* The number of the rule that the last row of a function has. */
static uint32_t compile_last_rule(const struct rows *rows, const struct rows_function *f)
{
	const struct rows_part *part = f->part ? &rows->parts[f->part - 1] : NULL;
	const struct rows_row *row = (part ? part->rows : rows->rows) + f->first + f->n - 1;

	return part ? part->numbers[row->rule] : row->rule;
}

/*
 * A few bytes of code between two functions: somebody left them out on purpose, as glibc does with
 * what follows the system call of clone, where the child has an empty stack. The rule in front of
 * them may still hold there: that is a guess.
 */
static void compile_undescribed(struct rows *rows, const struct compile_input *in)
{
	size_t n;

	if (!in->is_padding)
		return;
	rows_seal(rows);
	n = rows->n_functions;
	for (size_t i = 0; i + 1 < n && !rows->failed; i++) {
		uint64_t end = rows->functions[i].end, next = rows->functions[i + 1].start;
		struct rows_rule like = { .rule = { .flags = FRAMETAB_LIKE } };

		if (end == next || next - end >= COMPILE_BRIDGE ||
		    in->is_padding(in->code_ctx, end, next))
			continue;
		like.rule.like = compile_last_rule(rows, &rows->functions[i]);
		if (!rows_begin(rows, end, next))
			continue;
		rows_add(rows, end, &like);
		rows_end(rows);
	}
}

/* Cuts a function off where it goes to another stack, and adds what is known of it behind that, and
 * of functions that no source has. */
static void compile_switches(struct rows *rows, const struct compile_input *in)
{
	if (in->n_switches || in->n_pieces)
		rows_seal(rows);
	for (size_t i = 0; i < in->n_switches; i++)
		rows_cut(rows, in->switches[i]);
	for (size_t i = 0; i < in->n_pieces; i++) {
		const struct compile_piece *p = &in->pieces[i];
		bool by_fp = p->fp == COMPILE_FP_FRAME, saved = p->fp != COMPILE_FP_KEPT;
		const struct rows_rule rule = {
			.rule = { .cfa = by_fp ? FRAMETAB_CFA_FP : FRAMETAB_CFA_SP,
			          .cfa_off = by_fp ? 16 : (int32_t)p->cfa_sp,
			          .flags = by_fp ? FRAMETAB_OTHER_STACK : 0,
			          .fp = saved ? FRAMETAB_AT_CFA : FRAMETAB_AT_SAME,
			          .fp_off = saved ? -16 : 0,
			          .ra = FRAMETAB_AT_CFA,
			          .ra_off = -8 }
		};

		if (!rows_begin(rows, p->start, p->end))
			continue;
		rows_add(rows, p->start, &rule);
		rows_end(rows);
	}
}

/* Later sources fill only what earlier ones left open, so each source is sealed before the next
 * begins. What is guessed about gaps comes last. */
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
	if (in->spent)
		in->spent(in->code_ctx);
	compile_entry(&rows, in);
	compile_undescribed(&rows, in);
	compile_switches(&rows, in);
	compile_gaps(&rows, in);
	status = layout_table(&rows, flags, ret, err);
	rows_free(&rows);
	return status;
}
