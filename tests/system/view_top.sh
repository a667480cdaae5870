# SPDX-License-Identifier: MIT
# `seam top` on a terminal: the view of seam report, fed while it is looked at. Keys go in through tmux, and the screen is what a person sees.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"

command -v tmux >/dev/null || skip "no tmux"
can_record || skip "no samples can be recorded here"
cat >turns.c <<'C'
#include <signal.h>
#include <stdlib.h>
static volatile sig_atomic_t turned;
static volatile unsigned sum;
static void turn(int signal)
{
	(void)signal;
	turned = 1;
}
__attribute__((noinline, noclone)) void first_half(void)
{
	while (!turned)
		sum++;
}
__attribute__((noinline, noclone)) void second_half_of_a_long_name_that_has_no_room_on_the_terminal_of_eighty_columns(void)
{
	while (turned < 2)
		sum += 3;
}
int main(void)
{
	signal(SIGUSR1, turn);
	first_half();
	second_half_of_a_long_name_that_has_no_room_on_the_terminal_of_eighty_columns();
	return 0;
}
C
${CC:-cc} -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o turns turns.c || skip "no compiler"
tmux() { command tmux -S "$PWD/socket" -f /dev/null "$@"; }
./turns &
PID=$!
trap 'tmux kill-server 2>/dev/null; kill $PID 2>/dev/null; cd /; rm -rf "$T"' EXIT
screen() { tmux capture-pane -p -t s; }
on_screen() {
	screen >screen.txt
	grep -qE -- "$1" screen.txt
}
# shows PATTERN: it is on the screen, at last
shows() { until_true "$1, but: $(screen)" on_screen "$1" && echo "ok: $1"; }
keys() { tmux send-keys -t s "$@"; }

tmux new-session -d -s base "sleep 1000" # the server stays when other sessions end
# The first table does not wait for a delay that a person chose for later ones.
tmux new-session -d -s s -x 80 -y 24 "LC_ALL=C.UTF-8 '$SEAM' top -d 3600 -F 499 -p $PID"
shows "%  turns +\[\.\] first_half$"
keys q
until_true "it is left" eval '! tmux has-session -t s 2>/dev/null'

tmux new-session -d -s s -x 80 -y 24 "LC_ALL=C.UTF-8 '$SEAM' top -d 0.5 -F 499 -p $PID; echo ended \$?; stty -a | tr -d '\n' | grep -o ' icanon .* echo '; sleep 1000"
shows "%  turns +\[\.\] first_half$"
shows "sampling"
screen >screen.txt
same "the first line is the first" 1 "$(sed -n 1p screen.txt | grep -c '^ seam top, .* samples')"
same "sections below it" 1 "$(sed -n 2p screen.txt | grep -c '^ 1 functions 2 tree')"
same "rows of the screen" 24 "$(awk 'END { print NR }' screen.txt)"
same "how to get help is the last key, and the place behind it" 1 "$(sed -n 24p screen.txt | grep -cE 'p hold  \? help +[0-9]+/[0-9]+$')"

# The tree stays open while samples come.
keys 2 E
shows "- main \(turns\)"
shows "%   first_half \(turns\)"
keys 1

# Held, nothing moves though the program does another thing; recording goes on.
keys p
shows "held: p goes on"
screen >before.txt
kill -USR1 $PID
sleep 2
screen >after.txt
same "held" "$(cat before.txt)" "$(cat after.txt)"
keys p
shows "%  turns +\[\.\] second_half.*…"
screen >screen.txt
same "no row is wider than the screen" 0 "$(awk 'length($0) > 80 * 3' screen.txt | wc -l)"

# Callers and callees of what is sampled now, which later samples come into as well.
keys g Enter
shows "called by"
shows "% +main \(turns\)"
keys 8
shows "samples in .* s, .* % with whole stacks"
shows "user stacks: "
tmux resize-window -t s -x 40 -y 10
shows "^<.* 8 stacks"
keys 1
tmux resize-window -t s -x 200 -y 60
shows "second_half_of_a_long_name_that_has_no_room_on_the_terminal_of_eighty_columns"

# What is recorded ends: the last samples stay.
kill $PID
wait $PID 2>/dev/null
shows "\[ended\]"
shows "second_half_of_a_long_name"
keys q
shows "ended 0"
shows " icanon "

# Beside processes that begin and end all the time, on screens of all sizes: each is full and no row is wider, and all sections are there.
sh -c 'while :; do /bin/true; /bin/ls / >/dev/null; done' &
PID=$!
tmux kill-session -t s 2>/dev/null
tmux new-session -d -s s -x 80 -y 24 "LC_ALL=C.UTF-8 '$SEAM' top -a -d 0.3; echo ended \$?; sleep 1000"
shows "%  .* \[[.k]\] "
keys 5
shows "% +(ls|true)$"
for size in "20 5" "40 10" "200 60" "80 24" "40 10" "80 24"; do
	tmux resize-window -t s -x "${size% *}" -y "${size#* }"
	for section in 2 E 6 8 1; do
		keys $section
		shows "[?] help "
		same "rows of $size" "${size#* }" "$(awk 'END { print NR }' screen.txt)"
		same "no row of $size is wider" 0 "$(awk -v most="${size% *}" 'length($0) > most * 3' screen.txt | wc -l)"
	done
done
shows "seam top, [0-9.]+ % whole stacks"
keys q
shows "ended 0"
done_testing
