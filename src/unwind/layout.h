/* SPDX-License-Identifier: MIT */
/* layout.h: the collected functions and rows -> table blob. */
#ifndef SEAM_UNWIND_LAYOUT_H
#define SEAM_UNWIND_LAYOUT_H

#include "unwind/rows.h"

/* Seals r and writes the table; ret is cleared first. Errors are compile_table's. */
int layout_table(struct rows *r, uint32_t flags, struct buf *ret, struct seam_error *err);

#endif
