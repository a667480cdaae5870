#!/bin/sh
# SPDX-License-Identifier: MIT
# seam script -F addr: what a page fault touched is named as perf names it, variables too; the text of perf decides.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
command -v perf >/dev/null || skip "perf is not installed"
command -v python3 >/dev/null || skip "python3 compares the texts"
CC=
for cc in cc gcc clang; do command -v $cc >/dev/null && CC=$cc && break; done
[ "$CC" ] || skip "no C compiler"
peer=$here/../../scripts/peer
if [ -d "${XDG_CACHE_HOME:-$HOME/.cache}/seam-tests" ] && "$peer" perf --version >/dev/null 2>&1; then
	other="$peer perf"
else
	other=perf
fi
echo "# beside $($other --version)"

cat >touch.c <<'C'
#include <stdlib.h>
static char in_bss[1 << 16];
char shared_bss[1 << 20];
char in_data[1 << 18] = { 1, 2, 3 };
static char local_data[1 << 17] = { 4 };
const char in_rodata[1 << 17] = { 7 };
__thread char in_tls[64] = { 1 };
__attribute__((noinline)) int write_all(char *p, unsigned long n)
{
	int s = 0;

	for (unsigned long i = 0; i < n; i += 4096)
		s += p[i]++;
	return s;
}
__attribute__((noinline)) int read_all(const char *p, unsigned long n)
{
	int s = 0;

	for (unsigned long i = 0; i < n; i += 4096)
		s += p[i];
	return s;
}
int main(void)
{
	char *heap = malloc(1 << 18);

	return write_all(heap, 1 << 18) + write_all(in_bss, sizeof(in_bss)) + write_all(shared_bss, sizeof(shared_bss)) +
	       write_all(in_data, sizeof(in_data)) + write_all(local_data, sizeof(local_data)) +
	       read_all(in_rodata, sizeof(in_rodata)) + in_tls[1] == 1;
}
C
for build in "-O1 -g" "-O1 -g -no-pie" "-O1 -static"; do
	$CC $build -o touch.$$ touch.c 2>cc.err || { echo "not built with $build: $(cat cc.err)"; continue; }
	mv touch.$$ program
	# Build-ids by the kernel: perf 6.1 that collects them itself, in the end, dies of some that others' programs left in its cache
	# (an assertion in build-id.c).
	perf record -q --buildid-mmap -d -c 1 -e page-faults -o faults.data ./program >perf.err 2>&1 ||
		skip "perf cannot record page faults: $(cat perf.err)"
	for fields in addr,sym,symoff addr,sym,dso addr,dso ip,addr,dso tid,time,event,addr; do
		"$SEAM" script -G -F $fields -i faults.data >ours 2>err || fail "$fields: $(cat err)"
		$other script -G -F $fields -i faults.data >theirs 2>/dev/null </dev/null
		if python3 - $fields <<'PY'
import re, sys
ours, theirs = ([l.rstrip() for l in open(p)] for p in ("ours", "theirs"))
mine = re.compile(r"\b(in_bss|shared_bss|in_data|local_data|in_rodata)\b")
named = [i for i, l in enumerate(theirs) if mine.search(l)]
differ = [i for i in range(min(len(ours), len(theirs))) if ours[i] != theirs[i]]
wanted = 0 if "sym" not in sys.argv[1] else 60
print("%d lines, %d of the program's variables, %d differ" % (len(ours), len(named), len(differ)))
for i in differ[:3]:
    print("   ", ours[i], "|", theirs[i])
# Several names at one address: seam's choice is its own (symbol/table.h), but not of what is touched here.
few = len(ours) * 0.05 if wanted else 0
sys.exit(len(ours) != len(theirs) or len(named) < wanted or any(i in differ for i in named) or len(differ) > few)
PY
		then echo "ok: $build: $fields"; else fail "$build: $fields: another text"; fi
	done
done

echo "# an event whose address perf does not name"
perf record -q --buildid-mmap -d -F 999 -e cpu-clock -o clock.data -- sh -c "$BUSY" >/dev/null 2>perf.err || fail "perf record: $(cat perf.err)"
"$SEAM" script -G -F addr,dso -i clock.data >ours 2>err
$other script -G -F addr,dso -i clock.data >theirs 2>/dev/null </dev/null
atleast "samples" 10 "$(wc -l <ours)"
sed 's/ *$//' ours >a
sed 's/ *$//' theirs >b
if cmp a b; then echo "ok: the same"; else fail "another text"; fi
done_testing
