/* SPDX-License-Identifier: MIT */
/*
 * header.h: what a recording says about itself as text, for seam header and for the head of a dump.
 */
#ifndef SEAM_INSPECT_HEADER_H
#define SEAM_INSPECT_HEADER_H

#include "base/buf.h"
#include "input/source.h"

/*
 * Appends the text of `seam header` for an open source. A stream has its features among its records
 * or behind them: what is left of one is read for that, and the records are gone. full: topologies,
 * caches and memory too. EXIT_OK, or EXIT_PARTIAL when a feature's content cannot be read, which is
 * said on stderr.
 */
int header_text(const struct source *s, bool full, struct buf *out);
/* Opens the source, prints that text, closes it: an exit code. */
int header_print(struct source *s, bool full);

#endif
