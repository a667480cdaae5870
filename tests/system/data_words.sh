#!/bin/sh
# SPDX-License-Identifier: MIT
# Stacks that end in words of data: no such word is a frame, however stacks are taken, and the account says where it ended.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
[ "$(uname -m)" = x86_64 ] || skip "x86_64 only"
${CC:-cc} -g -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -o words "$HERE/bpf/data_words.c" ||
	skip "no compiler"

# in_stacks NAME FILE: what stands in the stacks of worker()
in_stacks() {
	"$SEAM" script -F comm,pid,ip,sym "$2" >script.txt 2>/dev/null || fail "$1: script"
	same "$1: words of data among the frames" 0 "$(grep -cwFf said script.txt)"
	# the frames above worker, in stacks that have it
	awk -v RS= '/[ \t]worker[+ \n]|[ \t]worker$/ { n++; if ($NF != "worker") bad++ } END { print n + 0, bad + 0 }' script.txt >n
	read -r stacks bad <n
	atleast "$1: stacks of worker" 200 "$stacks"
	same "$1: of them with frames that called it" 0 "$bad"
	"$SEAM" export --format folded "$2" 2>/dev/null | grep 'worker' | grep -vE '^words;(\[unfinished: [a-z ]+\];)?worker' >folded.txt
	same "$1: folded stacks with other roots" 0 "$(wc -l <folded.txt)"
}

for how in fp dwarf fp,defer dwarf,defer; do
	"$SEAM" record -q -e cpu-clock -F 997 --call-graph $how -o f.data ./words >said 2>err || fail "$how: record: $(cat err)"
	in_stacks "$how" f.data
	case $how in fp*)
		"$SEAM" report f.data >report.txt 2>/dev/null
		says report.txt 'no executable memory holds';;
	esac
done
if command -v perf >/dev/null 2>&1; then
	# Without collecting build-ids, of which perf 6.1 dies now and then (an assertion in build-id.c).
	perf record -q -B -N -e cpu-clock -F 997 -g -o p.data ./words >said 2>perf.err || fail "perf record: $(cat perf.err)"
	in_stacks "perf's" p.data
	atleast "perf's: callchains that were ended" 200 \
		"$("$SEAM" report --json p.data 2>/dev/null | sed -n 's/.*"ended_at_data": *\([0-9]*\).*/\1/p')"
fi
done_testing
