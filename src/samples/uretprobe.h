/* SPDX-License-Identifier: MIT */
/*
 * uretprobe.h: callers whose return address a uretprobe took. The kernel puts a trampoline's
 * address, in the mapping [uprobes], where a watched function is to return to, and keeps the right
 * one to itself. Who walks a stack there and does not ask it finds the trampoline in the caller's
 * place: the kernel's own deferred callchains, and copies of stacks. Which call it was cannot be
 * known any more.
 */
#ifndef SEAM_SAMPLES_URETPROBE_H
#define SEAM_SAMPLES_URETPROBE_H

#include <stdbool.h>

#include <seam/stitch.h>

#include "proc/proc.h"

/* Whether a return address that lies in the mapping (NULL: none is known) is the trampoline's. */
bool uretprobe_took(const struct proc_mapping *m);
/* Whether any caller in the user part of a stack is; space is its address space (proc_space). */
bool uretprobe_in_stack(const struct proc_table *procs, uint32_t space,
                        const struct seam_u64s *user);

#endif
