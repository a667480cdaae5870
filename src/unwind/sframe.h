/* SPDX-License-Identifier: MIT */
/* sframe.h: .sframe (versions 2 and 3) -> rows. */
#ifndef SEAM_UNWIND_SFRAME_H
#define SEAM_UNWIND_SFRAME_H

#include "unwind/rows.h"

/* All functions of a section; unsound ones are skipped and counted in rows. Never fails but for
 * memory (rows->failed). */
void sframe_compile(struct rows *rows, const struct compile_input *in,
                    const struct compile_section *section);

#endif
