#!/bin/sh
# SPDX-License-Identifier: MIT
# Go's runtime goes from a goroutine's stack to the thread's own (systemstack, mcall, morestack), and its unwind information does
# not say so: a stack ends there, and says why. No word of that stack is a caller, nor the end of a whole stack.
. "$(dirname "$0")/lib.sh"
can_record
[ "$(uname -m)" = x86_64 ] || skip "x86_64 only"
command -v go >/dev/null || skip "no go"
GOCACHE=$T/cache GOFLAGS=-mod=mod GO111MODULE=off go build -o work-go "$TESTS/unwind_cases/work.go" 2>go.err || skip "go cannot build"

# judged MODE: of a run recorded so
judged() {
	record -q -e cpu-clock -F 997 --call-graph "$1" -o f.data -- ./work-go 2 >/dev/null
	"$SEAM" script -F comm,tid,ip,sym,state f.data >f.txt 2>/dev/null || fail "$1: script"
	awk -v RS= -F '\n' '
		function name(line) { sub(/^[ \t]*[0-9a-f]+ /, "", line); sub(/\+0x.*/, "", line); return line }
		/ kernel_only| exited/ || NF < 2 { next }
		# How many there are depends on how often the machine interrupts it: where the program begins, before Go knows its
		# stack, and what the kernel has a signal return to, which Go does not describe.
		name($NF) ~ /^runtime\.rt0_go/ || name($(NF - 1)) ~ /^runtime\.sigtramp/ { next }
		{
			all++
			# Before the exchange they are functions as any: sampled there, or saving where the goroutine was.
			for (i = 3; i < NF; i++)
				if (name($i) ~ /^runtime\.(systemstack|mcall|morestack)(\.abi0)?$/ && $(i - 1) !~ /gosave|\[k\]|^[ \t]*ffff/) {
					above++
					print above ": " name($(i - 1)) " < " name($i) " < " name($(i + 1)) >"behind"
				}
			own = name($NF) ~ /^runtime\.(systemstack|mcall|morestack)(\.abi0)?$/
			said = $1 ~ /\/no_(rule|unwind_info)/
			if (own && said) switched++
			else if (own) silent++
			else if ($1 ~ / immediate *$| stitched *$|\/$/) whole++
			else other++
		}
		END { print all + 0, whole + 0, switched + 0, silent + 0, above + 0, other + 0 }' f.txt >n
	read -r all whole switched silent above other <n
	echo "# $1: $all stacks, $whole whole, $switched end where the runtime went to its own stack, $other elsewhere"
	atleast "$1: stacks that end there" 5 "$switched"
	same "$1: frames behind" 0 "$above"
	[ "$above" = 0 ] || sed 's/^/# /' behind
	same "$1: that do not say so" 0 "$silent"
	atleast "$1: whole, or ended there" $((all * 995 / 1000)) $((whole + switched))
	atleast "$1: whole" $((all / 2)) "$whole"
}

judged dwarf
(needs_bpf) || done_testing
judged dwarf,defer

# The clock is read on the thread's own stack, but its readers come back and keep a frame pointer: their stacks are whole.
GOCACHE=$T/cache GOFLAGS=-mod=mod GO111MODULE=off go build -o clock-go "$TESTS/unwind_cases/clock.go" 2>go.err || skip "go cannot build"
GOCACHE=$T/cache GOFLAGS=-mod=mod GO111MODULE=off go build -ldflags='-s -w' -o clock-bare "$TESTS/unwind_cases/clock.go" 2>go.err
for program in clock-go clock-bare; do
	record -q -e cpu-clock -F 997 -o f.data -- "./$program" 2 >/dev/null
	"$SEAM" script -F comm,tid,ip,sym f.data 2>/dev/null | awk -v RS= '
		/ main\.worker/ { all++; clock += /clock_gettime|nanotime1|time\.now/
			if (/ main\.worker[^\n]*\n([^\n]* main\.main[^\n]*\n)+[^\n]* runtime\.goexit[^\n]*\n*$/) whole++; next }
		/clock_gettime|nanotime1|time\.now/ && !/ runtime\.(sysmon|schedinit|schedule|main|mstart|bgscavenge|gcBgMarkWorker)/ { cut++; last = $0 }
		END { print all + 0, clock + 0, whole + 0, cut + 0; print last >"cut" }' >n
	read -r all clock whole cut <n
	echo "# $program: $all stacks of workers, $clock in the clock, $whole whole, $cut in the clock without a worker"
	atleast "$program: stacks in the clock" 200 "$clock"
	atleast "$program: whole" $((all * 995 / 1000)) "$whole"
	atmost "$program: in the clock without a worker" $((clock / 200)) "$cut"
	sed 's/^/# /' cut
done
done_testing
