# SPDX-License-Identifier: MIT
# `seam report` on a terminal: keys go in through tmux, and the screen is what a person sees.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"

command -v tmux >/dev/null || skip "no tmux"
can_record
cat >work.c <<'E2'
#include "work.h"
static volatile unsigned long sum;
__attribute__((noinline, noclone)) void inner_work(unsigned n)
{
	while (n--)
		sum += n;
}
__attribute__((noinline, noclone)) void outer_work(void)
{
	for (uint64_t end = work_until(300); work_goes_on(end);)
		inner_work(work_loops(100000));
	__asm__ volatile("");
}
int main(void)
{
	outer_work();
	return 0;
}
E2
${CC:-cc} -O2 -g -o work work.c || skip "no compiler"
FILE=$PWD/work.data
"$SEAM" record -q -F 499 --call-graph dwarf -o "$FILE" -- ./work 2>err || fail "$(cat err)"
tmux() { command tmux -S "$PWD/socket" -f /dev/null "$@"; }
trap 'tmux kill-server 2>/dev/null; cd /; rm -rf "$T"' EXIT

tmux new-session -d -s base "sleep 1000" # the server stays when other sessions end
# open SIZE COMMAND: a terminal of "COLUMNS ROWS" that runs it, and says so when it has ended
open() {
	tmux kill-session -t s 2>/dev/null
	tmux new-session -d -s s -x "${1% *}" -y "${1#* }" "LC_ALL=C.UTF-8 $2; echo ended \$?; sleep 1000"
}
screen() { tmux capture-pane -p -t s; }
# shows TEXT: it is on the screen, at last
shows() {
	until_true "$1, but: $(screen)" on_screen "$1" && echo "ok: $1"
}
on_screen() {
	screen >screen.txt
	grep -qF -- "$1" screen.txt
}
# resized: the screen has the rows of $size, and its last one has the keys
resized() {
	screen >screen.txt
	[ "$(awk 'END { print NR }' screen.txt)" = "${size#* }" ] && tail -n 1 screen.txt | grep -qF '? help'
}
keys() { tmux send-keys -t s "$@"; }

open "80 24" "'$SEAM' report -i '$FILE'"
shows "1 functions 2 tree 3 called by 4 objects 5 commands 6 threads 7 time 8 stacks"
shows "Total*     Self"
same "rows of the screen" 24 "$(awk 'END { print NR }' screen.txt)"
same "no row is wider than the screen" 0 "$(awk 'length($0) > 80 * 3' screen.txt | wc -l)"
keys s
shows "Self*"
keys S
keys -l srcline,sym
keys Enter
shows "Source line"
shows "work.c:"
keys S
keys -l comm,dso,sym
keys Enter
keys 2 H
shows "callers, and below each what it called"
shows "- outer_work (work)"
shows "inner_work (work)"
keys 6
shows "TID  "
keys 7
shows "####"
keys 8
shows "samples:"
keys '?'
shows "MOVING"
keys G
shows "7/120+"
keys Escape 1 /
keys -l inner_w
keys Enter
shows "with 'inner_w'"
keys Enter
shows "outer_work (work)"
keys a
shows "source and instructions"
shows "inner_work"
tmux resize-window -t s -x 40 -y 12
shows "source and instr"
tmux resize-window -t s -x 120 -y 40
shows "1 functions  2 tree  3 called by  4 objects  5 commands  6 threads  7 time  8 stacks"
keys q
shows "ended 0"

# It is there while the recording is read: keys are answered before there is anything, and q does not wait for the rest.
mkfifo slow.data
open "80 24" "'$SEAM' report -i slow.data"
shows "[reading]"
shows "nothing yet"
keys '?'
shows "MOVING"
keys Escape 2
shows "callers, and below each what it called"
cat "$FILE" >slow.data
shows "+ _start (work)"
keys 8
shows "samples:"
keys q
shows "ended 0"
open "80 24" "'$SEAM' report -i slow.data"
shows "[reading]"
keys q
shows "ended 0"

# Its window changes while it is read, in the middle of the recording: what was asked for stays, on the screen as it is then.
open "80 24" "'$SEAM' report -i slow.data"
shows "[reading]"
exec 9>slow.data
half=$(($(wc -c <"$FILE") / 2))
head -c $half "$FILE" >&9
keys 2
shows "callers, and below each what it called"
for size in "40 12" "200 60" "20 5" "100 30"; do
	tmux resize-window -t s -x "${size% *}" -y "${size#* }"
	until_true "$size" resized
	same "no row of $size is wider while it is read" 0 "$(awk -v most="${size% *}" 'length($0) > most * 3' screen.txt | wc -l)"
done
shows "callers, and below each what it called"
tail -c +$((half + 1)) "$FILE" >&9
exec 9>&-
shows "+ _start (work)"
same "rows of 100x30 when it is read" 30 "$(awk 'END { print NR }' screen.txt)"
keys q
shows "ended 0"

# What cannot be read is said, on the terminal as it was. A recording without samples is shown as that.
open "80 24" "'$SEAM' report -i no.data"
shows "no.data: No such file or directory"
shows "ended 1"
"$SEAM" record -q -o empty.data -e dummy -- true 2>err || fail "$(cat err)"
open "80 24" "'$SEAM' report -i empty.data"
shows "0 samples"
shows "nothing"
keys j G Enter a c d m n s 2 Enter H E 3 4 Enter 6 7 8 1
shows "1 functions"
keys q
shows "ended 0"

# Two recordings: rows of both, Enter goes into callers and callees of both sides; a pipe and --stdio get text.
"$SEAM" record -q -F 499 --call-graph dwarf -o other.data -- ./work 2>err || fail "$(cat err)"
open "80 24" "'$SEAM' diff '$FILE' other.data"
shows "1 compared  2 tree  3 called by  4 objects  5 commands  6 how sure"
shows "inner_work"
keys s
shows "New*"
keys m
shows "*work "
keys Enter
shows "the function, with what it called"
shows "outer_work (work)"
tmux resize-window -t s -x 130 -y 24
shows "Ratio"
keys 2
shows "callers, and below each what it called"
keys E /
keys -l inner_w
keys Enter
shows "inner_work (work)"
keys a
shows "Base      New   Source and disassembly"
shows "new:  inner_work in "
keys w
keys -l both.txt
keys Enter
shows "both.txt: written"
same "lines of code that both sides have" 1 "$(grep -cE '^ *[0-9.]+ +[0-9.]+   +[0-9a-f]+: ' both.txt | awk '{ print ($1 > 0) }')"
same "lines that one side has" 0 "$(grep -cE '^.{18}[-+] ' both.txt)"
keys Escape 3
shows "callees, and below each who called it"
keys w
keys -l both.folded
keys Enter
shows "both.folded: written"
grep -qE '^work;.*outer_work;inner_work [1-9][0-9]* [1-9][0-9]*$' both.folded || fail "no stack with both counts: $(head -n 3 both.folded)"
keys 6
shows "baseline:"
keys q
shows "ended 0"
# All rows are there to be scrolled to and searched, also those that the text leaves out as too small.
GCC=$HERE/../data/gcc_d/perf.data KILLED=$HERE/../data/kill9_z/perf.data
rows=$(($("$SEAM" diff --csv -s comm,dso --symfs /nonexistent "$GCC" "$KILLED" 2>err | wc -l) - 1))
small=$("$SEAM" diff --stdio -s comm,dso --symfs /nonexistent "$GCC" "$KILLED" 2>err | sed -n 's/^(\([0-9]*\) more rows below .*/\1/p')
open "80 24" "'$SEAM' diff -s comm,dso --symfs /nonexistent '$GCC' '$KILLED'"
shows " 1/$rows"
keys q
shows "ended 3"
open "80 24" "'$SEAM' diff --percent-limit 0.5 -s comm,dso --symfs /nonexistent '$GCC' '$KILLED'"
shows " 1/$((rows - small))"
keys q
shows "ended 3"
# It is there while both are read, and what cannot be read is said.
open "80 24" "'$SEAM' diff slow.data other.data"
shows "[reading slow.data"
shows "nothing yet"
keys 2
shows "callers, and below each what it called"
cat "$FILE" >slow.data
shows "+ _start (work)"
shows "-> other.data"
keys 1
shows "inner_work"
keys q
shows "ended 0"
mkfifo slow2.data
open "80 24" "'$SEAM' diff other.data slow.data,slow2.data"
shows "[reading slow.data (2 of 3)"
cat "$FILE" >slow.data
shows "[reading slow2.data (3 of 3)"
keys q
shows "ended 0"
# The baseline is there before the new side, of which nothing is claimed; what a person does meanwhile stays.
open "80 24" "'$SEAM' diff other.data slow.data"
shows "[reading slow.data]"
shows "inner_work"
shows " -> ..."
keys / i n n e r _ w Enter
until_true "a filter beside reading" eval 'screen >screen.txt; ! grep -q outer_work screen.txt'
same "figures of the new side, or differences" 0 "$(screen | sed -n '4,23p' | grep -cE '%.*%|±|~')"
same "rows of the baseline alone" 1 "$(screen | grep -cE '^ +[0-9.]+% +[.]{3} +[.]{3} +work +inner_work')"
cat "$FILE" >slow.data
until_true "a row of both" eval 'screen | grep -qE "^ +[0-9.]+% +[0-9.]+% +[-+][0-9.]+%.* inner_work"'
shows "with 'inner_w'"
keys q
shows "ended 0"
odd=$(printf 'slow\033[2J.data')
mkfifo "$odd"
open "80 24" "'$SEAM' diff other.data '$odd'"
shows '-> slow\x1b[2J.data'
shows "[reading (2 of 2)]"
keys q
shows "ended 0"
open "80 24" "'$SEAM' diff '$FILE' no.data"
shows "no.data: No such file or directory"
shows "ended 1"
open "80 24" "'$SEAM' diff --stdio '$FILE' other.data | cat; '$SEAM' diff '$FILE' other.data | tail -n 3"
shows "ended 0"

# Each pane on the smallest screen, and back; what is smaller still says so.
open "80 24" "'$SEAM' report -i '$FILE'"
shows "1 functions"
for pane in 1 2 3 6 7 8; do
	keys $pane
	tmux resize-window -t s -x 20 -y 5
	shows "? help "
	same "rows of 20x5, pane $pane" 5 "$(awk 'END { print NR }' screen.txt)"
	same "no row of pane $pane is wider" 0 "$(awk 'length($0) > 20 * 3' screen.txt | wc -l)"
	tmux resize-window -t s -x 80 -y 24
	shows "1 functions 2 tree 3 called by 4 objects"
done
tmux resize-window -t s -x 15 -y 4
shows "no room"
tmux resize-window -t s -x 80 -y 24
shows "1 functions"
keys q
shows "ended 0"

# Stopped, it gives the terminal back; gone on with, it is drawn as large as the terminal is then.
open "80 24" "PS1='ready> ' bash --norc --noprofile -i"
shows "ready>"
keys -l "'$SEAM' report -i '$FILE'"
keys Enter
shows "1 functions"
keys 2
shows "callers, and below each what it called"
keys C-z
shows "Stopped"
keys -l "stty -a | tr -d '\\n' | grep -o ' icanon '"
keys Enter
shows " icanon"
tmux resize-window -t s -x 100 -y 30
keys -l fg
keys Enter
shows "callers, and below each what it called"
shows "1 functions  2 tree  3 called by  4 objects  5 commands  6 threads  7 time  8 stacks"
same "rows after that" 30 "$(awk 'END { print NR }' screen.txt)"
keys H
shows "inner_work (work)"
keys q
shows "ready>"
keys -l "exit 0"
keys Enter
shows "ended 0"

# A signal gives the terminal back, too.
open "80 24" "trap : INT; '$SEAM' report -i '$FILE'; stty -a | tr -d '\n' | grep -o ' icanon .* echo '"
shows "1 functions"
keys C-c
shows " icanon "
shows "ended 0"

# Without colours nothing is drawn in any; TERM=dumb and --stdio print text.
open "80 24" "NO_COLOR=1 '$SEAM' report -i '$FILE'"
shows "1 functions"
same "no colours" 0 "$(tmux capture-pane -e -p -t s | grep -c "$(printf '\033')\[[0-9;]*3[0-7]m")"
keys q
shows "ended 0"
open "80 24" "TERM=dumb '$SEAM' report -i '$FILE' | tail -n 3; '$SEAM' report --stdio -i '$FILE' >/dev/null"
shows "ended 0"
done_testing
