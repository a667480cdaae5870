#!/bin/sh
# SPDX-License-Identifier: MIT
# Assembler whose unwind information has the frame's address in rax around calls of its own leaf (as OpenSSL's AES-GCM): every stack
# is whole and right, however it is taken.
. "$(dirname "$0")/lib.sh"
can_record
[ "$(uname -m)" = x86_64 ] || skip "x86_64 only"

cat >rounds.s <<'S'
	.text
	.type	leaf, @function
leaf:
	.cfi_startproc
	movl	$200, %edx
1:	imulq	$3, %r9, %r9
	decl	%edx
	jnz	1b
	ret
	.cfi_endproc
	.size	leaf, .-leaf

	.globl	rounds
	.type	rounds, @function
rounds:
	.cfi_startproc
	movq	%rsp, %rax
	.cfi_def_cfa_register %rax
	pushq	%rbx
	.cfi_offset %rbx, -16
	subq	$200, %rsp
	andq	$-128, %rsp
	movl	%edi, %ecx
	movq	%rsp, %rbx
2:	call	leaf
	decl	%ecx
	jnz	2b
	movq	-8(%rax), %rbx
	.cfi_restore %rbx
	movq	%rax, %rsp
	.cfi_def_cfa_register %rsp
	ret
	.cfi_endproc
	.size	rounds, .-rounds
	.section .note.GNU-stack,"",@progbits
S
cat >main.c <<'C'
#include "work.h"
void rounds(int n);
static volatile int sink;
__attribute__((noinline)) static void cipher(void)
{
	rounds(1000);
	sink++;
}
int main(void)
{
	for (uint64_t end = work_until(700); work_goes_on(end);)
		cipher();
	return 0;
}
C
${CC:-cc} -g -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o rounds main.c rounds.s || skip "no compiler"
for how in auto dwarf dwarf,defer; do
	option=--call-graph=$how
	[ $how != auto ] || option=-q
	"$SEAM" record -q $option -e cpu-clock -F 997 -o f.data ./rounds 2>err || fail "$how: record: $(cat err)"
	"$SEAM" script -F ip,sym f.data 2>/dev/null | awk -v RS= '$2 == "leaf" {
		n++; if ($4 == "rounds" && $6 == "cipher" && $8 == "main" && $NF == "_start") whole++ } END { print n + 0, whole + 0 }' >n
	read -r n whole <n
	atleast "$how: samples in the leaf" 100 "$n"
	same "$how: with their whole stack" "$n" "$whole"
done
done_testing
