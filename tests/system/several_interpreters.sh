#!/bin/sh
# SPDX-License-Identifier: MIT
# A process of several interpreters: an editor that has Python, Perl and Ruby for its scripts, whose functions call each other in
# each order. Whose frames are on the stack is known by their names. Where one kind's frames are read only, stacks say so.
# By hand: SEAM_SEVERAL_TRUTH=20 is milliseconds of CPU time for each of 324 functions, for 997 Hz and 4,000.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
vim=/usr/bin/vim.nox
[ -x $vim ] || fail "there is no vim.nox: scripts/setup test"
several=$HERE/runtimes/several.py

# truth HZ MS LEAST
truth() {
	python3 "$several" "$2" >several.vim
	record --runtimes python,perl,ruby -F "$1" -e cpu-clock -o f.data -- $vim -u NONE -i NONE -n -es -S several.vim
	same "status" 0 $status
	"$SEAM" script -F comm,tid,ip,sym -i f.data 2>script.err >f.txt; same "script" 0 $?
	if python3 "$several" --judge "$3" <f.txt >said; then
		echo "ok: at $1 Hz: $(tail -n 1 said)"
	else
		fail "at $1 Hz: $(cat said script.err)"
	fi
}

if [ -n "${SEAM_SEVERAL_TRUTH:-}" ]; then
	truth 997 "$SEAM_SEVERAL_TRUTH" 3000
	truth 4000 "$SEAM_SEVERAL_TRUTH" 10000
fi
truth 1999 3 500

echo "# the judge"
for spoil in 's/py::go_plpy/py::go_pypl/' 's/pl::main::go_/rb::Object#go_/' '/rb::Object#go_.*_2/d'; do
	sed "$spoil" f.txt >spoilt.txt
	if python3 "$several" --judge 500 <spoilt.txt >said; then
		fail "the judge sees nothing: $spoil"
	else
		echo "ok: the judge sees $spoil"
	fi
done

echo "# one of them is wanted"
record --runtimes perl -F 1999 -e cpu-clock -o p.data -- $vim -u NONE -i NONE -n -es -S several.vim
"$SEAM" script -F comm,tid,ip,sym -i p.data 2>/dev/null >p.txt
atleast "functions of Perl" 100 "$(grep -c 'pl::main::go_' p.txt)"
same "no others" 0 "$(grep -c 'py::\|rb::' p.txt)"

echo "# a child has its parent's"
cat >fork.vim <<'END'
python3 << EOF
import os, vim
child = os.fork()
if child:
    os.waitpid(child, 0)
EOF
perl << EOF
use POSIX ();
sub in_child { my $end = POSIX::clock() + 3e5; my $n = 0; while (POSIX::clock() < $end) { $n++ } 1 }
EOF
python3 << EOF
def by_python():
    vim.eval("perleval('in_child()')")
if not child:
    by_python()
    os._exit(0)
EOF
qa!
END
record --runtimes python,perl,ruby -F 1999 -e cpu-clock -o c.data -- $vim -u NONE -i NONE -n -es -S fork.vim
"$SEAM" export -f folded c.data -o c.txt 2>/dev/null
says c.txt 'py::by_python:[^;]*;.*;pl::main::in_child:'
same "each is called by that" 0 "$(grep 'pl::main::in_child:' c.txt | grep -vc 'py::by_python:.*;pl::main::in_child:')"

echo "# where one is read only"
cat >away.vim <<'END'
python3 << EOF
import time
def sleeps():
    for i in range(30):
        time.sleep(0.002)
sleeps()
EOF
qa!
END
record --runtimes python,perl,ruby --off-cpu=500us -F 199 -e cpu-clock -o a.data -- $vim -u NONE -i NONE -n -es -S away.vim
"$SEAM" report -i a.data --json >a.json 2>/dev/null; same "report" 0 $?
atleast "stacks that say so" 1 "$(grep -o '"several":[0-9]*' a.json | head -n 1 | cut -d : -f 2)"
done_testing
