/* SPDX-License-Identifier: MIT */
// self.h: this program, run once more for what another of its commands prints.
#ifndef SEAM_CMD_SELF_H
#define SEAM_CMD_SELF_H

#include <stddef.h>

#include "base/buf.h"

/* Appends what the program prints with these arguments (args[0] is its name; NULL ends them), on
 * standard output and standard error, without colours and progress: most bytes of it. No shell sees
 * the arguments. Ends it when the descriptor stop (-1: none) can be read. -ECANCELED; -errno. */
int self_run(const char *const *args, size_t most, int stop, struct buf *out);

#endif
