/* SPDX-License-Identifier: MIT */
/* header.h: what a recording says about itself, for three commands. */
#ifndef SEAM_CLI_HEADER_H
#define SEAM_CLI_HEADER_H

#include "base/buf.h"
#include "input/source.h"

/* Appends the text of `seam header` for an open source (inspect/header.h). full: topologies, caches
 * and memory too. EXIT_OK, or EXIT_PARTIAL when a feature's content cannot be read, which is said
 * on stderr. */
int header_of(const struct source *s, bool full, struct buf *out);
/* Opens the source, prints that text, closes it: an exit code. */
int header_print(struct source *s, bool full);

#endif
