/* SPDX-License-Identifier: MIT */
/*
 * walk_result_text.h: what became of the stack copies that a file no longer has, in words, the same
 * below a report and in seam stat.
 */
#ifndef SEAM_REPORT_WALK_RESULT_TEXT_H
#define SEAM_REPORT_WALK_RESULT_TEXT_H

#include "base/buf.h"
#include "samples/walk_result.h"

/* One line, or two; nothing when no sample says it. */
void walk_result_text(const struct walk_result_counts *counts, struct buf *out);

/* "12.3 %", but what is there is never 0: "<0.1 %". Returns buf. */
const char *walk_result_share(uint64_t n, uint64_t all, char *buf, size_t size);

#endif
