#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions of CPython in the stacks: of programs whose chain is known by their names, in every CPython that is here. Names, order and
# lines are right, also where code is freed and its memory used again; with --no-python the file has no word of them.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
. "$HERE/python/pythons.sh"
while read -r each; do
	echo "# $each"
	for name in truth churn; do
		in_root "$each" "$HERE/python/${name}_program.py"
		# shellcheck disable=SC2086 # words
		# What the interpreter allocated and never wrote is no zero.
		record --python -F 1999 -e cpu-clock -o f.data -- env MALLOC_PERTURB_=100 $runs "$python" "$program" 0.5
		same "status" 0 $status
		[ -z "$runs" ] || rm -f "$root$program"
		"$SEAM" script -i f.data >f.txt 2>script.err; same "script" 0 $?
		if python3 "$HERE/python/truth_check.py" 99.5 <f.txt >said; then
			echo "ok: $name: $(tail -n 1 said)"
		else
			fail "$name: $(head -n 60 said; tail -n 1 said)"
		fi
	done
done <list

echo "# without a flag: lines, and the interpreter's own frames"
python=$(grep -v /root/usr/bin/ list | head -n 1)
cat >lines.py <<'END'
import time
def spin(end):
    v = 0
    while time.process_time() < end:
        v += sum(i for i in range(100))

spin(time.process_time() + 1)
END
record -F 997 -e cpu-clock -o l.data -- "$python" lines.py
"$SEAM" report -i l.data --no-children -s sym,srcline --json >l.json 2>l.err; same "report" 0 $?
"$SEAM" script -i l.data -F ip,sym,dso,srcline >l.txt 2>/dev/null
says l.txt "py::spin:$T/lines.py"
says l.txt "^  lines.py:[45]$"
same "no other line of that function" 0 "$(grep -A1 'py::spin:' l.txt | grep -c '^  lines.py:[^45]')"
says l.txt "py::<module>:$T/lines.py"
"$SEAM" stat l.data >stat.txt 2>&1
says stat.txt "^ *complete stacks: *[1-9][0-9]*  whole$"
says l.json '"runtime_ends":{"complete":[1-9]'
"$SEAM" export -f folded l.data -o folded.txt 2>/dev/null
"$SEAM" export -f folded --native l.data -o native.txt 2>/dev/null
same "no loop where its function is known" 0 "$(grep -c '_PyEval_EvalFrameDefault;py::spin' folded.txt)"
atleast "loops with --native" 1 "$(grep -c '_PyEval_EvalFrameDefault;py::' native.txt)"
same "the weights are the same" "$(awk '{ n += $NF } END { printf "%.0f", n }' folded.txt)" \
	"$(awk '{ n += $NF } END { printf "%.0f", n }' native.txt)"

echo "# unwind tables that have no room: the recorder walks native stacks, and puts the functions into them"
record --python --unwind-memory 1M -F 1999 -e cpu-clock -o m.data -- "$python" "$HERE/python/truth_program.py" 0.5
"$SEAM" script -i m.data >m.txt 2>script.err
if python3 "$HERE/python/truth_check.py" 90 <m.txt >said; then
	echo "ok: $(tail -n 1 said)"
else
	fail "walked by the recorder: $(head -n 20 said; tail -n 1 said)"
fi

echo "# deep: 900 calls, each by way of C; the native stack is cut off, the functions of Python are all there"
cat >deep.py <<'END'
import sys, time
sys.setrecursionlimit(5000)
def leaf():
    v = 0
    for i in range(200000):
        v += i
def down(n):
    return max(map(down, (n - 1,))) if n else leaf() or 0
end = time.process_time() + 1
while time.process_time() < end:
    down(900)
END
record --python -F 499 -e cpu-clock -o deep.data -- "$python" deep.py
"$SEAM" script -i deep.data 2>/dev/null | awk '
	/^[^ \t]/ { downs = 0; leaf = 0 }
	/py::leaf:/ { leaf = 1 }
	/py::down:/ { downs++ }
	/py::<module>:/ && leaf { n[downs]++ }
	END { for (i in n) print i, n[i] }' >deeps
same "how many calls are below leaf" "901" "$(cut -d ' ' -f 1 deeps)"

echo "# a class whose __init__ is called by code of the interpreter's own (3.12 and later)"
cat >init.py <<'END'
import time
class Made:
    def __init__(self, end):
        while time.process_time() < end:
            sum(range(1000))
def outer():
    for i in range(3000):
        Made(time.process_time() + 0.3 if i == 2999 else 0)
outer()
END
for each in $(grep -E '3\.1[23]\.[0-9]*/bin|python3\.14$' list | grep -v /root/usr/bin/) "$python"; do
	record --python -F 997 -e cpu-clock -o i.data -- "$each" init.py
	"$SEAM" script -F ip,sym,dso -i i.data 2>/dev/null >i.txt
	atleast "its __init__" 1 "$(grep -c 'py::Made.__init__:' i.txt)"
	same "and no other" 0 "$(grep -c 'py::__init__:' i.txt)"
	same "called by what calls it" 0 "$(grep -A1 'py::Made.__init__:.*(\[python\])' i.txt | grep 'py::' | grep -vcE 'py::(Made.__init__|outer):')"
done

echo "# a subinterpreter, in the thread of the one that runs it"
cat >sub.py <<'END'
import time
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
CODE = """
import time
def sub_leaf(end):
    while time.process_time() < end:
        sum(range(1000))
def sub_outer(end):
    sub_leaf(end)
sub_outer(time.process_time() + 0.5)
"""
def main_outer():
    interpreters.run_string(interpreters.create(), CODE)
main_outer()
END
for each in $(grep -E 'python3\.11$|3\.1[23]\.[0-9]*/bin' list); do
	record --python -F 997 -e cpu-clock -o sub.data -- "$each" sub.py
	"$SEAM" script -i sub.data 2>/dev/null | awk '
		/^[^ \t]/ { if (chain ~ /sub_leaf/) print chain; chain = "" }
		/py::/ { split($2, a, ":"); chain = chain " " a[3] }' | sort | uniq -c | sort -rn | sed 's/^ *[0-9]* *//' >chains
	same "most chains with sub_leaf in $each" "sub_leaf sub_outer <module> main_outer <module>" "$(head -n 1 chains)"
done

# no_frames CASE: what a program of structures that cannot be has no functions, and the recording ends.
no_frames() {
	record --python -v -F 997 -e cpu-clock -o h.data -- "$T/hostile" "$1"
	same "status of $1" 0 $status
	"$SEAM" script -i h.data >h.txt 2>/dev/null
	same "functions of $1" 0 "$(grep -c 'py::' h.txt)"
}
echo "# hostile structures"
if "${CC:-cc}" -O1 -rdynamic -o hostile "$HERE/python/hostile.c" 2>cc.err; then
	for case in threads interpreters several long negative kind type kernel heap deep; do
		no_frames "$case"
		says err "lack frames of Python"
		# The file says it, too: how many, and why.
		"$SEAM" stat h.data >h.stat 2>&1
		atleast "stacks of $case by their states" 1 "$(awk '/^functions of an interpreter/ { on = 1 } on && $2 == "stacks:" && $1 != "complete" { n += $3 } END { print n + 0 }' h.stat)"
		"$SEAM" report --stats -i h.data >h.stats 2>&1
		says h.stats "user stacks* in an interpreter, with its functions: .*[0-9] %"
		"$SEAM" explain h.data >h.explain 2>&1
		says h.explain "may lack functions of it: "
	done
	echo "# a version that is not known"
	sed 's/0x030b02f0/0x03630000/' "$HERE/python/hostile.c" >unknown.c
	"${CC:-cc}" -O1 -rdynamic -o hostile-unknown unknown.c 2>cc.err
	record --python -F 997 -e cpu-clock -o h.data -- "$T/hostile-unknown" good
	says err "lack frames of Python: the version or build of the runtime is not known"
	"$SEAM" stat h.data >h.stat 2>&1
	says h.stat "^ *unknown_build stacks: *[1-9]"
	for case in good cycle nowhere lines; do
		record --python -F 997 -e cpu-clock -o h.data -- "$T/hostile" "$case"
		"$SEAM" script -i h.data >h.txt 2>/dev/null
		# Once in a stack: the same frame is not taken twice. One whose caller is not that of its loop is not believed.
		same "$case: most in a stack" "$([ "$case" = nowhere ] && echo 0 || echo 1)" "$(awk '/^[^ \t]/ { n = 0 } /py::good:\/made\/good.py/ { if (++n > most) most = n } END { print most + 0 }' h.txt)"
	done
	record --python -F 997 -e cpu-clock -o h.data -- "$T/hostile" letters
	"$SEAM" script -i h.data >h.txt 2>/dev/null
	says h.txt 'py::e\\nvil\\x1b\[31m;x'
	same "raw escapes" 0 "$(grep -c "$(printf '\033')" h.txt)"
else
	echo "# no compiler: $(head -n 1 cc.err)"
fi

echo "# --no-python"
record --no-python -F 997 -e cpu-clock -o n.data -- "$python" lines.py
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
