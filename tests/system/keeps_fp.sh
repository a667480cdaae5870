# SPDX-License-Identifier: MIT
# keeps_fp.sh: objects without unwind information: where their code keeps frame pointers, those lead on, and are said to be guesses;
# where it does not, the stack ends there.
. "$(dirname "$0")/lib.sh"
command -v gcc >/dev/null 2>&1 && command -v objcopy >/dev/null 2>&1 || skip "gcc and objcopy are needed"
can_record

# 60 functions, each calling the next; the last works.
python3 - >work.c <<'PY'
n = 60
print("volatile unsigned long sink;")
print("__attribute__((noinline)) unsigned long f%d(unsigned long x) { for (int i = 0; i < 20000; i++) { x = x * 31 + i; sink = x; } return x; }" % n)
for i in reversed(range(n)):
    print("__attribute__((noinline)) unsigned long f%d(unsigned long x) { x = f%d(x + %d); sink = x; return x ^ %d; }" % (i, i + 1, i, i))
print("int main(void) { unsigned long x = 1; for (int i = 0; i < 9000; i++) x = f0(x); return x == 7; }")
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
done
done_testing
