#!/bin/sh
# SPDX-License-Identifier: MIT
# kill -9 of a recorder whose programs run in the kernel: no program, map, link or pinned object stays, the command runs on, what was
# written is readable, and the next recording is as good as any.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
command -v python3 >/dev/null || skip "python3 is needed to ask for BPF objects"
left() { python3 "$HERE/bpf/left.py" "$@"; }
pinned() { find /sys/fs/bpf -mindepth 1 2>/dev/null | grep -i seam; }

for how in "" "=always"; do
	echo "# kill -9 with dwarf,defer$how"
	rm -f k.data command
	"$SEAM" record -q -F 2000 -e cpu-clock --call-graph "dwarf,defer$how" -o k.data -- \
		sh -c 'echo $$ >command; while :; do read x </proc/self/stat; done' &
	pid=$!
	grown k.data 60000
	left held $pid >held
	atleast "programs while it runs" 5 "$(grep -c prog held)"
	atleast "maps while it runs" 8 "$(grep -c map held)"
	same "pinned while it runs" "" "$(pinned)"
	kill -9 $pid; wait $pid 2>/dev/null
	same "left in the kernel" "" "$(left left <held)"
	same "pinned after it" "" "$(pinned)"
	same "the command runs on" 0 "$(kill -0 "$(cat command)"; echo $?)"
	kill -9 "$(cat command)"
	atleast "samples" 100 "$(samples k.data)"
	"$SEAM" report --json k.data >k.json 2>k.err
	same "report reads it, and says that it was not finished" 3 $?
	"$SEAM" convert -q k.data -o k.classic 2>k.err
	same "samples converted" "$(samples k.data)" "$(samples k.classic)"
done

echo "# the next recording"
record -F 2000 -o next.data -- sh -c "$BUSY"
same "status" 0 $status
says err 'walked in the kernel by BPF'
judge next.data
done_testing
