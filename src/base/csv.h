/* SPDX-License-Identifier: MIT */
/* csv.h: one value of comma-separated values: quoted when it must be (RFC 4180). */
#ifndef SEAM_BASE_CSV_H
#define SEAM_BASE_CSV_H

#include "base/buf.h"

void csv_text(struct buf *out, const char *text);

#endif
