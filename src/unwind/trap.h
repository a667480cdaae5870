/* SPDX-License-Identifier: MIT */
/*
 * trap.h: registers of a task that a uprobe's breakpoint stopped, while the kernel still works on
 * the trap. Up to the probe's handlers the pc is the one behind the breakpoint, where the rule of
 * the replaced instruction's end does not hold yet: execution stopped before it. From then on it is
 * that of a moment of the program: the breakpoint's address, or, where the kernel carried the
 * instruction out itself, the next one. Which it is, the stack and the code must tell. x86_64.
 */
#ifndef SEAM_UNWIND_TRAP_H
#define SEAM_UNWIND_TRAP_H

#include "unwind/walk.h"

enum trap_moment {
	TRAP_BEHIND, /* the registers are of one moment; or it does not matter to the callers */
	TRAP_BEFORE, /* execution stopped at pc - 1 */
	TRAP_EITHER, /* it cannot be told: the function is sure, its callers are not */
};

#define TRAP_CODE 8u /* bytes that are asked for at once, at most */

/* Gives the n bytes in front of an address, as the program's file has them. False: not known. */
typedef bool trap_code(void *ctx, uint64_t end, unsigned char *ret, size_t n);

/* code is called with memory->ctx. memory->cache is not used. */
enum trap_moment trap_moment(const struct walk_options *options, const struct walk_memory *memory,
                             const struct walk_registers *regs, trap_code *code);
/* Whether the two moments have different callers, or may be in different functions. If not,
 * trap_moment need not be asked. */
bool trap_matters(const struct walk_options *options, const struct walk_memory *memory,
                  const struct walk_registers *regs);

#endif
