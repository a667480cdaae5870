/* SPDX-License-Identifier: MIT */
/*
 * outcome_text.h: what became of the stack copies that a file no longer has, in words, the same
 * below a report and in seam stat.
 */
#ifndef SEAM_CLI_OUTCOME_TEXT_H
#define SEAM_CLI_OUTCOME_TEXT_H

#include "base/buf.h"
#include "samples/outcome.h"

/* One line, or two; nothing when no sample says it. */
void outcome_text(const struct outcome_counts *counts, struct buf *out);

/* "12.3 %", but what is there is never 0: "<0.1 %". Returns buf. */
const char *outcome_share(uint64_t n, uint64_t all, char *buf, size_t size);

#endif
