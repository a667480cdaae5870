#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions of Ruby in the stacks, against the chains that Ruby itself noted at the same places: recursion, calls by way of C, methods of
# all kinds, blocks, exceptions, eval, files that are loaded again, threads, fibers, Ractors, code that dies, objects that move. Names,
# order and lines; how reports show them; structures that an enemy made.
# By hand: SEAM_RUBY_TRUTH=0.14 is seconds of CPU time for each of 77 places, for 997 Hz and 4,000; SEAM_RUBY another ruby, with the
# words that it is started by (chroot /path ruby3.3), in which this directory is at the same place.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
ruby=${SEAM_RUBY:-$(command -v ruby3.1)} || ruby=
[ -n "$ruby" ] || fail "there is no ruby3.1: scripts/setup test"
program=$HERE/runtimes/chains_program.rb

# chains HZ SECONDS FLAG...: what the program noted, and what was recorded of it.
chains() {
	hz=$1 seconds=$2
	shift 2
	rm -f "$T/notes"
	# shellcheck disable=SC2086 # words
	record --runtimes ruby -F "$hz" -e cpu-clock -o f.data -- $ruby "$@" "$program" "$seconds" "$T/notes"
	same "status" 0 $status
	"$SEAM" script -F comm,tid,ip,sym,dso,srcline -i f.data 2>script.err >f.txt; same "script" 0 $?
}
# truth HZ SECONDS
truth() {
	chains "$@"
	if python3 "$HERE/runtimes/chains_check.py" rb:: notes 500 rb_vm_exec <f.txt >said; then
		echo "ok: at $1 Hz: $(tail -n 1 said)"
	else
		fail "at $1 Hz: $(head -n 100 said; tail -n 1 said)"
	fi
}

# Code of its JIT is left by the frame that it makes: stacks that have a function reach the program's begin, or their thread's.
# shellcheck disable=SC2086 # words
if $ruby --yjit -e 1 2>/dev/null; then
	chains 997 "${SEAM_RUBY_TRUTH:-0.01}" --yjit
	python3 "$HERE/runtimes/chains_check.py" rb:: notes 200 rb_vm_exec <f.txt >said
	if awk -F '[ ,]+' 'END { exit !($6 == 0 && $2 >= 200 && $2 >= 9 * $4) }' said; then
		echo "ok: YJIT: $(tail -n 1 said)"
	else
		fail "YJIT: $(head -n 100 said; tail -n 1 said)"
	fi
	"$SEAM" script -F comm,ip,sym -i f.data 2>/dev/null |
		awk '/rb::/ { has = 1 } NF { last = $0; next } has { n++; cut += last ~ /rb::/ } { has = 0 } END { print n + 0, int(cut * 1000 / (n + !n)) }' >said
	read -r all cut <said
	atleast "YJIT: stacks with a function" 200 "$all"
	atmost "YJIT: of 1000 of these, cut off" 50 "$cut"
fi
if [ -n "${SEAM_RUBY_TRUTH:-}" ]; then
	truth 997 "$SEAM_RUBY_TRUTH"
	truth 4000 "$SEAM_RUBY_TRUTH"
fi
truth 1999 0.02

echo "# the judge"
# shellcheck disable=SC2016 # a pattern
for spoil in 's/rb::Object#leaf_deep:/rb::Object#leaf_c:/' 's/rb::Square#of_square:/rb::Shape#of_square:/' '/rb::Array#map /d' \
	's/rb::block in Object#in_fiber:/rb::Object#in_fiber:/'; do
	sed "$spoil" f.txt >spoilt.txt
	if python3 "$HERE/runtimes/chains_check.py" rb:: notes 500 rb_vm_exec <spoilt.txt >said; then
		fail "the judge sees nothing: $spoil"
	else
		echo "ok: the judge sees $spoil"
	fi
done

echo "# lines, objects, the loop"
line=$(grep -n '^def deep' "$program" | cut -d : -f 1)
says f.txt 'rb::Object#deep:.*chains_program.rb (\[ruby\])$'
same "no other line of that function" 0 "$(grep -A1 'rb::Object#deep:' f.txt | grep '^  ' | grep -cv "^  chains_program.rb:$line\$")"
"$SEAM" export -f folded f.data -o folded.txt 2>/dev/null
"$SEAM" export -f folded --native f.data -o native.txt 2>/dev/null
atleast "loops with --native" 1 "$(grep -o ';rb::' native.txt | wc -l)"
same "the weights are the same" "$(awk '{ n += $NF } END { printf "%.0f", n }' folded.txt)" \
	"$(awk '{ n += $NF } END { printf "%.0f", n }' native.txt)"
"$SEAM" report -i f.data -s dso,sym --json >f.json 2>report.err; same "report" 0 $?
says f.json '\[ruby\]'
"$SEAM" annotate --source-dir "$HERE/runtimes" -i f.data -s 'Object#work' >work.txt 2>annotate.err; same "annotate" 0 $?
says work.txt 'x = (x \* 1103515245 + 12345) & 0x7fffffff'
"$SEAM" convert -i f.data -o c.data >convert.out 2>convert.err; same "convert" 0 $?
"$SEAM" script -F comm,tid,ip,sym,dso -i c.data 2>/dev/null >c.txt
if python3 "$HERE/runtimes/chains_check.py" rb:: notes 500 rb_vm_exec <c.txt >said; then
	echo "ok: converted: $(tail -n 1 said)"
else
	fail "converted: $(head -n 100 said; tail -n 1 said)"
fi
# shellcheck disable=SC2086 # words
record --no-runtimes -F 997 -e cpu-clock -o n.data -- $ruby -e '3000000.times { |i| i + 1 }'
"$SEAM" script -i n.data 2>/dev/null >n.txt
same "no function with --no-runtimes" 0 "$(grep -c 'rb::' n.txt)"

echo "# where the loader runs"
# shellcheck disable=SC2086 # words
starts_whole ruby $ruby -e 0

echo "# hostile structures"
"${CC:-cc}" -O1 -rdynamic -o hostile "$HERE/runtimes/hostile_ruby.c" 2>cc.err || fail "$(cat cc.err)"
cases="good unfilled filled place context outside huge tags tag kernel environment deep c long negative string type label class table singleton names line array letters"
for case in $cases; do ln -s hostile h_$case; done
# shellcheck disable=SC2016,SC2086 # the shell's that is recorded; words
record --runtimes ruby -F 997 -e cpu-clock -o h.data -- sh -c 'for i; do "./h_$i" "$i" || exit 1; done' sh $cases
same "status" 0 $status
"$SEAM" script -F comm,ip,sym -i h.data 2>/dev/null >h.txt
same "no other name" 0 "$(grep 'rb::' h.txt | grep -vc 'rb::\(block in \)\?\(Made#\)\?\(good\|e\\nvil.*\):/made/good.rb')"
for case in good unfilled filled place label line; do
	atleast "$case: its function" 1 "$(awk -v RS= -v c="h_$case" '$1 == c && /rb::Made#good:/' h.txt | grep -c 'rb::')"
done
same "a frame that is not filled in is none" "1 2" \
	"$(for case in unfilled filled; do awk -v RS= -v c="h_$case" '$1 == c { n = gsub(/rb::Made#good:/, ""); if (n > most) most = n } END { print most }' h.txt; done | paste -sd ' ')"
same "letters are escaped" 0 "$(grep -c "$(printf '\033')" h.txt)"
done_testing
