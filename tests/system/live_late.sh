#!/bin/sh
# SPDX-License-Identifier: MIT
# A recorder that cannot keep up, by design: the thread that unwinds is held still (ptrace) while the target works from
# its first to its last instruction. The target must not wait for it, memory must stay bounded, and every sample
# must be in the file and say what became of it.
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
can_record
[ "$(uname -m)" = x86_64 ] || skip "stack copies are unwound while recording on x86_64 and aarch64; this was tried on x86_64"
command -v python3 >/dev/null || skip "python3 holds the thread"
CC=
for cc in cc gcc clang; do command -v $cc >/dev/null && CC=$cc && break; done
[ "$CC" ] || skip "no C compiler for the target"

# So much work on a deep stack that its copies do not fit into what may wait; begun when it is told for how many ms.
cat >work.c <<'C'
#include <stdio.h>
#include <string.h>
#include "work.h"
static volatile unsigned long sum;
static double ms;
__attribute__((noinline)) static void deep(int n)
{
	volatile char room[4000];
	memset((char *)room, n, sizeof(room));
	if (n)
		deep(n - 1);
	else
		for (uint64_t end = work_until(ms); work_goes_on(end);)
			for (unsigned long i = 0, loops = work_loops(100000); i < loops; i++)
				sum += i;
	sum += (unsigned long)room[n];
}
int main(void)
{
	if (scanf("%lf", &ms) != 1)
		return 1;
	deep(10);
	return 0;
}
C
$CC -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o work work.c || skip "the target cannot be built"
mkfifo go said
./work <go &
target=$!
exec 3>go
"$SEAM" record -v --call-graph dwarf,49152 --unwind-threads 1 -F 4000 -p $target -o f.data 2>err &
recorder=$!
until grep -q 'already running' err; do
	kill -0 $recorder || skip "cannot record: $(cat err)"
	sleep 0.1
done
threads() { [ "$(ls /proc/$recorder/task | wc -l)" -ge 2 ]; }
until_true "the thread that unwinds is there" threads
python3 "$here/live/hold.py" $recorder $target >said &
hold=$!
exec 4<said
read -r word threads <&4 || { kill $target $recorder; skip "no thread may be held"; }
same "held" held "$word"
same "threads that unwind" 1 "$threads"
# 64 MB may wait, or 4 times what the rings hold, of which there is one for each CPU. 4,000 copies a second are 188 MB.
mb=$(awk '/perf_event/ { split($1, a, "-"); print a[1], a[2] }' /proc/$recorder/maps | python3 -c 'import sys
rings = sum(int(end, 16) - int(start, 16) for start, end in map(str.split, sys.stdin))
print(max(64, 4 * rings >> 20))')
echo $((1000 + mb * 24)) >&3
wait $target
same "the target ended, while nobody unwound: status" 0 $?
read -r word threads <&4
same "released after that" released "$word"
wait $hold
wait $recorder
cat err

echo "# all is counted"
stat=$("$SEAM" stat f.data)
"$SEAM" report --json f.data >report.json
if python3 - report.json "$(sed -n 's/.*: \([0-9]*\) samples not unwound, user address only: the recorder could not.*/\1/p' err)" <<'PY'
import json, sys
report = json.load(open(sys.argv[1]))
u = report["unwound_recording"]
print(u)
ok = u["late"] > 100 and str(u["late"]) == sys.argv[2] and u["complete"] > 100 and not u["not_said"]
ok = ok and u["late"] + u["complete"] >= u["samples"] * 0.98
sys.exit(not ok)
PY
then echo "ok: late ones and whole ones are told apart"; else fail "the file and the recorder disagree"; fi
echo "$stat" >stat
says stat "not unwound: the recorder could not keep up"
atmost "MB that waited, of $mb" $((mb * 5)) "$(sed -n 's/.*at most \([0-9]*\)\.[0-9]* MB waited.*/\1/p' err)"
judge f.data
done_testing
