# SPDX-License-Identifier: MIT
# hostile_live.sh: a thread, a program's file, a function, a source file and its lines that are named to mislead, in top (plain,
# and on a narrow terminal, where names are cut) and in annotate's listing: nothing of it reaches the terminal raw.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
can_record
esc=$(printf '\033')

cat >hot.c <<C
#include <sys/prctl.h>
#include "work.h"
static volatile unsigned sink;
/* Two functions whose names differ at their ends, and one that is renamed; the loops' lines hold what a terminal obeys. */
#define SPIN for (unsigned i = 0; i < n; i++) sink = sink * 3u + i
__attribute__((noinline)) void a_function_whose_name_has_a_very_long_beginning_and_ends_in_this(unsigned n)
{
	SPIN; /* ${esc}]0;owned$(printf '\007\302\233')31m$(printf '\342\200\256')desrever$(printf '\377\b') HOT */
}
__attribute__((noinline)) void a_function_whose_name_has_a_very_long_beginning_and_ends_in_that(unsigned n)
{
	SPIN; /* HOT */
}
__attribute__((noinline)) void renamed(unsigned n)
{
	SPIN; /* HOT */
}
int main(int argc, char **argv)
{
	prctl(PR_SET_NAME, "${esc}[2Ja\\n 99.9%  x");
	for (uint64_t end = work_until(atof(argv[1])); work_goes_on(end);) {
		a_function_whose_name_has_a_very_long_beginning_and_ends_in_this(work_loops(300000));
		a_function_whose_name_has_a_very_long_beginning_and_ends_in_that(work_loops(200000));
		renamed(work_loops(200000));
	}
	return 0;
}
C
directory="$T/${esc}[31mdir
99.99%"
program="${esc}]0;hot$(printf '\007\302\205')"
name="${esc}[2Jfun$(printf '\r')ction
  99.99%"
mkdir "$directory" && cp hot.c "$directory/${esc}c.c" && cd "$directory" || fail "names of files"
cc -g -O1 -I"$here" -o plain "${esc}c.c" 2>"$T/cc.err" || fail "cc: $(cat "$T/cc.err")"
objcopy --redefine-sym "renamed=$name" plain "$program" || fail "objcopy"
cp "$program" nameless && strip nameless || fail "strip"
cd "$T" || exit 1

# shown WHAT FILE [TABS]: no character of it is one that a terminal obeys, or that misleads who reads.
cat >shown.py <<'P'
import sys, unicodedata
text = open(sys.argv[1], "rb").read().decode("utf-8", "strict")
allowed = {"\n"} | set(sys.argv[2:])
bad = [(i, c) for i, c in enumerate(text) if c not in allowed and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]
print("as it should be" if text and not bad else "U+%04X in %r" % (ord(bad[0][1]), text[max(bad[0][0] - 20, 0):][:40]) if bad else "nothing")
P
shown() { same "$1" "as it should be" "$(python3 shown.py "$2" ${3:+"$3"})"; }

"$directory/$program" 3600000 &
pid=$!
timeout 300 "$SEAM" top --stdio -d 1 -n 2 -p "$pid" -s comm,dso,sym >top 2>top.err
same "top" 0 $?
shown "top's text" top
same "rows are rows" 0 "$(grep '%' top | grep -v ' with whole stacks' | grep -vcE '^ *[0-9]+\.[0-9]{2}% .*\\x1b\[2Ja\\n 99\.9|more rows')"
atleast "the renamed function's" 2 "$(grep -cF 'x1b[2Jfun\rction\n  99.99%' top)"

# On a terminal of 60 columns names that differ at their ends do so still. What the terminal gets is kept too, as it is: of all that
# seam writes there nothing is the program's own.
tmux() { command tmux -S "$T/socket" -f /dev/null "$@"; }
command -v tmux >/dev/null || skip "no tmux"
trap 'tmux kill-server 2>/dev/null; cd /; rm -rf "$T"' EXIT
tmux new-session -d -s base "sleep 1000" # the server stays when other sessions end
seen() { tmux capture-pane -p -t s >screen && grep -q "$1" screen; }
# narrow COLUMNS SORT OUT: the screen of seam top
narrow() {
	tmux new-session -d -s s -x "$1" -y 30 "LC_ALL=C.UTF-8 '$SEAM' top -d 1 -p $pid -s $2 --percent-limit 0.01"
	tmux pipe-pane -t s "cat >'$T/raw'"
	until_true "rows of $1 columns" seen '[[][.][]]'
	sleep 1.5
	tmux capture-pane -p -t s >"$3"
	tmux kill-session -t s
	same "$1 columns: sequences of the program's own" 0 "$(grep -cF -e "${esc}[2Ja" -e "${esc}]0;hot" -e "${esc}[2Jfun" -e "${esc}[31mdir" raw)"
}
narrow 60 comm,dso,sym narrow
cat narrow
atleast "the end of one name" 1 "$(grep -c '….*_this$' narrow)"
atleast "the end of the other" 1 "$(grep -c '….*_that$' narrow)"
narrow 200 comm,dso,sym wide
same "... have all of a name" 1 "$(grep -c ' a_function_whose_name_has_a_very_long_beginning_and_ends_in_this$' wide)"
kill "$pid"
wait "$pid" 2>/dev/null

"$directory/nameless" 3600000 &
pid=$!
narrow 36 sym narrow
cat narrow
starts=$(for f in this that; do nm "$directory/plain" | sed -n "s/^0*\([0-9a-f]*\) T a_function.*_$f$/\1/p"; done)
for start in $starts; do
	same "the end of the unnamed function at $start" 1 "$(grep -c "+0x$start]$" narrow)"
done
kill "$pid"
wait "$pid" 2>/dev/null

record -q -e cpu-clock -F 499 -o hot.data "$directory/$program" 500
for function in "$name" a_function_whose_name_has_a_very_long_beginning_and_ends_in_this; do
	NO_COLOR=1 "$SEAM" annotate -i hot.data "$function" >text 2>err || fail "annotate: $(cat err)"
	shown "annotate's listing" text "$(printf '\t')"
	atleast "... has the source's line" 1 "$(grep -c 'HOT' text)"
done
atleast "... with what it holds" 1 "$(grep 'HOT' text | grep -cF '\x1b]0;owned\x07\u009b31m\u202edesrever\xff\x08')"
NO_COLOR=1 "$SEAM" report -i hot.data -s comm,dso,sym,srcline >text 2>err
shown "report by line" text
done_testing
