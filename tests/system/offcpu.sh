# SPDX-License-Identifier: MIT
# Time off the CPU: its samples with their stacks and reasons, and that with --wall the periods of each thread add up to its life,
# which the program measures itself in the same run. Nothing is said of how long anything takes.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"

can_record
"$SEAM" record -q --off-cpu -o probe.data -- true 2>probe.err || skip "$(cat probe.err)"
${CC:-cc} -O2 -fomit-frame-pointer -D_GNU_SOURCE -o pattern "$HERE/offcpu/pattern.c" -pthread || skip "no compiler"

# sums: of each thread of lives.txt, whether its periods add up
cat >sums.py <<'E2'
import json, subprocess, sys
seam, file = sys.argv[1:3]
report = json.loads(subprocess.run([seam, "report", "--json", "-s", "tid,event", file], stdout=subprocess.PIPE, check=True).stdout)
of, on = {}, {}
for row in report["rows"]:
    of[row["tid"]] = of.get(row["tid"], 0) + row["self"]
    if not row["event"].startswith("offcpu"):
        on[row["tid"]] = on.get(row["tid"], 0) + row["self"]
bad = 0
for line in open("lives.txt"):
    name, tid, inner, outer, cpu = line.split()
    tid, inner, outer, cpu = int(tid), int(inner), int(outer), int(cpu)
    total, ran = of.get(tid, 0), on.get(tid, 0)
    # A tick of the clock, and what the event's count of CPU time leaves to interrupts.
    slack = 1500000 + outer // 500
    whole = inner - slack <= total <= outer + slack
    busy = cpu * 9 // 10 - slack <= ran <= total
    print("%s %s: %.3f ms in samples, %.3f to %.3f ms alive; on the CPU %.3f ms, %.3f by an event's count" % (
        "ok:" if whole and busy else "FAILED:", name, total / 1e6, inner / 1e6, outer / 1e6, ran / 1e6, cpu / 1e6))
    bad += not (whole and busy)
sys.exit(bad > 0)
E2

# of EVENT FUNCTION ROOT: samples of EVENT with FUNCTION in their stack, and of them with ROOT
of() {
	"$SEAM" script f.data | awk -v RS= -v e="$1" -v f="$2" -v r="$3" '
		$0 ~ e ":" && $0 ~ "[ \t]" f "[+ ]" { n++; if ($0 ~ "[ \t](" r ")[+ ]") w++ } END { print n + 0, w + 0 }'
}
# stacks WHAT EVENT FUNCTION LEAST: there are so many, and all are whole
stacks() {
	counts=$(of "$2" "$3" 'start_thread|main')
	atleast "$1" "$4" "${counts% *}"
	same "$1: of them whole" "${counts% *}" "${counts#* }"
}

for mode in dwarf,defer dwarf,defer=never; do
	echo "-- $mode"
	"$SEAM" record -v --wall -F 997 --call-graph $mode -o f.data -- ./pattern 20 >lives.txt 2>err || fail "$(cat err)"
	python3 sums.py "$SEAM" f.data || failures=$((failures + 1))
	"$SEAM" report -T --percent-limit 0 f.data >threads.txt || fail "report -T"
	same "threads in the report" "$(awk '{ print $2 }' lives.txt | sort | tr '\n' ' ')" \
		"$(awk -F '  +' '/^ .* (spinner|sleeper|mixed|short|writer) [0-9]+$/ { print $NF }' threads.txt | awk '{ print $2 }' | sort | tr '\n' ' ')"
	stacks "a sleep" offcpu-time nap 10
	stacks "a futex" offcpu-time wait_futex 10
	stacks "preempted or woken" offcpu-runqueue run 1
	blocked=$("$SEAM" script -F event,period f.data | awk '/offcpu-blocked/ { n++ } END { print n + 0 }')
	[ "$(stat -f -c %T .)" = tmpfs ] || atleast "the disk" 1 "$blocked"
	perf --version 2>/dev/null | grep -qE " (6\.19|[7-9])" && judge f.data # older ones do not know of deferred stacks
done

# The same, where nothing is told apart from what stays away for longer than the recording.
"$SEAM" record -q --off-cpu=20ms -e cpu-clock -o f.data -- ./pattern 20 >lives.txt 2>err || fail "$(cat err)"
short=$(awk '$1 == "short" { print $2 }' lives.txt)
outer=$(awk '$1 == "short" { printf "%d", $4 / 1e6 }' lives.txt)
# 400 naps; a busy machine makes them longer. What is short is told once in 20 ms, of each kind of wait.
atmost "short waits are summed up: samples, in $outer ms" $((outer * 3 / 20 + 6)) "$("$SEAM" script -F tid,event f.data | grep -c "^ *$short .*offcpu")"
atleast "short waits are summed up: told of" 1 "$("$SEAM" script -F tid,event f.data | grep -c "^ *$short .*offcpu")"

# Who sleeps through the whole recording is found at its end.
sleep 600 &
sleeper=$!
"$SEAM" record -q --wall -p $sleeper --duration 0.5 -o f.data 2>err || fail "$(cat err)"
kill $sleeper
same "asleep all the time: samples" 1 "$(samples f.data)"
atleast "asleep all the time: ns" 400000000 "$("$SEAM" script -F period f.data | awk 'NF { s += $1 } END { print s + 0 }')"
"$SEAM" script f.data >f.txt
says f.txt nanosleep

"$SEAM" record -q --off-cpu=soon -o f.data -- true 2>err
same "a wrong time: status" 2 $?
"$SEAM" record -q --wall -e page-faults -o f.data -- true 2>err
same "--wall of what is not time: status" 2 $?
done_testing
