/* SPDX-License-Identifier: MIT */
/* cfi.h: .eh_frame and .debug_frame -> rows. */
#ifndef SEAM_UNWIND_CFI_H
#define SEAM_UNWIND_CFI_H

#include "unwind/rows.h"

/*
 * Adds the functions of a section whose entries begin in [from, to); an entry must begin at from.
 * Unsound entries are skipped and counted in rows. It fails only for want of memory, or with too
 * many rules (rows->failed).
 */
void cfi_compile(struct rows *rows, const struct compile_section *section, bool is_debug_frame,
                 size_t from, size_t to);
/* Steps from the entry at `at` to the first one that begins at or behind wanted; section->n: there
 * is none. */
size_t cfi_next(const struct compile_input *in, const struct compile_section *section, size_t at,
                size_t wanted);

#endif
