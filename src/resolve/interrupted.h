/* SPDX-License-Identifier: MIT */
/*
 * interrupted.h: code that runs because other code was stopped, by its name: the kernel's entries
 * for interrupts and exceptions, and what a signal's handler returns to. The frame below such a one
 * called nothing: its address is where it was stopped, which may be a function's first byte, and a
 * lookup in front of it would find the function before. The names are those of Linux 2.6 to 7.3, of
 * glibc, musl, the vdso and Go.
 */
#ifndef SEAM_RESOLVE_INTERRUPTED_H
#define SEAM_RESOLVE_INTERRUPTED_H

#include <stdbool.h>

/* An entry of the kernel, of any of its architectures. */
bool interrupted_kernel(const char *name);
/* Returns from a signal's handler; only what unwind tables found below it was stopped: frame
 * pointers lead past that. */
bool interrupted_user(const char *name);
/* Code whose first byte stands in stacks as a return address that no call has put there. */
bool interrupted_begins(const char *name, bool kernel);

#endif
