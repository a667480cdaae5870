/* SPDX-License-Identifier: MIT */
/* cfi.h: .eh_frame and .debug_frame -> rows. */
#ifndef SEAM_UNWIND_CFI_H
#define SEAM_UNWIND_CFI_H

#include "unwind/rows.h"

/* All functions of a section. Unsound entries are skipped and counted in rows. Never fails but for memory (rows->failed). */
void cfi_compile(struct rows *rows, const struct compile_input *in,
                 const struct compile_section *section, bool is_debug_frame);

#endif
