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
"$SEAM" agent --store sqlite:b.db --duration 1s 2>second
same "a second agent" 1 $?
says second "another seam agent runs on this machine: process $agent "
mkdir other
RUNTIME_DIRECTORY=$T/other "$SEAM" agent --store sqlite:a.db --duration 1s 2>second
same "a second agent on the store" 1 $?
says second "another seam agent writes to this store"
"$SEAM" agent --store sqlite:a.db --check 2>check
same "exit status of --check beside an agent" 0 $?
says check "an agent runs already: process $agent\$"
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

# top, of what the store has lately.
"$SEAM" top --store sqlite:a.db --from -1d --where comm=seamhot -n 1 --stdio >out
same "exit status of top" 0 $?
says out '^seam top: [0-9,]* samples of the last 86400 s in sqlite:a.db, '
says out 'leaf_function'
"$SEAM" top --store sqlite:a.db -p 1 2>err
same "exit status of top of a store and a process" 2 $?

# Two sides of the store: what is the same is no slower; a gate sees what one side alone has.
"$SEAM" diff --store sqlite:a.db --where zone=a --base comm=seamhot --new comm=seamhot -s sym --fail-if-slower 1 >out
same "exit status of diff of equal sides" 0 $?
says out "^baseline: .* samples in .* spans\\?, .*(comm=seamhot)"
"$SEAM" diff --store sqlite:a.db --base "host=$host" --new comm=seamhot -s sym --fail-if-slower 1 --symbol middle_function --symbol leaf_function >out
case $? in 0 | 4) ;; *) fail "diff of a part and the whole: $(cat out)" ;; esac
"$SEAM" diff --store sqlite:a.db --base comm=seamhot --new comm=nobody 2>err
same "exit status of diff with nothing" 1 $?
says err 'comm=nobody has no samples'
for wrong in '--base comm=a' '--base comm --new comm=a' '--base comm=a --new comm=b --comm c'; do
	"$SEAM" diff --store sqlite:a.db $wrong 2>err
	same "exit status of diff with $wrong" 2 $?
done

# --check: what is wrong is said, all of it, and nothing is made.
"$SEAM" agent --store sqlite:none/c.db --store sqlite:c.db --metrics 10.0.0.1:1 --check 2>check
same "exit status of --check" 1 $?
says check 'none/c.db'
says check 'sqlite:c.db: will be made'
says check '^seam agent: metrics: '
says check 'user stacks: '
[ ! -e c.db ] || fail "--check made a store"

# A config file: options, labels and rules, read again by SIGHUP; one that makes no sense changes nothing.
cat >a.conf <<'END'
[agent]
store = sqlite:c.db
freq = 199
window = 1s
off-cpu = no
[labels]
zone = c
[service]
hot = exe=*/seamhot,env.TIER=g*
by-cgroup = cgroup=/*,comm=nothing
[version]
one = service=hot
END
version() { "$SEAM" store ls --json --store sqlite:c.db 2>/dev/null | grep -q "\"service\":\"hot\",\"version\":\"$1\",\"zone\":\"c\""; }
TIER=gold ./seamhot 3600000 &
hot=$!
"$SEAM" agent --config a.conf 2>err &
agent=$!
until_true "series by the rules" version one
sed -i 's/^one/two/' a.conf
kill -HUP "$agent"
until_true "series by other rules" version two
says err 'a.conf was read again'
echo nonsense >>a.conf
kill -HUP "$agent"
until_true "the word that nothing changes" grep -q 'the settings stay as they were' err
says err 'a.conf:13: neither'
kill -TERM "$agent"
wait "$agent"
same "exit status after reloads" 0 $?
kill "$hot"
wait "$hot" 2>/dev/null
"$SEAM" agent --config a.conf --check 2>check
same "exit status with a file that makes no sense" 2 $?
for line in 'frek = 1' 'freq = x' 'check' 'label = x' 'max-cpu = 0' 'memory = 7' 'series = comm'; do
	printf '[agent]\n%s\n' "$line" >b.conf
	"$SEAM" agent --config b.conf --check 2>check
	same "exit status with '$line'" 2 $?
	says check 'b.conf:2: '
done

# A process that is gone when its window ends was asked while it ran: the window ends with the agent. The busier the machine, the longer
# it has to live for that.
brief() { "$SEAM" store ls --json --store "sqlite:e$1.db" 2>/dev/null | grep -q '"service":"brief"'; }
for ms in 300 2000 12000 60000; do
	"$SEAM" agent --store "sqlite:e$ms.db" --freq 99 --window 600s 2>"err$ms" &
	agent=$!
	until_true "sampling" grep -q 'user stacks: ' "err$ms"
	OTEL_SERVICE_NAME=brief ./seamhot $ms
	kill -TERM "$agent"
	wait "$agent"
	same "exit status with a long window" 0 $?
	! brief $ms || break
done
brief $ms || fail "a process that was gone at the end has no label of its environment"

# Metrics, where this build has them.
if "$SEAM" agent --store sqlite:m.db --metrics 127.0.0.1:19464 --check 2>check; then
	"$SEAM" agent --store sqlite:m.db --metrics 127.0.0.1:19464 --window 1s 2>err &
	agent=$!
	cat >get.py <<'END'
import sys
import urllib.error
import urllib.request
try:
    print(urllib.request.urlopen("http://127.0.0.1:19464" + sys.argv[1]).read().decode(), end="")
except urllib.error.HTTPError as e:
    print(e.code)
END
	served() { python3 get.py /metrics 2>/dev/null | grep -q '^seam_agent_store_windows_total{store="sqlite:m.db"} [1-9]'; }
	until_true "metrics of a window" served
	# A window may be late on a busy machine, and then it is not healthy.
	healthy() { [ "$(python3 get.py /health)" = ok ]; }
	until_true "health" healthy
	same "another path" 404 "$(python3 get.py /)"
	kill -TERM "$agent"
	wait "$agent"
	same "exit status after metrics" 0 $?
elif ! grep -q 'no libmicrohttpd\|in use' check; then
	fail "metrics: $(cat check)"
fi

# A budget that is too small: the rate goes down, which is said, and windows name it; weights stay time.
"$SEAM" agent --store sqlite:d.db --freq 997 --window 1s --max-cpu 0.01 2>err &
agent=$!
until_true "a lower rate" grep -q 'more than 0.01 % of a CPU: .* samples a second and CPU from now on' err
kill -TERM "$agent"
wait "$agent"
same "exit status with a budget" 0 $?
"$SEAM" report --store sqlite:d.db >out
says out '^windows: .*[0-9] at 997 Hz'
says out '^windows: .*; their agents took [0-9.]* % of a CPU each$'

# Hours of the last day that are over are rolled up by the agent, as far as there are any.
cp "$(dirname "$0")/../data/pipe_z/perf.data" old.data # it does not say when it was made
touch -d '3 hours ago' old.data
"$SEAM" store import --store sqlite:a.db old.data 2>err || fail "import: $(cat err)"
rolled() { "$SEAM" store top --store sqlite:a.db --from -5h --to -2h 2>/dev/null | grep -q '^[1-9][0-9]* hours are rolled up$'; }
rolled && fail "hours are rolled up before there was an agent"
"$SEAM" agent --store sqlite:a.db --freq 19 --window 1s 2>err &
agent=$!
until_true "an hour that is rolled up" rolled
kill -TERM "$agent"
wait "$agent"

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
