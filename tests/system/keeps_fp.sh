# SPDX-License-Identifier: MIT
# keeps_fp.sh: objects without unwind information: where their code keeps frame pointers, those lead on, and are said to be guesses;
# where it does not, the stack ends there.
. "$(dirname "$0")/lib.sh"
command -v gcc >/dev/null 2>&1 && command -v objcopy >/dev/null 2>&1 || skip "gcc and objcopy are needed"
can_record

# 60 functions, each calling the next; the last works.
python3 - >work.c <<'PY'
n = 60
print("#include \"work.h\"\nvolatile unsigned long sink;\nint rounds;")
print("__attribute__((noinline)) unsigned long f%d(unsigned long x) { for (int i = 0; i < rounds; i++) { x = x * 31 + i; sink = x; } return x; }" % n)
for i in reversed(range(n)):
    print("__attribute__((noinline)) unsigned long f%d(unsigned long x) { x = f%d(x + %d); sink = x; return x ^ %d; }" % (i, i + 1, i, i))
print("int main(void) { unsigned long x = 1; rounds = work_loops(20000); for (uint64_t end = work_until(500); work_goes_on(end);) x = f0(x); return x == 7; }")
PY
build() { # NAME FLAGS...
	name=$1
	shift
	gcc -O2 -fno-asynchronous-unwind-tables -fno-optimize-sibling-calls "$@" work.c -o "$name" &&
		objcopy -R .eh_frame -R .eh_frame_hdr "$name" || fail "cannot build $name"
}
build kept -fno-omit-frame-pointer
build not_kept -fomit-frame-pointer

# stacks FILE: samples in f60, of them with main in the stack
stacks() {
	"$SEAM" script -i "$1" -F ip,sym 2>/dev/null | python3 -c '
import sys
stacks = [s for s in sys.stdin.read().split("\n\n") if " f60" in s or " ?f60" in s]
print(len(stacks), sum(" main" in s or " ?main" in s for s in stacks))'
}

# Code of a program whose other functions have unwind information: 128 KiB that have none, as the builtins of V8 in node. In `gap_kept` each of
# its functions sets up a frame; in `gap_not` the frame pointer is any register.
gap() { # NAME BEGIN END
	python3 - "$2" "$3" >gap.s <<'PY'
import sys
begin, end = sys.argv[1:]
print(".text\n.globl gap\n.type gap, @function")
for i in range(1024):
    print(".p2align 7\n%s:\n%s" % ("gap" if i == 0 else "g%d" % i, begin))
    print("call %s" % ("leaf" if i == 40 else "g%d" % (i + 1) if i < 1023 else "gap"))
    print("%s\nret" % end)
print(".section .note.GNU-stack,\"\",@progbits")
PY
	cat >gap.c <<'C'
#include "work.h"
volatile unsigned long sink;
static int rounds;
void gap(void);
__attribute__((noinline)) void leaf(void) { unsigned long x = sink; for (int i = 0; i < rounds; i++) { x = x * 31 + i; sink = x; } }
__attribute__((noinline)) void outer(void) { gap(); sink++; }
int main(void) { rounds = work_loops(20000); for (uint64_t end = work_until(500); work_goes_on(end);) outer(); return sink == 7; }
C
	printf '__attribute__((noinline)) int behind(int x) { return x + 1; }\n' >behind.c
	gcc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls gap.c gap.s behind.c -o "$1" || fail "cannot build $1"
}
gap gap_kept 'push %rbp; mov %rsp,%rbp' 'pop %rbp'
gap gap_not 'push %rbp; lea 64(%rsp),%rbp' 'pop %rbp'

for mode in dwarf dwarf,defer; do
	if [ $mode = dwarf,defer ] && ! "$SEAM" check 2>/dev/null | grep -q "bpf_stacks  *yes"; then
		echo "not tried: $mode: BPF cannot be used here"
		continue
	fi
	record -F 997 --call-graph $mode -o kept.data -- ./kept
	read -r all whole <<-EOF
	$(stacks kept.data)
	EOF
	atleast "$mode: samples of code that keeps frame pointers" 30 "$all"
	atleast "$mode: of them with main, of 1000" 950 $((whole * 1000 / (all + 1)))
	"$SEAM" report -i kept.data -g none >report.txt 2>&1
	says report.txt 'without unwind information'
	record -F 997 --call-graph $mode -o not_kept.data -- ./not_kept
	read -r all whole <<-EOF
	$(stacks not_kept.data)
	EOF
	atleast "$mode: samples of code that does not" 30 "$all"
	same "$mode: of them with main" 0 "$whole"
	"$SEAM" script -i not_kept.data -F +state >states 2>/dev/null
	atleast "$mode: of them that say why" "$all" "$(grep -cE 'immediate/no_(unwind_info|table)' states)"
	for name in gap_kept gap_not; do
		record -F 997 --call-graph $mode -o gap.data -- ./$name
		"$SEAM" script -i gap.data -F ip,sym 2>/dev/null | python3 -c '
import sys
stacks = [s for s in sys.stdin.read().split("\n\n") if " leaf" in s]
whole = [s for s in stacks if all(" ?%s\n" % f in s + "\n" or " %s\n" % f in s + "\n" for f in ("gap", "g1", "g39", "g40", "outer", "main"))]
print(len(stacks), len(whole), sum("_start" in s for s in stacks))' >count
		read -r all whole starts <count
		atleast "$mode, $name: samples behind code without unwind information" 30 "$all"
		if [ $name = gap_kept ]; then
			atleast "$mode, $name: of them whole, of 1000" 950 $((whole * 1000 / (all + 1)))
			atleast "$mode, $name: of them from _start on, of 1000" 950 $((starts * 1000 / (all + 1)))
		else
			same "$mode, $name: of them with a caller of that code" 0 "$whole"
			same "$mode, $name: of them with _start" 0 "$starts"
		fi
	done
done
done_testing
