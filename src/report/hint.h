/* SPDX-License-Identifier: MIT */
/*
 * hint.h: what would give names to an object that has none: a file, the Debian package that holds
 * it, or an option. Looks into dpkg's lists, and starts nothing.
 */
#ifndef SEAM_REPORT_HINT_H
#define SEAM_REPORT_HINT_H

#include "base/buf.h"
#include "aggregate/load.h"
#include "proc/proc.h"

/* Appends one line without its end; nothing when there is nothing to advise. procs: whose mappings
 * tell the runtime. */
void hint_unnamed(const struct load_unnamed *unnamed, const struct proc_table *procs,
                  struct buf *out);
/* The package that a file belongs to, by the lists in info ("/var/lib/dpkg/info"); 1 and *ret, or
 * 0. */
int hint_package(const char *info, const char *path, struct buf *ret);

#endif
