#!/bin/sh
# SPDX-License-Identifier: MIT
# A recording that is over ends, on a machine that is too busy for it: the recorder has a low priority, and others who
# work share its CPU. What is measured is not the time, but the CPU time that those others get from the word to stop
# until the recorder is gone, beside what it needs itself: at its low priority they would get 136 times as much.
. "$(dirname "$0")/lib.sh"
can_record
[ -z "$(nice -n -5 true 2>&1)" ] || skip "priorities may not be raised here"
command -v taskset >/dev/null || skip "no taskset"
"$SEAM" record -q -a -o probe.data -- true 2>probe.err || skip "cannot record the whole machine: $(cat probe.err)"
cpu=$(taskset -cp $$ | sed 's/.*[:,-] *//')

had() { # ticks of CPU time of processes
	sum=0
	for pid; do
		read -r stat <"/proc/$pid/stat"
		set -- ${stat##*) }
		sum=$((sum + ${12} + ${13}))
	done
	echo $sum
}
begun() { [ "$(samples f.data)" -gt 0 ]; }

# ends MODE: a recording with it, reniced once it has begun.
ends() {
	rm -f f.data
	taskset -c "$cpu" "$SEAM" record -v -a -F 997 --call-graph "$1" -o f.data 2>err &
	recorder=$!
	until_true "$1: sampling begins" begun
	taskset -c "$cpu" sh -c 'while :; do :; done' &
	one=$!
	taskset -c "$cpu" sh -c 'while :; do :; done' &
	two=$!
	renice -n 19 -p $(ls "/proc/$recorder/task") >/dev/null
	sh "$AWAIT" 500 $one $two
	own=$(had $recorder)
	times >times.before
	before=$(had $one $two)
	kill -INT $recorder
	wait $recorder
	same "$1: exit status" 0 $?
	others=$(($(had $one $two) - before))
	times >times.after
	# What it needed is what it has had in all, as the shell is told now, but for what it had had.
	own=$(awk -v own="$own" '{ gsub("[ms]", " ") } FNR == 2 { all[FILENAME] = $1 * 60 + $2 + $3 * 60 + $4 }
		END { printf "%d", (all["times.after"] - all["times.before"]) * 100 - own + 0.5 }' times.before times.after)
	atmost "$1: hundredths of a second that others worked until it had ended, which took $own of its own" $((100 + own * 10)) $others
	kill $one $two
	wait $one $two 2>/dev/null
	atleast "$1: samples" 100 "$(samples f.data)"
	grep -v 'verifier' err | tail -n 5
}
ends dwarf,defer
ends dwarf
ends fp
done_testing
