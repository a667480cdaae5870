# SPDX-License-Identifier: MIT
# Code that is replaced at an address: three libraries taking turns, a library and code made at run time, files mapped over each
# other in one step, or while they may not run. No stack may be walked by the table of what was there before. Turns and the whole are
# measured in CPU time.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/bpf/stacks.sh"

compile() { ${CC:-cc} -O2 -fomit-frame-pointer -fno-stack-protector -D_GNU_SOURCE "$@" || skip "no compiler"; }
compile -o turns "$HERE/bpf/turns.c" -ldl -lrt
n=0
for part in a b c; do
	n=$((n + 1))
	compile -shared -fPIC -DPART=$part -DROOM=$((n * n * 104)) -DPAD="\"$((n * 48))\"" \
		-o $part.so "$HERE/bpf/turns_part.c"
done

all_stacks=0
for set in "./a.so ./b.so ./c.so" "./a.so jit" "over ./a.so ./b.so ./c.so" "lent ./a.so ./b.so ./c.so"; do
	for turn in 10 30 100 500; do
		"$SEAM" record -e cpu-clock -F 1999 --call-graph dwarf,defer -o f.data ./turns $turn 1.5 $set >said 2>err || fail "record"
		"$SEAM" script --fields +state f.data >f.txt || fail "script"
		read -r stacks whole cut wrong <<-END
			$(python3 "$HERE/bpf/turns.py" f.txt)
		END
		same "$set, $turn ms: $(cat said): wrong stacks of $stacks" 0 "$wrong"
		atleast "$set, $turn ms: whole" $((stacks / 2)) "$whole"
		same "$set, $turn ms: at one place" 1 "$(sed -n 's/.*at \([0-9]*\) addresses/\1/p' said)"
		all_stacks=$((all_stacks + stacks))
	done
done
atleast "stacks in all" 10000 "$all_stacks"

# A library that is new to the programs, on a stack that is deep: the recorder walks a copy of it, which must not be too short. A
# library's code changes each time, so that its table has to be made.
compile -DDEEP=40 -o deep "$HERE/bpf/turns.c" -ldl -lrt
for i in $(seq 60); do
	compile -shared -fPIC -DPART=a -DROOM=104 -DPAD="\"$((i * 16))\"" -o n$i.so "$HERE/bpf/turns_part.c"
done
"$SEAM" record -v -e cpu-clock -F 1999 --call-graph dwarf,defer -o f.data ./deep 20 1.1 $(printf './n%d.so ' $(seq 60)) >said 2>err || fail "record"
"$SEAM" script --fields +state f.data >f.txt || fail "script"
atleast "deep: walked by the recorder" 1 "$(figure 'walked by the recorder')"
read -r stacks whole <<-END
	$(whole part_enter main)
END
atleast "deep: stacks" 500 "$stacks"
atleast "deep: whole" $((stacks / 2)) "$whole"
same "deep: copies that were too short" 0 "$(awk -v RS= '/part_a_/ && /\/fault/ { n++ } END { print n + 0 }' f.txt)"

done_testing
