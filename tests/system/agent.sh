# SPDX-License-Identifier: MIT
# agent.sh: the whole machine into a store: what is put is what is read, a known program has its functions and labels, there is one agent
# on a store, a signal ends it with its last window, and a store that cannot be written loses windows that are counted, and no more.
. "$(dirname "$0")/lib.sh"
command -v cc >/dev/null || skip "there is no C compiler"
"$SEAM" store ls --store sqlite:none 2>&1 | grep -q "has no SQLite" && skip "this build has no SQLite"
"$SEAM" agent --store sqlite:probe --duration 1s --window 1s 2>err || skip "the whole machine cannot be sampled here: $(cat err)"

cat >hot.c <<'C'
#include "work.h"
static volatile unsigned sink;
__attribute__((noinline)) void leaf_function(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink * 3u + i;
}
__attribute__((noinline)) void middle_function(unsigned n)
{
	leaf_function(n);
	sink++;
}
int main(int argc, char **argv)
{
	for (uint64_t end = work_until(atof(argv[1])); work_goes_on(end);)
		middle_function(work_loops(1000000));
	return 0;
}
C
cc -g -O1 -fno-optimize-sibling-calls -Wl,--build-id=0x1234567890abcdef -o seamhot hot.c || skip "the C compiler makes no program"
number() { tr '{,' '\n\n' | sed -n "s/^\"$1\":\\([0-9]*\\).*/\\1/p" | head -1; }
enough() {
	n=$("$SEAM" report --json --store sqlite:a.db --where comm=seamhot 2>/dev/null | number samples)
	[ "${n:-0}" -ge 20 ]
}

# Until the program has its samples, however little of the machine it gets.
./seamhot 3600000 &
hot=$!
"$SEAM" agent --store sqlite:a.db --freq 199 --window 1s --label zone=a,zone2=b 2>err &
agent=$!
until_true "samples of the program" enough
"$SEAM" agent --store sqlite:a.db --duration 1s 2>second
same "a second agent" 1 $?
says second "another seam agent writes to this store"
kill -TERM "$agent"
wait "$agent"
same "exit status after SIGTERM" 0 $?
kill "$hot"
wait "$hot" 2>/dev/null

# Windows, series and reports have the same samples, as many as the agent says.
said=$(sed -n 's/.* windows with \([0-9]*\) samples, 0 windows were lost.*/\1/p' err)
[ -n "$said" ] || fail "no last line: $(cat err)"
same "samples of the report" "$said" "$("$SEAM" report --json --store sqlite:a.db | number samples)"
same "samples of the series" "$said" "$("$SEAM" store ls --json --store sqlite:a.db | tr '{' '\n' | sed -n 's/.*"samples":\([0-9]*\),"windows".*/\1/p' | awk '{ n += $1 } END { print n }')"
same "windows" "$(sed -n 's/.*: \([0-9]*\) windows with .*/\1/p' err)" "$("$SEAM" store ls --json --store sqlite:a.db | number windows)"

# The program: its functions, with their callers, its labels.
"$SEAM" report --store sqlite:a.db --where comm=seamhot,zone=a -s sym --by service,version >out
same "self of the leaf, all of its caller" 1 "$(awk '$NF == "middle_function" && $3 + 0 > 70 && $4 + 0 < 30' out | grep -c .)"
says out '^seamhot, 1234567890ab '
host=$(uname -n)
same "by host" "$("$SEAM" report --json --store sqlite:a.db | number samples)" "$("$SEAM" report --json --store sqlite:a.db --where "host=$host" | number samples)"

# A store that cannot be written: windows are lost, which is said once for each time; the agent goes on, and writes again.
mkdir small
if unshare -m mount -t tmpfs none small 2>/dev/null; then
	cat >full.sh <<'END'
mount -t tmpfs -o size=8m none small || exit 99
"$SEAM" agent --store sqlite:small/full.db --freq 997 --window 1s 2>full &
agent=$!
tries=0
comes() { until "$@" || [ $tries -gt 1500 ]; do tries=$((tries + 1)); sleep 0.1; done; }
window() { "$SEAM" store ls --json --store sqlite:small/full.db 2>/dev/null | grep -q '"windows":[1-9]'; }
comes window
cat /dev/zero >small/rest 2>/dev/null
comes grep -q 'windows are lost until' full
rm small/rest
comes grep -q 'is written again' full
kill -TERM $agent
wait $agent
END
	unshare -m sh full.sh
	same "exit status with a full store" 0 $?
	said=$(grep -o 'windows are lost until\|is written again' full | tr '\n' ';')
	same "a full store, and that it is written again, is said once for each time" "" \
		"$(echo "$said" | sed 's/windows are lost until;is written again;//g')"
	lost=$(sed -n 's/.* samples, \([0-9]*\) windows were lost.*/\1/p' full)
	atleast "lost windows of a full store" 1 "${lost:-0}"
fi
done_testing
