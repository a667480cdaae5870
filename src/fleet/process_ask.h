/* SPDX-License-Identifier: MIT */
/*
 * process_ask.h: what a process that runs says of itself now: see process.h, which remembers it.
 * Takes as long as the process likes: its memory may be locked, or on a disk that is slow.
 */
#ifndef SEAM_FLEET_PROCESS_ASK_H
#define SEAM_FLEET_PROCESS_ASK_H

#include "fleet/process.h"

/* Adds labels, from the least to the most certain. path: the control group, if that is known, or
 * NULL. *gone: there is no such process. -ENOMEM, -E2BIG. */
int process_ask(const struct process_opts *o, uint32_t pid, const char *path, struct labels *l,
                bool *gone);
/* The same of its process context, which is more certain than all that, and takes longer than all
 * that: all mappings of the process are read. A process has none when it begins. */
int process_ask_context(const struct process_opts *o, uint32_t pid, struct labels *l);

#endif
