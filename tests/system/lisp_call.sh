#!/bin/sh
# SPDX-License-Identifier: MIT
# C that calls code made at run time in the way of Lisp (as SBCL does): the caller makes a frame, and the callee takes it for its own, so that
# what the caller's unwind information says of the frame pointer is true only until the call. Beside it a callee of the usual kind.
. "$(dirname "$0")/lib.sh"
can_record
[ "$(uname -m)" = x86_64 ] || skip "x86_64 only"

cat >enter.s <<'S'
	.text
	.macro	calls name, after
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rbx
	subq	$104, %rsp
	pushq	%rbp
	pushq	%rbp
	movq	%rsp, %rbp
	/* CFA = *rbp + 16 */
	.cfi_escape 0x0f, 5, 0x76, 0, 6, 0x40, 0x22
	call	*%rdi
	\after
	.cfi_def_cfa %rbp, 16
	movq	-8(%rbp), %rbx
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	\name, .-\name
	.endm
	calls	enter_taking, "nop"
	calls	enter_keeping, "popq %rbp"

	.globl	taking, taking_end, keeping, keeping_end
taking:
	popq	8(%rbp)
	leaq	-32(%rbp), %rsp
	movl	$100000, %ecx
1:	imulq	$3, %r9, %r9
	decl	%ecx
	jnz	1b
	movq	%rbp, %rsp
	popq	%rbp
	ret
taking_end:
keeping:
	pushq	%rbp
	movq	%rsp, %rbp
	movl	$100000, %ecx
1:	imulq	$3, %r9, %r9
	decl	%ecx
	jnz	1b
	popq	%rbp
	ret
keeping_end:
	.section .note.GNU-stack,"",@progbits
S
cat >main.c <<'C'
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include "work.h"
extern char taking[], taking_end[], keeping[], keeping_end[];
void enter_taking(void *code), enter_keeping(void *code);
static volatile int sink;
__attribute__((noinline)) static void takes(void *code)
{
	enter_taking(code);
	sink++;
}
__attribute__((noinline)) static void keeps(void *code)
{
	enter_keeping(code);
	sink++;
}
int main(void)
{
	char *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	memcpy(code, taking, taking_end - taking);
	memcpy(code + 4096, keeping, keeping_end - keeping);
	for (uint64_t end = work_until(700); work_goes_on(end);)
		takes(code);
	for (uint64_t end = work_until(700); work_goes_on(end);)
		keeps(code + 4096);
	return 0;
}
C
${CC:-cc} -g -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o lisp main.c enter.s || skip "no compiler"
for how in auto dwarf,65528; do
	option=--call-graph=$how
	[ $how != auto ] || option=-q
	"$SEAM" record -q $option -e cpu-clock -F 997 -o f.data ./lisp 2>err || fail "$how: record: $(cat err)"
	for kind in takes:taking keeps:keeping; do
		# Above the caller in assembler stands its own caller, or nothing: no stack leaves a frame out.
		"$SEAM" script -F ip,sym f.data 2>/dev/null | awk -v RS= -v caller=${kind%:*} -v callee=enter_${kind#*:} '{
			at = 0; for (i = 2; i <= NF; i += 2) if ($i == callee) at = i }
			at && at < NF { if ($(at + 2) != caller) wrong++; else if ($NF == "_start") whole++ }
			END { print whole + 0, wrong + 0 }' >n
		read -r whole wrong <n
		atleast "$how: whole stacks of ${kind%:*}" 100 "$whole"
		same "$how: ${kind%:*}: stacks with a frame left out" 0 "$wrong"
	done
done
done_testing
