/* SPDX-License-Identifier: MIT */
// diff_annotate.h: a function's source and instructions on two sides, as one text.
#ifndef SEAM_CLI_DIFF_ANNOTATE_H
#define SEAM_CLI_DIFF_ANNOTATE_H

#include "base/buf.h"

/* Appends what two runs of `seam annotate` print, line by line with the percents of both: a line
 * that only the first has is marked "-", one that only the second has "+". -ENOMEM. */
int diff_annotate(struct buf *base, struct buf *next, struct buf *out);

#endif
