#!/bin/sh
# SPDX-License-Identifier: MIT
# Chains of CPython against what is known of them by construction and by the interpreter's own notes of the same moments: 500
# calls by way of C, threads, processes that are forked and spawned, tasks, code that dies (eval, reload); names, order, lines
# and C between them, in every CPython that is here, at 997 Hz and at 4,000. Whole are 99.5 % of the stacks, wrong is none.
# By hand: SEAM_PYTHON_TRUTH=20 is seconds of CPU time, for both rates.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
. "$HERE/python/pythons.sh"

# truth PYTHON HZ SECONDS
truth() {
	in_root "$1" "$HERE/python/chains_program.py"
	notes=$T/notes
	rm -rf "$notes"
	mkdir "$notes"
	[ -z "$runs" ] || { notes=$root$program.d && mkdir "$notes"; }
	# What the interpreter allocated and never wrote is no zero.
	# shellcheck disable=SC2086 # words
	record --python -F "$2" -e cpu-clock -o f.data -- env MALLOC_PERTURB_=100 $runs "$python" "$program" "$3" "${notes#"${runs:+$root}"}"
	same "status" 0 $status
	"$SEAM" script -F comm,tid,ip,sym,dso,srcline -i f.data 2>script.err >f.txt; same "script" 0 $?
	if python3 "$HERE/python/chains_check.py" 0 "$notes" <f.txt >said; then
		tail -n 1 said >>all
		echo "ok: $1 at $2 Hz: $(tail -n 1 said)"
	else
		fail "$1 at $2 Hz: $(head -n 100 said; tail -n 1 said)"
	fi
	[ -z "$runs" ] || rm -rf "$root$program" "$notes"
}

# What the judge itself is worth: it finds what is taken from whole stacks, or changed in them.
judge_of() {
	if python3 "$HERE/python/chains_check.py" 0 "$notes" <spoilt.txt >said; then fail "the judge sees nothing: $1"; else echo "ok: the judge sees $1"; fi
}

hz=4000
while read -r each; do
	echo "# $each"
	truth "$each" $hz "${SEAM_PYTHON_TRUTH:-0.6}"
	[ $hz = 997 ] && hz=4000 || hz=997
	[ -z "${SEAM_PYTHON_TRUTH:-}" ] || truth "$each" $hz "$SEAM_PYTHON_TRUTH"
	[ -n "$runs" ] || [ -f good.txt ] || { awk 'BEGIN { RS = ""; ORS = "\n\n" } NR % 4 == 0' f.txt >good.txt; cp -r "$notes" good; }
done <list

# All together, because each has a few hundred here.
if awk -F '[ ,]+' '{ whole += $2; lost += $4 } END { print "whole " whole ", lost " lost; exit !(whole * 100 >= 99.5 * (whole + lost)) }' all >said; then
	echo "ok: $(cat said)"
else
	fail "too many are not whole: $(cat said)"
fi

echo "# the judge"
notes=$T/good
awk '/py::k_ta_7:/ { skip = 1; next } !skip || !/^  / { print } { skip = 0 }' good.txt >spoilt.txt
judge_of "a missing frame"
sed 's/py::k_ta_7:/py::k_ta_8:/' good.txt >spoilt.txt; judge_of "a wrong name"
sed 's/py::k_tb_/py::k_tc_/' good.txt >spoilt.txt; judge_of "another thread's frames"
sed 's/^  ta:76$/  ta:75/' good.txt >spoilt.txt; judge_of "a wrong line"
sed 's/py::k_ev1/py::k_ev2/' good.txt >spoilt.txt; judge_of "another code object's name"
grep -v 'py::run_role:' good.txt >spoilt.txt; judge_of "a missing caller"
sed 's/^\(.*\)py::k_deep_40:/\1py::k_deep_41:/; t; s/^\(.*\)py::k_deep_41:/\1py::k_deep_40:/' good.txt >spoilt.txt; judge_of "two in the wrong order"
grep -v ffi good.txt >spoilt.txt; judge_of "no C between two frames"
done_testing
