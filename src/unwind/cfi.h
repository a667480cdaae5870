/* SPDX-License-Identifier: MIT */
/* cfi.h: .eh_frame and .debug_frame -> rows. */
#ifndef SEAM_UNWIND_CFI_H
#define SEAM_UNWIND_CFI_H

#include "unwind/rows.h"

/*
 * The functions of a section whose entries begin in [from, to), from being where one does. Unsound
 * entries are skipped and counted in rows. Never fails but for memory or too many rules
 * (rows->failed).
 */
void cfi_compile(struct rows *rows, const struct compile_section *section, bool is_debug_frame,
                 size_t from, size_t to);
/* From an entry at `at`, the first one that begins at or behind wanted; section->n: there is
 * none. */
size_t cfi_next(const struct compile_input *in, const struct compile_section *section, size_t at,
                size_t wanted);

#endif
