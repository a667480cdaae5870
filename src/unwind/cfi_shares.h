/* SPDX-License-Identifier: MIT */
/* cfi_shares.h: all functions of .eh_frame or .debug_frame -> rows, by as many threads as the input
 * allows. */
#ifndef SEAM_UNWIND_CFI_SHARES_H
#define SEAM_UNWIND_CFI_SHARES_H

#include "unwind/rows.h"

#define CFI_SHARES_MAX 64u
#define CFI_SHARE_BYTES (256u << 10) /* compile_input's share_bytes if that is 0 */

/* The rows are the same whatever rows->in->threads is. */
void cfi_shares_compile(struct rows *rows, const struct compile_section *section,
                        bool is_debug_frame);

#endif
