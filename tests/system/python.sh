#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions of CPython in the stacks: of programs whose chain is known by their names, in every CPython that is here. Names, order and
# lines are right, also where code is freed and its memory used again; without --python the file has no word of them.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
peer=$HERE/../../scripts/peer
peer_root=${SEAM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/seam-tests}/peer/root

pythons() {
	for python in /usr/bin/python3.1[123] "$HOME"/.pyenv/versions/3.1[123].*/bin/python3; do
		[ -x "$python" ] && echo "$python"
	done
}
[ -n "$(pythons)" ] || skip "no CPython of 3.11 to 3.13"

for python in $(pythons); do
	echo "# $("$python" --version), $python"
	for program in truth churn; do
		record --python -F 997 -e cpu-clock -o f.data -- "$python" "$HERE/python/${program}_program.py" 1
		same "status" 0 $status
		"$SEAM" script -i f.data >f.txt 2>script.err; same "script" 0 $?
		if python3 "$HERE/python/truth_check.py" 99.5 <f.txt >said; then
			echo "ok: $program: $(tail -n 1 said)"
		else
			fail "$program: $(head -n 60 said; tail -n 1 said)"
		fi
	done
done

echo "# lines, and the interpreter's own frames"
cat >lines.py <<'END'
import time
def spin(end):
    v = 0
    while time.process_time() < end:
        v += sum(i for i in range(100))

spin(time.process_time() + 1)
END
record --python -F 997 -e cpu-clock -o l.data -- "$python" lines.py
"$SEAM" report -i l.data --no-children -s sym,srcline --json >l.json 2>l.err; same "report" 0 $?
"$SEAM" script -i l.data -F ip,sym,dso,srcline >l.txt 2>/dev/null
says l.txt "py::spin:$T/lines.py"
says l.txt "^  lines.py:[45]$"
same "no other line of that function" 0 "$(grep -A1 'py::spin:' l.txt | grep -c '^  lines.py:[^45]')"
says l.txt "py::<module>:$T/lines.py"
"$SEAM" export -f folded l.data -o folded.txt 2>/dev/null
"$SEAM" export -f folded --native l.data -o native.txt 2>/dev/null
same "no loop where its function is known" 0 "$(grep -c '_PyEval_EvalFrameDefault;py::spin' folded.txt)"
atleast "loops with --native" 1 "$(grep -c '_PyEval_EvalFrameDefault;py::' native.txt)"
same "the weights are the same" "$(awk '{ n += $NF } END { printf "%.0f", n }' folded.txt)" \
	"$(awk '{ n += $NF } END { printf "%.0f", n }' native.txt)"

echo "# without the option"
record -F 997 -e cpu-clock -o n.data -- "$python" lines.py
same "functions in the file" 0 "$("$SEAM" dump n.data 2>/dev/null | grep -c 'KSYMBOL.*py::')"

echo "# what it goes with"
"$SEAM" record --python --call-graph dwarf -o x.data -- true >out 2>err; same "with stack copies" 2 $?
says err "--python"

[ -d "$peer_root" ] || { [ "$failures" -gt 0 ] || skip "no perf 7 (scripts/peer); the rest is ok"; done_testing; }
echo "# perf 7 reads the file without a word"
n=$(samples l.data)
"$peer" perf report --stats -i "$T/l.data" >stats 2>perf.err
same "it counts the samples" "$n" "$(awk '$1 == "SAMPLE" && !s { s = $3 } END { print s + 0 }' stats)"
"$peer" perf script -i "$T/l.data" >peer.txt 2>>perf.err
if grep -iE 'error|fail|incompatible|unexpected|unknown event|invalid' perf.err; then fail "perf complains"; fi
done_testing
