#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions of JavaScript in the stacks of the node that is here: chains that are known by construction and noted by V8 itself; recursion,
# methods, closures, callbacks from C++, generators, tasks, eval, exceptions, functions that die and move, and code that is given up again;
# names and order, also of what is inlined. With --no-runtimes the file has no word of them.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
node=$(command -v node) || fail "no node: scripts/setup installs it with npm"
program=$HERE/v8/truth_program.js

echo "# $node $("$node" --version)"
record -F 997 -e cpu-clock -o f.data -- "$node" "$program" 120 notes
same "status" 0 $status
"$SEAM" script -i f.data -F +srcline >f.txt 2>script.err; same "script" 0 $?
if python3 "$HERE/v8/truth_check.py" 99.5 "$program" notes <f.txt >said; then
	sed 's/^/ok: /' said
else
	fail "$(head -n 60 said; tail -n 2 said)"
fi
says f.txt "js::down:$program (\[v8\])"
"$SEAM" report -i f.data --no-children -s dso,sym >r.txt 2>r.err; same "report" 0 $?
says r.txt '\[v8\].*js::work:'
"$SEAM" export -f folded f.data -o folded.txt 2>/dev/null
"$SEAM" export -f folded --native f.data -o native.txt 2>/dev/null
same "the weights are the same" "$(awk '{ n += $NF } END { printf "%.0f", n }' folded.txt)" \
	"$(awk '{ n += $NF } END { printf "%.0f", n }' native.txt)"

echo "# without them"
record --no-runtimes -F 497 -e cpu-clock -o n.data -- "$node" "$program" 10 notes
same "status" 0 $status
same "no name" 0 "$("$SEAM" script -i n.data 2>/dev/null | grep -c 'js::')"
done_testing
