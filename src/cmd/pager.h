/* SPDX-License-Identifier: MIT */
/*
 * pager.h: a terminal on standard output: how wide it is, and a text that is longer than it, shown
 * by the program that the user reads long texts with: $SEAM_PAGER, else $PAGER, else less.
 */
#ifndef SEAM_CMD_PAGER_H
#define SEAM_CMD_PAGER_H

#include "base/buf.h"

/* Columns of the terminal on standard output; 0: it is none, or does not say. */
size_t pager_columns(void);
/*
 * Shows the text and waits until the user has left the pager. False: print it yourself, because
 * standard output is no terminal, the text fits, no pager is wanted ("" or "cat"), or there is
 * none. The variable's words are parted by blanks; no shell reads them.
 */
bool pager_show(const struct buf *text);

#endif
