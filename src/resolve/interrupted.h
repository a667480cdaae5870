/* SPDX-License-Identifier: MIT */
/*
 * interrupted.h: knows, by its name, code that runs because other code was stopped: the kernel's
 * entries for interrupts and exceptions, and the code to which a signal's handler returns. The
 * frame below such code called nothing: its address is where it was stopped. That may be the first
 * byte of a function, and a lookup in front of it would find the function before. The names are
 * those of Linux 2.6 to 7.3, glibc, musl, the vdso and Go.
 */
#ifndef SEAM_RESOLVE_INTERRUPTED_H
#define SEAM_RESOLVE_INTERRUPTED_H

#include <stdbool.h>

/* Whether this is an entry of the kernel, on any of its architectures. */
bool interrupted_kernel(const char *name);
/* Whether this is code to which a signal's handler returns. Only frames that unwind tables found
 * below it were stopped: frame pointers lead past the stopped one. */
bool interrupted_user(const char *name);
/* Whether the first byte of this code stands in stacks as a return address that no call has put
 * there. */
bool interrupted_begins(const char *name, bool kernel);

#endif
