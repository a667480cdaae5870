# SPDX-License-Identifier: MIT
# lld.sh: programs that lld linked. Their code begins in the page of the file in which what is read only ends, so that two mappings
# have the same offset; which address the object's tables give a pc depends on taking the right one of its segments.
. "$(dirname "$0")/lib.sh"
command -v clang >/dev/null 2>&1 && command -v ld.lld >/dev/null 2>&1 || skip "clang and lld are needed"
can_record

cat >work.c <<'C'
#include "work.h"
volatile unsigned long sink;
__attribute__((noinline)) void inner(long n) { char b[200]; for (long i = 0; i < n; i++) { b[i % 200] = (char)i; sink += (unsigned char)b[i * 7 % 200]; } }
__attribute__((noinline)) void middle(long n) { volatile char b[300]; b[n % 300] = 1; inner(n); sink += (unsigned char)b[n % 300]; }
__attribute__((noinline)) void outer(long n) { volatile char b[500]; b[n % 500] = 1; middle(n); sink += (unsigned char)b[n % 500]; }
int main(void) { for (uint64_t end = work_until(500); work_goes_on(end);) outer(work_loops(200000)); return 0; }
C
clang -O1 -fomit-frame-pointer -fasynchronous-unwind-tables -fuse-ld=lld -o work work.c || fail "cannot link with lld"
readelf -lW work | grep ' R E ' | grep -qv '0x[0-9a-f]*000 0x' || skip "this lld puts the code at the beginning of a page"

# stacks NAME OPTIONS...: nearly all samples in inner have all its callers
stacks() {
	name=$1
	shift
	"$SEAM" record -q -o "$name.data" -F 499 "$@" -- ./work 2>err || fail "$name: $(cat err)"
	"$SEAM" script -i "$name.data" -F ip,sym 2>/dev/null | python3 -c '
import sys
stacks = [s for s in sys.stdin.read().split("\n\n") if " inner" in s]
whole = [s for s in stacks if all(" " + f in s for f in ("middle", "outer", "main"))]
print(len(whole), "of", len(stacks), "stacks are whole")
sys.exit(len(stacks) < 20 or len(whole) * 100 < len(stacks) * 95)' || fail "$name: frames are missing"
}
stacks live --call-graph dwarf
stacks afterwards --call-graph dwarf --keep-stacks
[ "$failures" -eq 0 ] || done_testing
needs_bpf
stacks kernel --call-graph dwarf,defer
done_testing
