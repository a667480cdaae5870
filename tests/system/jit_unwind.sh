#!/bin/sh
# SPDX-License-Identifier: MIT
# Code made at run time that keeps no frame pointer: its callers are found by what it does next, or by what its jitdump says of
# unwinding it, in a recording and afterwards; or by the file that it was copied from. The program is what CPython's -X perf
# does, without CPython.
set -u
. "$(dirname "$0")/lib.sh"
command -v cc >/dev/null || skip "no cc"
[ "$(uname -m)" = x86_64 ] || skip "the code it makes is x86_64's"
can_record
cat >jit.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "work.h"
/* sub $8,%rsp; call *%rdi; add $8,%rsp; ret. And the same with a jump, behind which nobody looks. */
static const unsigned char plain[] = { 0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3 };
static const unsigned char jumps[] = { 0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0xeb, 0, 0x48, 0x83, 0xc4, 8, 0xc3 };
/* push %rbp; mov %rsp,%rbp; call *%rdi; a jump; pop %rbp; ret. And what such code returns to in the end: nop; exit(0). */
static const unsigned char keeps[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0xeb, 0, 0x5d, 0xc3 };
static const unsigned char ends[] = { 0x90, 0x90, 0xb8, 0xe7, 0, 0, 0, 0x31, 0xff, 0x0f, 5 };
static const unsigned char frames[] = { 0x14, 0, 0, 0, 0, 0, 0, 0, 1, 0x7a, 0x52, 0, 1, 0x78, 0x10, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
	0x14, 0, 0, 0, 0x1c, 0, 0, 0, 0xd0, 0xff, 0xff, 0xff, sizeof(jumps), 0, 0, 0, 0, 0x44, 0x0e, 16, 0x48, 0x0e, 8, 0 };
/* As CPython has it, to copy. */
__asm__(".globl _Py_trampoline_func_start\n_Py_trampoline_func_start:\nsub $8,%rsp\ncall *%rdi\nadd $8,%rsp\nret\n"
	".globl _Py_trampoline_func_end\n_Py_trampoline_func_end:\n");
typedef void (*trampoline)(void (*)(void));
static trampoline outer_code, inner_code;
static void u32(FILE *f, uint32_t v) { fwrite(&v, 4, 1, f); }
static void u64(FILE *f, uint64_t v) { fwrite(&v, 8, 1, f); }
static void load(FILE *f, void *at, const char *name, const void *code, size_t n, int index, int told)
{
	if (told) {
		u32(f, 4); u32(f, 16 + 24 + sizeof(frames)); u64(f, 1); u64(f, sizeof(frames)); u64(f, 0); u64(f, 0);
		fwrite(frames, sizeof(frames), 1, f);
	}
	u32(f, 0); u32(f, 16 + 40 + strlen(name) + 1 + n); u64(f, 1);
	u32(f, getpid()); u32(f, getpid()); u64(f, (uintptr_t)at); u64(f, (uintptr_t)at); u64(f, n); u64(f, index);
	fwrite(name, strlen(name) + 1, 1, f);
	fwrite(code, n, 1, f);
}
__attribute__((noipa)) static void spin(void)
{
	for (uint64_t end = work_until(1000); work_goes_on(end);)
		for (volatile unsigned i = 0, n = work_loops(100000); i < n; i++);
}
__attribute__((noipa)) static void middle(void) { inner_code(spin); __asm__ volatile(""); }
__attribute__((noipa)) static void bottom(void) { outer_code(middle); __asm__ volatile(""); }
int main(int argc, char **argv)
{
	unsigned char *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int own = argc > 1 && !strcmp(argv[1], "own"), told = own || (argc > 1 && !strcmp(argv[1], "dump"));
	const unsigned char *code = own ? keeps : told ? jumps : plain;
	size_t n = own ? sizeof(keeps) : told ? sizeof(jumps) : sizeof(plain);
	char path[64];
	FILE *f;

	memcpy(at, code, n);
	memcpy(at + 64, code, n);
	snprintf(path, sizeof(path), told ? "jit-%d.dump" : "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w+");
	if (told) {
		u32(f, 0x4a695444); u32(f, 1); u32(f, 40); u32(f, 62); u32(f, 0); u32(f, getpid()); u64(f, 0); u64(f, 0);
		fflush(f);
		mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
		load(f, at, "outer_made", code, n, 1, !own);
		load(f, at + 64, "inner_made", code, n, 2, !own);
		memcpy(at + 128, ends, sizeof(ends));
		load(f, at + 128, "end_made", ends, sizeof(ends), 3, 0);
	} else {
		const char *py = argc > 2 ? argv[2] : "";
		size_t more = argc > 3 ? atoi(argv[3]) : 0;
		fprintf(f, "%lx %zx %souter_made\n%lx %zx %sinner_made\n", (long)at, n + more, py, (long)at + 64, n + more, py);
		puts(path);
	}
	fclose(f);
	outer_code = (trampoline)at;
	inner_code = (trampoline)(at + 64);
	if (own) { /* a stack of its own, at whose end the frame pointer is 0, as Erlang has it */
		char *stack = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		__asm__ volatile("xor %%ebp,%%ebp; mov %0,%%rsp; push %1; jmp *%2" :: "r"(stack + (1 << 20) - 4096), "r"(at + 129),
				 "r"(outer_code), "D"(middle) : "memory");
	}
	bottom();
	return 0;
}
END
cc -O2 -fomit-frame-pointer -o jit jit.c || skip "cc does not work"

# whole WHAT FILE: of the stacks in spin 19 of 20 go on to main, by way of each function on the way
whole() {
	"$SEAM" script -F ip,sym -i "$2" >text 2>script.err
	awk 'BEGIN { RS = "" } / spin/ { n++; w += /spin.*inner_made.*middle.*outer_made.*bottom.*main/ }
		END { print n + 0, w + 0 }' text >shares
	read -r n w <shares
	atleast "$1: stacks" 20 "$n"
	atleast "$1: of $n stacks those with all callers" $((n - n / 20)) "$w"
}
record -F 500 -k monotonic --call-graph dwarf -o copied.data -- ./jit map >path
whole "by the code, copies walked while recording" copied.data
"$SEAM" report -i copied.data >report 2>&1
same "guessed" 0 "$(grep -c '? *[a-z]*_made' report)"
rm -f "$(cat path)"
record -F 500 -k monotonic --call-graph dwarf -o told.data -- ./jit dump
whole "by the dump, copies walked while recording" told.data
record -F 500 -k monotonic --call-graph dwarf --keep-stacks -o kept.data -- ./jit dump
whole "by the dump, afterwards" kept.data

# Frame pointers that end with 0, on a stack that leads to no main: the dump's code says that they are kept.
ended() {
	"$SEAM" script -F ip,sym -i "$2" >text 2>script.err
	awk 'BEGIN { RS = "" } / spin/ { n++; w += /spin.*inner_made.*middle.*outer_made.*end_made/ } END { print n + 0, w + 0 }' text >shares
	read -r n w <shares
	atleast "$1: stacks" 20 "$n"
	atleast "$1: of $n stacks those to the end" $((n - n / 20)) "$w"
	"$SEAM" report "$2" 2>/dev/null | sed -n 's/.*: \([0-9]*\)[.0-9]* % \(whole\|complete\).*/\1/p' >percent
	atleast "$1: percent that are called whole" 95 "$(head -n 1 percent)"
}
record -F 500 -k monotonic --call-graph dwarf -o own.data -- ./jit own
ended "a stack of its own, walked while recording" own.data
record -F 500 -k monotonic --call-graph dwarf --keep-stacks -o kept.data -- ./jit own
ended "a stack of its own, afterwards" kept.data
if (needs_bpf) >why; then
	record -F 500 -k monotonic --call-graph dwarf,defer -o bpf.data -- ./jit own
	ended "a stack of its own, in the kernel" bpf.data
fi
rm -f jit-[0-9]*.dump

# With neither a dump nor the process: the file that has the code which was copied, and the map that says where.
for map in "py:: 0" "py:: 5"; do # to its end, or rounded up to 16 bytes
	record -F 500 -k monotonic --call-graph dwarf --keep-stacks -o copy.data -- ./jit map $map >path
	whole "by the file that it was copied from, afterwards, $map" copy.data
	[ "$map" = "py:: 5" ] || rm -f "$(cat path)"
done
"$SEAM" report -i copy.data >report 2>&1
same "guessed" 0 "$(grep -c '? *[a-z]*_made' report)"
"$SEAM" convert -q copy.data -o converted.data 2>err || fail "converting: $(cat err)"
whole "the same, converted" converted.data
cut() { # of the stacks in spin none leads over what is not known
	"$SEAM" script -F ip,sym -i "$2" >text 2>script.err
	same "$1" 0 "$(awk 'BEGIN { RS = "" } / spin/ && /middle/ { n++ } END { print n + 0 }' text)"
}
cp jit jit.kept && strip -o jit.bare jit && cat jit.bare >jit
cut "the file has no such code" copy.data
cat jit.kept >jit
whole "it has it again" copy.data
rm -f "$(cat path)"
cut "nothing says where" copy.data
for map in "other:: 0" "py:: 1"; do
	record -F 500 -k monotonic --call-graph dwarf --keep-stacks -o other.data -- ./jit map $map >path
	cut "a map of other code, $map" other.data
	rm -f "$(cat path)"
done
(needs_bpf) >why || { cat why; done_testing; }
record -F 500 --call-graph dwarf,defer -o bpf.data -- ./jit map >path
whole "by the code, in the kernel" bpf.data
rm -f "$(cat path)"
done_testing
