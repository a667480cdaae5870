#!/bin/sh
# SPDX-License-Identifier: MIT
# Another BPF program runs nearly all the time that the target has: the kernel then skips our samples without a word. They are counted, and
# what was taken and what was skipped is all that there was. Next to nothing is counted where nobody is in the way.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
${CC:-cc} -D_GNU_SOURCE -O2 -fomit-frame-pointer -pthread -o work "$HERE/bpf/work.c" 2>cc.err || skip "no compiler: $(head -n 3 cc.err)"
./work nested 0.1 >out 2>&1 || skip "$(cat out)"
figure() { sed -n "s/.*[[ ]\([0-9,]*\) $1.*/\1/p" "$2" | tr -d , | head -n 1; }

# due EVENT COMMAND...: records, and counts the samples that it takes, those that it says the kernel skipped, and those of an event of
# the same kind that the program has for itself: in $taken, $lost, $due.
due() {
	event=$1
	shift
	SEAM_TEST_CLOCK=${event%% *} record -v -e $event -F 997 -o n.data -- "$@" >clock
	same "$event: status" 0 $status
	due=$(cat clock)
	taken=$("$SEAM" script -F event n.data | grep -c "${event%%[: ]*}")
	lost=$(figure 'samples* skipped by the kernel' err)
	lost=${lost:-0}
}

due cpu-clock ./work nested 2
if grep 'are not counted here' err; then skip "the kernel lets nobody see them"; fi
atleast "samples skipped" $((due / 2)) "$lost"
atleast "taken ($taken) and skipped: of $due, 5 % less" $((due * 95 / 100)) $((taken + lost))
atmost "5 % more" $((due * 105 / 100 + 2)) $((taken + lost))
same "the closing line says them" "$lost" "$(figure 'lost \]' err)"
"$SEAM" stat n.data >stat
same "the file, too" "$lost" "$(sed -n 's/^lost: \([0-9]*\) in.*/\1/p' stat)"
"$SEAM" report n.data 2>&1 | tr -d , >report
says report "^$lost samples were skipped by the kernel"
judge n.data

# Other tests' recorders have programs on every CPU, which are in the way now and then: what is said to be skipped is missing.
echo "# hardly anybody is in the way"
for how in cpu-clock cpu-clock:u cpu-clock:k task-clock "cpu-clock --off-cpu"; do
	case $how in *:k) what=longsys ;; *) what=registers ;; esac
	due "$how" ./work $what 0.5
	atleast "$how: samples" 50 "$taken"
	atmost "$how: taken ($taken) and skipped ($lost), of $due" $((due * 105 / 100 + 8)) $((taken + lost))
done
done_testing
