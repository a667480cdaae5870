// SPDX-License-Identifier: MIT
/*
 * cfi.c: reads CIEs and FDEs and hands each function's program to cfi_program.c.
 *
 * A section of call frame information is a list of entries, each with its length in front. A CIE
 * says what many functions have in common (alignment factors, register of the return address, first
 * instructions); an FDE is of one function and refers to its CIE. .eh_frame and .debug_frame differ
 * in how they refer and in how addresses are written; image/callframe.c knows that.
 *
 * Invariant: every read is bounded by its entry; an entry that is unsound is skipped, the next one
 * is found by its length. What an entry gives depends on it and its CIE alone, so that shares of a
 * section can be read at the same time.
 */
#include "unwind/cfi.h"

#include <errno.h>

#include "image/callframe.h"
#include "unwind/cfi_program.h"

struct cfi {
	struct rows *rows;
	struct callframe_section section;
	uint64_t last_offset;       /* of the CIE that was asked for last, */
	const struct cfi_cie *last; /* which is nearly always the next */
	struct map cies;            /* offset -> index + 1 in parsed; 0: known to be unsound */
	struct buf parsed;          /* struct cfi_cie */
	struct cfi_program program;
};

/* Returns the CIE at an offset of the section, read and checked once; NULL: it is unsound, or
 * memory is out. The pointer is valid until the next call. */
static const struct cfi_cie *cfi_cie_at(struct cfi *f, uint64_t offset)
{
	struct cfi_cie cie;
	uint64_t *slot;
	bool is_new;

	if (f->last && f->last_offset == offset)
		return f->last;
	slot = map_slot(&f->cies, offset, &is_new);
	if (!slot)
		return NULL;
	if (is_new && callframe_cie(&f->section, offset, &cie.of) &&
	    cfi_program_start(&f->program, &cie) && !buf_put(&f->parsed, &cie, sizeof(cie)))
		*slot = f->parsed.n / sizeof(cie);
	f->last_offset = offset;
	f->last =
	        *slot ? (const struct cfi_cie *)(const void *)f->parsed.bytes + (*slot - 1) : NULL;
	return f->last;
}

/* One function. What is unsound is counted in skipped; what an earlier source covers is no loss. */
static void cfi_fde(struct cfi *f, struct cursor *entry, uint64_t cie_offset)
{
	const struct cfi_cie *cie = cfi_cie_at(f, cie_offset);
	uint64_t start, end;

	if (!cie || !callframe_range(&f->section, &cie->of, entry, &start, &end)) {
		f->rows->skipped++;
		return;
	}
	if (!rows_begin(f->rows, start, end))
		return; /* discarded by the linker (address 0), or not executable */
	if (cfi_program_run(&f->program, cie, entry, start, end))
		rows_end(f->rows);
	else
		rows_cancel(f->rows);
}

/* The first entry that begins at or behind `wanted`, looked for from the entry at `at`; the
 * section's end if there is none. So a section is divided into shares that begin at entries. */
size_t cfi_next(const struct compile_input *in, const struct compile_section *section, size_t at,
                size_t wanted)
{
	struct cursor c = cursor_of(section->bytes, section->n, in->swap), entry;
	bool is_64;

	cursor_seek(&c, at);
	while (cursor_offset(&c) < wanted && cursor_left(&c) >= 4) {
		if (!callframe_entry(&c, &entry, &is_64))
			return section->n;
	}
	return cursor_left(&c) < 4 ? section->n : cursor_offset(&c);
}

/* One CIE, FDE or terminator (linkers leave those between the parts of some objects). */
static void cfi_one(struct cfi *f, struct cursor *entry, bool is_64)
{
	uint64_t cie;

	if (!cursor_left(entry))
		return;
	if (callframe_is_fde(&f->section, entry, is_64, &cie))
		cfi_fde(f, entry, cie);
	else if (entry->failed)
		f->rows->skipped++;
}

/* Walks the entries one after the other by their lengths. The section ends at the first length that
 * does not fit. */
void cfi_compile(struct rows *rows, const struct compile_section *section, bool is_debug_frame,
                 size_t from, size_t to)
{
	struct cfi f = {
		.rows = rows,
		.section = { .bytes = section->bytes,
		             .n = section->n,
		             .address = section->address,
		             .text_address = rows->in->text_address,
		             .data_address = rows->in->data_address,
		             .swap = rows->in->swap,
		             .is_debug_frame = is_debug_frame },
	};
	struct cursor c = cursor_of(section->bytes, section->n, rows->in->swap), entry;
	bool is_64;

	if (cfi_program_init(&f.program, rows, section) < 0)
		rows->failed = -ENOMEM;
	rows_expect(rows, to - from);
	cursor_seek(&c, from);
	while (cursor_offset(&c) < to && cursor_left(&c) >= 4 && !rows->failed &&
	       callframe_entry(&c, &entry, &is_64))
		cfi_one(&f, &entry, is_64);
	cfi_program_free(&f.program);
	map_free(&f.cies);
	buf_free(&f.parsed);
}
