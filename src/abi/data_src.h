/* SPDX-License-Identifier: MIT */
/*
 * data_src.h: where a memory access was answered from (PERF_SAMPLE_DATA_SRC), in perf's words: "|OP
 * LOAD|LVL L3 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK N/A". Bits without a name are not shown.
 */
#ifndef SEAM_ABI_DATA_SRC_H
#define SEAM_ABI_DATA_SRC_H

#include "base/buf.h"

/* -ENOMEM. */
int data_src_text(uint64_t data_src, struct buf *out);

#endif
