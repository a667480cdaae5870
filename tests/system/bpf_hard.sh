# SPDX-License-Identifier: MIT
# User stacks by BPF where they are hard to take: pages that are not in memory, signal stacks, many
# threads, processes that come and go, tasks that sleep for ever, deep recursion.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"

can_record
needs_bpf
# A compiler of one's own: frames must come from unwind tables.
${CC:-cc} -O2 -fomit-frame-pointer -D_GNU_SOURCE -o work "$HERE/bpf/work.c" -pthread || skip "no compiler"

# stacks MODE OPTIONS -- COMMAND...: records, and $T/states and $T/stacks are filled
stacks() {
	mode=$1
	shift
	timeout 60 "$SEAM" record -v -e cpu-clock --call-graph "dwarf,defer$mode" -o f.data "$@" 2>err
	"$SEAM" report --json f.data >f.json || fail "report"
	"$SEAM" script f.data >f.txt || fail "script"
	for key in samples immediate stitched record_lost still_in_kernel; do
		eval "n_$key=\$(python3 -c 'import json,sys; j=json.load(open(\"f.json\")); print(
			j[\"samples\"] if sys.argv[1]==\"samples\" else j[\"states\"].get(sys.argv[1],0))' $key)"
	done
}
# figure WORD: a count of the closing lines
figure() { sed -n "s/.* \([0-9]*\) $1.*/\1/p" err | head -n 1; }
# whole FUNCTION ROOT: how many stacks with FUNCTION there are, and how many of them reach ROOT
whole() {
	awk -v RS= -v f="$1" -v r="$2" '$0 ~ "[ \t]" f "[+ ]" { n++; if ($0 ~ "[ \t]" r "[+ ]") w++ }
		END { print n + 0, w + 0 }' f.txt
}
# all WHAT FUNCTION ROOT LEAST: but for samples of the first moments, whose copy of the stack may be short
all() {
	counts=$(whole "$2" "$3")
	atleast "$1: stacks in $2" "$4" "${counts% *}"
	atleast "$1: of them whole" "$((${counts% *} - $(figure 'walked by the recorder')))" "${counts#* }"
}

stacks "" -F 997 -- ./work pages 1
all "dropped pages" pages_leaf pages_thread 100
atleast "dropped pages: deferred" 50 "$n_stitched"
same "dropped pages: lost" 0 "$n_record_lost"
stacks =never -F 997 -- ./work pages 1
counts=$(whole pages_leaf pages_thread)
atmost "dropped pages without deferral: whole" "$((${counts% *} / 2))" "${counts#* }"

stacks "" -F 997 -- ./work signals 1
all "handler on its own stack" signals_work signals 20
all "recursion" signals_descend main 20

stacks "" -F 997 -- ./work threads 300
all "threads" threads_one start_thread 50

stacks "" -F 997 -- ./work churn 200
all "churn" churn_child main 20

stacks "" -F 997 -- ./work deep 1
all "300 frames" spin main 50
atleast "300 frames: deferred" 50 "$n_stitched"

stacks =always -F 20000 --duration 3 -- ./work asleep 200
atleast "asleep: read where they sleep" 150 "$(figure 'read asleep')"
same "asleep: still owed" 0 "$n_still_in_kernel"
all "asleep" asleep_poll asleep_thread 200

done_testing
