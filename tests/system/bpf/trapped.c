/* SPDX-License-Identifier: MIT */
/*
 * trapped.c: functions whose first instructions, and last, are replaced by a uprobe's breakpoint,
 * called again and again by trapped_caller. Without frame pointers; rbp and rbx hold data. Probes
 * go to the symbols at_*. x86_64.
 */
#include <stdint.h>

#include "work.h"

#define FUNCTION(name, first, cfi, body, undo, undo_cfi) \
	"	.globl	trapped_" name "\n"              \
	"	.type	trapped_" name ", @function\n"   \
	"trapped_" name ":\n"                            \
	"	.cfi_startproc\n"                              \
	"	.globl	at_" name "\n"                   \
	"at_" name ":\n"                                 \
	"	" first "\n"                             \
	"	" cfi "\n"                               \
	"	" body "\n"                              \
	"	" undo "\n"                              \
	"	" undo_cfi "\n"                          \
	"	.globl	at_" name "_ret\n"               \
	"at_" name "_ret:\n"                             \
	"	ret\n"                                         \
	"	.cfi_endproc\n"                                \
	"	.size	trapped_" name ", . - trapped_" name "\n"

__asm__(".text\n" FUNCTION("rbp", "push %rbp", ".cfi_adjust_cfa_offset 8", "nop", "pop %rbp",
                           ".cfi_adjust_cfa_offset -8")
                FUNCTION("rbx", "push %rbx", ".cfi_adjust_cfa_offset 8", "mov $5, %ebx", "pop %rbx",
                         ".cfi_adjust_cfa_offset -8")
                        FUNCTION("r12", "push %r12", ".cfi_adjust_cfa_offset 8", "nop", "pop %r12",
                                 ".cfi_adjust_cfa_offset -8")
                                FUNCTION("sub", "sub $24, %rsp", ".cfi_adjust_cfa_offset 24", "nop",
                                         "add $24, %rsp", ".cfi_adjust_cfa_offset -24"));

void trapped_rbp(void);
void trapped_rbx(void);
void trapped_r12(void);
void trapped_sub(void);

static void __attribute__((noinline)) trapped_caller(unsigned n)
{
	while (n--) {
		trapped_rbp();
		trapped_rbx();
		trapped_r12();
		trapped_sub();
		__asm__ volatile("" : : : "memory");
	}
}

int main(void)
{
	for (uint64_t end = work_until(1000); work_goes_on(end);)
		trapped_caller(work_loops(1000));
	return 0;
}
