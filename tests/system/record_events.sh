#!/bin/sh
# SPDX-License-Identifier: MIT
# seam record -e, -F, -c, -k: rates and kinds of events.
. "$(dirname "$0")/lib.sh"
can_record

echo "# rates, by cpu-clock: the same work, ten times the frequency"
record -e cpu-clock -F 200 -o slow.data -- sh -c "$BUSY"; slow=$(samples slow.data)
record -e cpu-clock -F 2000 -o fast.data -- sh -c "$BUSY"; fast=$(samples fast.data)
atleast "-F 2000 against -F 200" $((slow * 4)) "$fast"
record -e cpu-clock -c 10000000 -o c.data -- sh -c "$BUSY"
same "-c: every sample has that period" "$(samples c.data)" \
	"$("$SEAM" dump c.data 2>/dev/null | grep PERF_RECORD_SAMPLE | grep -c 'period: 10000000\b')"

echo "# page faults"
record -e page-faults -c 1 -o one.data -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done'
record -e page-faults -c 10 -o ten.data -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done'
atleast "faults" 100 "$(samples one.data)"
atmost "every tenth" $(($(samples one.data) / 5)) "$(samples ten.data)"
judge one.data

echo "# several events"
record -e cpu-clock,page-faults -e context-switches -o three.data -- sh -c "$BUSY"
same "status" 0 $status
judge three.data

echo "# without callchains"
record --call-graph none -o none.data -- sh -c "$BUSY"
same "no chains" 0 "$("$SEAM" dump none.data 2>/dev/null | grep -c 'FP chain')"
same "one line about user stacks" 1 "$(grep -c 'user stacks' err)"

echo "# clock"
monotonic() { python3 -c 'import time; print(int(time.clock_gettime(time.CLOCK_MONOTONIC)))'; }
before=$(monotonic)
record -k monotonic -o k.data -- sh -c "$BUSY"
after=$(monotonic)
judge k.data
if [ -s script.out ]; then
	at=$(awk '/^sh / { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+\.[0-9]+:$/) { print int($i); exit } }' script.out)
	atleast "times are the monotonic clock's: not before the recording" "$before" "$at"
	atmost "nor after it" "$after" "$at"
fi

echo "# tracepoints"
record -e sched:sched_switch -o tp.data -- sh -c 'sleep 0.05'
if [ $status -ne 0 ]; then
	echo "no tracepoints here: $(cat err)"
else
	atleast "switches" 1 "$(samples tp.data)"
	judge tp.data
	[ -s script.out ] && says script.out 'prev_comm='
	# A trial costs what opening costs, and is made of one for all that ask for the same: each is opened per CPU, and one
	# a few times more.
	record -vv -e 'syscalls:sys_enter_get*' -o many.data -- true
	n=$("$SEAM" evlist many.data | grep -c syscalls:)
	opened=$(grep -c 'type .*PERF_TYPE_TRACEPOINT' err)
	atleast "tracepoints" 5 "$n"
	atmost "openings of $n tracepoints" $((n * $(getconf _NPROCESSORS_ONLN) + 6)) "$opened"
	# Told to stop meanwhile, it says that, and not that the command, which was told too, is gone.
	for s in 0.03 0.06 0.1; do
		timeout --preserve-status -s INT $s "$SEAM" record -e 'syscalls:*' -o j.data -- sleep 1 2>err
		grep -e 'stopped before' -e 'samples,' err | sed 's/^/# /'
		same "stopped after $s s: words of a lost process" 0 "$(grep -c 'no such process' err)"
	done
fi

# Cycles that nobody counts, by whatever modifiers, become time as perf has it; what else only a PMU has is left out as long as an event is
# left. A machine with a PMU counts them.
echo "# without a PMU"
if "$SEAM" check --json 2>/dev/null | grep -q '"hardware":{"state":"no"'; then
	while read -r event names; do
		record -e "$event" -F 999 -o pmu.data -- sh -c "$(busy 150)"
		same "-e $event: status" 0 $status
		same "-e $event: events" "$names" "$("$SEAM" evlist pmu.data | grep -v '^dummy' | xargs)"
		says err "cpu-clock.*as cycles cannot be counted here (there is no PMU)"
		[ "${event%instructions*}" = "$event" ] || says err "'instructions[:u]*' is left out"
		case $event in *k) ;; *) atleast "-e $event: samples" 20 "$(samples pmu.data)" ;; esac
	done <<-END
		cycles cpu-clock
		cycles:u cpu-clock:u
		cycles:P cpu-clock
		cycles:ppk cpu-clock:k
		cpu-cycles/freq=500/u cpu-clock:u
		cycles,instructions cpu-clock
		{instructions:u,cycles:u} cpu-clock:u
		cycles,page-faults cpu-clock page-faults
	END
	record -e cycles:u -c 1000000 -o pmu.data -- sh -c "$BUSY"
	says err "its period is nanoseconds"
	record -e instructions,branches -o x.data -- true
	same "nothing is left: status" 1 $status
	says err "event 'instructions' cannot be opened"
	timeout 300 "$SEAM" top --stdio -d 30 -e cycles:u,instructions -- sh -c "$BUSY" >out 2>err
	same "top: status" 0 $?
	says err "cpu-clock:u, as cycles cannot be counted here"
	says out "main\|[0-9]%"
fi

echo "# what is wrong is said"
record -e no-such-event -o x.data -- true; same "unknown event" 2 $status; says err no-such-event
record --call-graph lbr -o x.data -- true; same "lbr" 2 $status; says err 'lbr'
same "no file is left" no "$([ -e x.data ] && echo yes || echo no)"

done_testing
