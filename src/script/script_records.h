/* SPDX-License-Identifier: MIT */
/* script_records.h: side-band records as perf script prints them, behind the head of the line. */
#ifndef SEAM_SCRIPT_SCRIPT_RECORDS_H
#define SEAM_SCRIPT_SCRIPT_RECORDS_H

#include <seam/record.h>

#include "base/buf.h"

/* "PERF_RECORD_COMM exec: gcc:398/398\n". */
int script_record(const struct seam_decoded *d, struct buf *out);

#endif
