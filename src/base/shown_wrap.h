/* SPDX-License-Identifier: MIT */
/* shown_wrap.h: sentences on a terminal of so many columns. */
#ifndef SEAM_BASE_SHOWN_WRAP_H
#define SEAM_BASE_SHOWN_WRAP_H

#include "base/buf.h"

/*
 * Appends lines that shown_put (base/shown.h) wrote, those that are wider than so many columns
 * broken between words: what goes on stands two columns further in than its line began. A word that
 * is wider is left whole. columns 0: as they are. 0 or -ENOMEM.
 */
int shown_wrap(struct buf *to, const char *lines, size_t columns);

#endif
