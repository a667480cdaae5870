/* SPDX-License-Identifier: MIT */
/* cfi_row.h: a state of the registers -> the rule of a row. */
#ifndef SEAM_UNWIND_CFI_ROW_H
#define SEAM_UNWIND_CFI_ROW_H

#include "unwind/cfi_op.h"
#include "unwind/rows.h"

/* Makes the rule, and marks in state which slots were pushed and popped by then. False: a rule
 * cannot say it. */
bool cfi_row_of(const struct cfi_machine *m, const struct cfi_kind *kind, struct cfi_state *state,
                struct rows *rows, struct rows_rule *ret);

#endif
