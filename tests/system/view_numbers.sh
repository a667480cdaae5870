# SPDX-License-Identifier: MIT
# The numbers in the panes of `seam report` on a terminal are those of its text, and those that are counted in `seam script`: each pane is written to
# a file by `w`, for functions, the tree, callers and callees, threads, commands, time, filters, zooms and the code of a zoom.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"

command -v tmux >/dev/null || skip "no tmux"
can_record
cat >work.c <<'C'
#include <pthread.h>
#include <sys/prctl.h>
#include "work.h"
static volatile unsigned long sum;
__attribute__((noinline, noclone)) void inner_work(unsigned n)
{
	while (n--)
		sum += n;
}
__attribute__((noinline, noclone)) void outer_left(void)
{
	for (uint64_t end = work_until(300); work_goes_on(end);)
		inner_work(work_loops(100000));
	__asm__ volatile("");
}
__attribute__((noinline, noclone)) void outer_right(void)
{
	for (uint64_t end = work_until(150); work_goes_on(end);)
		inner_work(work_loops(100000));
	__asm__ volatile("");
}
static void *right(void *arg)
{
	prctl(PR_SET_NAME, "right");
	outer_right();
	return arg;
}
int main(void)
{
	pthread_t t;

	if (pthread_create(&t, 0, right, 0))
		return 1;
	outer_left();
	pthread_join(t, 0);
	return 0;
}
C
${CC:-cc} -O2 -g -o work work.c -lpthread || skip "no compiler"
"$SEAM" record -q -e cpu-clock -F 999 --call-graph dwarf -o work.data -- ./work 2>err || fail "$(cat err)"
"$SEAM" script -i work.data --no-inline -F comm,tid,time,ip,sym >script.txt 2>err || fail "$(cat err)"
tmux() { command tmux -S "$PWD/socket" -f /dev/null "$@"; }
trap 'tmux kill-server 2>/dev/null; cd /; rm -rf "$T"' EXIT
screen() { tmux capture-pane -p -t s; }
on_screen() { screen | grep -qF -- "$1"; }
shows() { until_true "$1, but: $(screen)" on_screen "$1" && echo "ok: $1"; }
keys() { tmux send-keys -t s "$@"; }
# written NAME: the pane, as a file of that name
written() {
	keys w
	keys -l "$1"
	keys Enter
	shows "$1: written"
}
# rows: the shares and the last field of each line, sorted
rows() { sed -nE 's/^ *([0-9.]+%) +([0-9.]+%) [*]?.* ([^ ]+)$/\1 \2 \3/p' | LC_ALL=C sort; }

tmux new-session -d -s s -x 150 -y 40 "LC_ALL=C.UTF-8 '$SEAM' report --no-inline -i work.data; echo ended \$?; sleep 1000"
# A table that is there is of the whole file when nothing is said of reading.
is_read() { on_screen inner_work && ! on_screen reading; }
until_true "the file is read, but: $(screen)" is_read
keys S
keys -l sym
keys Enter
shows "Self  Symbol"
written functions.txt
keys 2 E
shows "callers, and below each what it called"
written tree.txt
keys 1 g /
keys -l inner_wor
keys Enter
shows "with 'inner_wor'"
written filtered.txt
keys Enter
shows "Share     Self"
written calls.txt
keys 6
shows "TID "
written threads.txt
keys 5
shows "Command"
written commands.txt
keys 7
shows "Time"
written time.txt
keys 5 g j Enter
shows "samples  of right"
written right.txt
keys /
keys -l inner_wor
keys Enter
shows "with 'inner_wor'"
keys a
shows "Of the samples of comm right."
written code.txt
keys q
shows "ended 0"

# Functions and the tree: the same rows as the text's.
"$SEAM" report --stdio --no-inline --percent-limit 0 -s sym -i work.data >report.txt 2>err || fail "$(cat err)"
sed '/Callers, and below/,$d' report.txt | rows >report.functions
rows <functions.txt >view.functions
same "functions" "$(cat report.functions)" "$(cat view.functions)"
sed -n '/Callers, and below/,/^$/p' report.txt | sed -E 's/ \([^()]*\)$//' | rows >report.tree
sed -E 's/ \([^()]*\)$//' tree.txt | rows >view.tree
same "there is a tree" 1 "$(awk 'END { print (NR > 8) }' report.tree)"
same "the tree" "$(cat report.tree)" "$(cat view.tree)"
same "a filter shows what has the text, and nothing else" "$(grep inner_work report.functions)" "$(rows <filtered.txt)"

# What is counted in script: a sample is a head line and its frames, from the innermost on.
cat >count.awk <<'A'
function share(n) { return sprintf("%.2f%%", 100 * n / all) }
function done(  i, met) {
	if (!head)
		return
	all++
	comms[comm]++
	tids[tid]++
	slices[int(time * 10)]++
	for (i = 1; i <= n; i++)
		if (sym[i] == "inner_work" && !met++) {
			callers[i < n ? sym[i + 1] : "none"]++
			has++
			self += i == 1
			right += i == 1 && comm == "right"
		}
	for (i = met = 0; comm == "right" && ++i <= n;)
		outer += sym[i] == "outer_right" && !met++
	head = n = 0
}
/^[^ \t]/ { done(); head = 1; comm = $1; tid = $2; time = $3; sub(":", "", time) }
/^[ \t]/ && NF > 1 { sym[++n] = $2; sub(/\+0x[0-9a-f]+$/, "", sym[n]) }
END {
	done()
	for (i in comms) print "comm", share(comms[i]), i
	for (i in tids) print "tid", share(tids[i]), i
	for (i in slices) print "slice", share(slices[i])
	for (i in callers) print "caller", share(callers[i]), i
	print "inner", share(has), share(self)
	print "right", right
	printf "outer %.2f%%\n", 100 * outer / comms["right"]
}
A
awk -f count.awk script.txt | LC_ALL=C sort >counted.txt
sed -nE 's/^ *([0-9.]+%) +[0-9.]+% +([^ ]+)$/comm \1 \2/p' commands.txt | LC_ALL=C sort >view.comms
same "commands" "$(grep ^comm counted.txt)" "$(cat view.comms)"
same "threads" "$(grep ^tid counted.txt)" "$(sed -nE 's/^ *([0-9.]+%) +[0-9.]+% +([0-9]+) .*/tid \1 \2/p' threads.txt | LC_ALL=C sort)"
same "slices of time" "$(grep ^slice counted.txt)" "$(sed -nE 's/^ *([0-9.]+%) +[0-9.]+% +[0-9]+\.[0-9].*/slice \1/p' time.txt | LC_ALL=C sort)"
same "callers" "$(grep ^caller counted.txt)" "$(sed -n '/called by/,/the function/s/^ *\([0-9.]*%\) *\([^ ]*\) (.*/caller \1 \2/p' calls.txt | LC_ALL=C sort)"
same "the function" "$(grep ^inner counted.txt)" "$(sed -nE 's/^ *([0-9.]+%) +([0-9.]+%) +inner_work \(work\)/inner \1 \2/p' calls.txt)"
same "the code of a zoom has the zoom's samples" "$(awk '$1 == "right" { print $2 }' counted.txt)" "$(sed -nE 's/^inner_work in .*: ([0-9]+) samples.*/\1/p' code.txt)"
same "a zoom's functions are shares of its samples" "$(sed -n 's/^outer //p' counted.txt)" "$(sed -nE 's/^ *([0-9.]+%) +[0-9.]+% .* outer_right$/\1/p' right.txt)"
done_testing
