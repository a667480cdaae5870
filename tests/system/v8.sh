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

echo "# scripts of two isolates that are equal but for their lines"
record -F 997 -e cpu-clock -o t.data -- "$node" "$HERE/v8/twins.js"
same "status" 0 $status
"$SEAM" script -i t.data -F +srcline 2>/dev/null | awk '/js::twin:/ { twin = 1; next }
	twin == 1 { line = $1; twin = 2; next }
	twin == 2 && /js::call[01]:/ { print (/call0/ ? 200001 : 1), line }
	{ twin = 0 }' | sort | uniq -c >twins.txt
for line in 200001 1; do
	atleast "samples of line $line" 1 "$(awk -v l=$line '$2 == l { n += $1 } END { print n + 0 }' twins.txt)"
	same "other lines" 0 "$(awk -v l=$line '$2 == l && $3 ~ /^twin.js:/ && $3 != "twin.js:" l' twins.txt | wc -l)"
done

echo "# functions that are the last of a chunk of V8's heap, with nothing mapped behind it"
# Whether there are any is chance.
for try in 1 2 3 4 5 6 7 8 9 10; do
	: >edge.out
	record -q -F 997 -e cpu-clock -o e.data -- "$node" --expose-gc --allow-natives-syntax "$HERE/v8/edge.js" 400 edge.out >>edge.out
	grep -qx '[1-9][0-9]*' err && break
done
"$SEAM" script -i e.data -F comm,ip,sym,dso 2>/dev/null | awk -v RS= '/js::work:/ { n++; if (/js::main:/) whole++ } END { print n + 0, whole + 0 }' >edge.txt
read -r all whole <edge.txt
atleast "stacks of such functions (try $try)" 1 "$all"
same "those that are whole" "$all" "$whole"

echo "# while V8 moves objects and code all the time"
record -F 1997 -e cpu-clock -o m.data -- "$node" --stress-compaction --gc-interval=3000 "$HERE/../../bench/interpreters/ways.js" 3
same "status" 0 $status
"$SEAM" script -i m.data -F comm,ip,sym,dso >m.txt 2>/dev/null
python3 "$HERE/../../bench/interpreters/judge.py" m.txt >said; same "wrong stacks" 0 $?
tail -n 1 said | tr -d , >counts
read -r whole _ lacking _ <counts
atleast "whole stacks, of $((whole + lacking))" $(((whole + lacking) * 95 / 100)) "$whole"
atleast "whole stacks" 200 "$whole"

echo "# code that was given up while a call of it was to return"
record -F 997 -e cpu-clock -o u.data -- "$node" "$HERE/v8/given_up.js"
same "status" 0 $status
"$SEAM" export -f folded u.data -o u.txt 2>/dev/null
awk '/js::outer:.*js::waits:/ { n += $NF; if (/js::outer:[^;]*;js::first:[^;]*;js::waits:/) right += $NF }
	END { printf "%d %d\n", n / 1e6, right / 1e6 }' u.txt >u.sum
read -r all right <u.sum
atleast "milliseconds below it" 100 "$all"
same "of these with what was inlined where the call is to return" "$all" "$right"

echo "# before V8 has begun: node's own code that nothing describes"
starts_whole v8 "$node" -e 0

echo "# without them"
record --no-runtimes -F 497 -e cpu-clock -o n.data -- "$node" "$program" 10 notes
same "status" 0 $status
same "no name" 0 "$("$SEAM" script -i n.data 2>/dev/null | grep -c 'js::')"
done_testing
