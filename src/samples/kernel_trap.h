/* SPDX-License-Identifier: MIT */
/*
 * kernel_trap.h: whether a sample was taken while the kernel worked on a breakpoint's trap, by the
 * names of the kernel's functions on its stack, and of which moment the user registers are then
 * (unwind/trap.h). The names are those of the recorded kernel, as for all other names; where they
 * are not known, nothing is.
 */
#ifndef SEAM_SAMPLES_KERNEL_TRAP_H
#define SEAM_SAMPLES_KERNEL_TRAP_H

#include <seam/record.h>

#include "image/image.h"

struct kernel_trap;
struct recording;

enum kernel_trap_stage {
	KERNEL_TRAP_NONE,   /* no breakpoint, or nobody knows */
	KERNEL_TRAP_EARLY,  /* before the probe's handlers: the pc is behind the breakpoint */
	KERNEL_TRAP_LATE,   /* from the handlers on: the pc is that of a moment of the program */
	KERNEL_TRAP_MOVES,  /* the kernel is changing them, one after the other */
	KERNEL_TRAP_EITHER, /* either of the two */
};

/* rec: the recording, which must outlive it; NULL: the kernel that runs here. said:
 * recording_says_kernel. Nothing is read
 * before the first question. search: strings must outlive it; NULL: defaults. kallsyms: a list of
 * the kernel's symbols, as symbol_opts has it; it must outlive it; NULL: none. -ENOMEM. */
int kernel_trap_new(struct kernel_trap **ret, const struct recording *rec, bool said,
                    const struct image_search *search, const char *kallsyms);
void kernel_trap_free(struct kernel_trap *t);
/* By the kernel part of a callchain. Any thread. */
enum kernel_trap_stage kernel_trap_stage(struct kernel_trap *t, const struct seam_u64s *chain);

#endif
