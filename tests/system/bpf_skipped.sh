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

record -v -e cpu-clock -F 997 -o n.data -- ./work nested 2 >cpu
same "status" 0 $status
if grep 'are not counted here' err; then skip "the kernel lets nobody see them"; fi
due=$(awk '{ printf "%d", $1 * 997 }' cpu)
taken=$(samples n.data)
lost=$(figure 'samples skipped by the kernel' err)
atleast "samples skipped" $((due / 2)) "${lost:-0}"
atleast "taken ($taken) and skipped: of $due, 5 % less" $((due * 95 / 100)) $((taken + lost))
atmost "5 % more" $((due * 105 / 100 + 2)) $((taken + lost))
same "the closing line says them" "$lost" "$(figure 'lost \]' err)"
"$SEAM" stat n.data >stat
same "the file, too" "$lost" "$(sed -n 's/^lost: \([0-9]*\) in.*/\1/p' stat)"
"$SEAM" report n.data 2>&1 | tr -d , >report
says report "$lost records were lost"
judge n.data

echo "# nobody is in the way, but for what the recorder itself runs at an exec and a switch"
for how in "-e cpu-clock" "-e cpu-clock:u" "-e cpu-clock:k" "-e task-clock" "-e cpu-clock --off-cpu"; do
	case $how in *:k) what=longsys ;; *) what=registers ;; esac
	# shellcheck disable=SC2086
	record -v $how -F 997 -o m.data -- ./work $what 0.5
	atleast "$how: samples" 50 "$(samples m.data)"
	atmost "$how: skipped" 4 "$(figure 'samples skipped by the kernel' err | grep . || echo 0)"
done
done_testing
