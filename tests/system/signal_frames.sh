# SPDX-License-Identifier: MIT
# signal_frames.sh: a frame that a signal stopped is an exact address and no return address. Here it is the first byte of a function:
# looked up one byte earlier, it would get the name and the unwinding rule of the function before. By the kernel's frame of a real
# signal, and by a function of the program's own that says .cfi_signal_frame (the S of an FDE); from stack copies and by BPF.
. "$(dirname "$0")/lib.sh"
can_record
[ "$(uname -m)" = x86_64 ] || skip "the program is in x86-64 assembly"

cat >asm.S <<'C'
	.text
/* Ends with a call: a return address would stand behind it, which is the first byte of the next one. Its rule is none of that. */
	.globl before_stopped
	.type before_stopped, @function
before_stopped:
	.cfi_startproc
	subq	$56, %rsp
	.cfi_def_cfa_offset 64
	call	spin
	.cfi_endproc
	.size before_stopped, . - before_stopped
/* A signal stops it at its first byte: SIGILL. */
	.globl stopped
	.type stopped, @function
stopped:
	.cfi_startproc
	ud2
	ret
	.cfi_endproc
	.size stopped, . - stopped

/* Goes to own_frame as a signal does: what stands on the stack is where the program is to go on. */
	.globl interrupted
	.type interrupted, @function
interrupted:
	.cfi_startproc
	leaq	resumed(%rip), %rax
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	jmp	own_frame
	.cfi_endproc
	.size interrupted, . - interrupted
	.globl before_resumed
	.type before_resumed, @function
before_resumed:
	.cfi_startproc
	subq	$56, %rsp
	.cfi_def_cfa_offset 64
	call	spin
	.cfi_endproc
	.size before_resumed, . - before_resumed
	.globl resumed
	.type resumed, @function
resumed:
	.cfi_startproc
	ret
	.cfi_endproc
	.size resumed, . - resumed
	.globl own_frame
	.type own_frame, @function
own_frame:
	.cfi_startproc
	.cfi_signal_frame
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	spin
	movl	$100000, %ecx /* is hit itself, too: then it is the first frame */
1:	decl	%ecx
	jnz	1b
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size own_frame, . - own_frame
	.section .note.GNU-stack, "", @progbits
C
cat >main.c <<'C'
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>
#include "work.h"
static volatile unsigned sink;
static unsigned rounds;
void stopped(void), interrupted(void);
__attribute__((noinline)) void spin(void)
{
	for (unsigned i = 0; i < rounds; i++)
		sink += i;
}
static void handler(int number, siginfo_t *info, void *context)
{
	spin();
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}
int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	rounds = (unsigned)work_loops(300000);
	sigaction(SIGILL, &action, 0);
	for (uint64_t end = work_until(500); work_goes_on(end);)
		stopped();
	for (uint64_t end = work_until(500); work_goes_on(end);)
		interrupted();
	return 0;
}
C

# stacks CALLEE: of the stacks with this function below spin, how many there are, how many have which functions up to main, and which
# names are not to be there.
stacks() {
	"$SEAM" script -i made.data -F ip,sym 2>script.err | awk -v RS= -v callee="$1" -v wanted="$2" '
		$0 !~ ("^[ \t]*[0-9a-f]+ spin\n[^\n]* " callee "\n") { next }
		{
			n++
			names = ""
			for (i = 2; i <= NF; i += 2) names = names " " $i
			sub(/^ spin /, "", names)
			sub(/ main .*/, " main", names)
			right += names == wanted
			if (names != wanted && !said++) print "not " names > "/dev/stderr"
		}
		END { print n + 0, right + 0 }'
}
cc -g -O1 -fomit-frame-pointer -I"$TESTS" -o program main.c asm.S 2>cc.err || fail "cc: $(cat cc.err)"
readelf --debug-dump=frames program >frames 2>/dev/null
same "augmentations with S" 1 "$(grep -c 'Augmentation: *".*S' frames)"
for mode in dwarf "" dwarf,defer=always; do
	record -F 499 ${mode:+--call-graph $mode} -o made.data ./program
	[ $status -eq 0 ] || fail "record: $(cat err)"
	if [ "$mode" != dwarf ] && grep -q 'not walked in the kernel by BPF' err; then
		echo "left out: $(grep 'not walked in the kernel by BPF' err)"
		continue
	fi
	for what in "handler|handler __restore_rt stopped main" "own_frame|own_frame resumed main"; do
		counts=$(stacks "${what%%|*}" "${what#*|}" 2>why)
		[ ! -s why ] || cat why
		atleast "${mode:-default}: stacks in ${what%%|*}" 50 "${counts% *}"
		same "${mode:-default}: ${what#*|}" "${counts% *}" "${counts#* }"
		# A report names them as script does, and nothing by the function before.
		"$SEAM" export -f folded made.data 2>/dev/null >folded
		atleast "${mode:-default}: folded" 1 "$(grep -c "main;$(echo "${what#*|}" | awk '{ for (i = NF - 1; i; i--) printf "%s;", $i }')spin " folded)"
		same "${mode:-default}: functions before" 0 "$(grep -c 'before_' folded)"
	done
done
done_testing
