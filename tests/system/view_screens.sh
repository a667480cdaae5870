# SPDX-License-Identifier: MIT
# Whole screens of the view, of a recording that is made up and thus always the same: names that are wide, long or hostile, three sizes,
# changes of size while panes are open, kinds of colours, a store, two recordings. The screens are in view/screens.txt; VIEW_BLESS=1
# writes those that came out: read them.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"

command -v tmux >/dev/null || skip "no tmux"
LC_ALL=C.UTF-8
export LC_ALL
python3 "$HERE/../golden/made" screens >made.data
python3 "$HERE/../golden/made" screens_new >new.data
tmux() { command tmux -S "$PWD/socket" -f /dev/null "$@"; }
trap 'tmux kill-server 2>/dev/null; cd /; rm -rf "$T"' EXIT
tmux new-session -d -s base "sleep 1000" # the server stays when other sessions end
WANTED=$HERE/view/screens.txt
: >screens.txt
# open SIZE COMMAND: a terminal of "COLUMNS ROWS" that runs it, and says so when it has ended
open() {
	tmux kill-session -t s 2>/dev/null
	tmux new-session -d -s s -x "${1% *}" -y "${1#* }" "$2; echo ended \$?; sleep 1000"
}
keys() { tmux send-keys -t s "$@"; }
size() { tmux resize-window -t s -x "${1% *}" -y "${1#* }"; }
wanted() { awk -v name="== $1" '/^== / { on = $0 == name; next } on' "$WANTED"; }
as_wanted() {
	tmux capture-pane -p -t s >now.txt
	cmp -s now.txt wanted.txt
}
settled() {
	cp now.txt before.txt 2>/dev/null || : >before.txt
	sleep 0.3
	tmux capture-pane -p -t s >now.txt
	cmp -s now.txt before.txt
}
# is NAME: the whole screen is, at last, what it is to be
is() {
	if [ -n "${VIEW_BLESS-}" ]; then
		until_true "$1" settled
		cp now.txt wanted.txt
	else
		wanted "$1" >wanted.txt
		if until_true "the screen $1" as_wanted; then echo "ok: $1"; else diff wanted.txt now.txt; fi
	fi
	grep -qxF "== $1" screens.txt || { echo "== $1"; cat now.txt; } >>screens.txt
}
# Colours that are drawn, as numbers of SGR.
colours() { tmux capture-pane -e -p -t s | grep -oE "$(printf '\033')\[[0-9;]*m" | tr -cs '0-9\n' ' ' | tr ' ' '\n' | grep -E '^(3[0-8]|4[0-8]|9[0-7]|10[0-7])$' | sort -un | tr '\n' ' '; }

REPORT="'$SEAM' report --symfs /nonexistent -i made.data"
open "80 24" "$REPORT"
is "80x24 functions"
same "colours" "31 " "$(colours)"
keys 2 E
is "80x24 tree"
size "40 10"
is "40x10 tree, as its window shrank"
keys Down Enter
is "40x10 tree, a branch closed"
size "200 60"
is "200x60 tree, as its window grew"
keys 3
is "200x60 called by"
keys 1 Down Down Enter
is "200x60 callers and callees"
size "80 24"
is "80x24 callers and callees, as its window shrank"
keys Left 5
is "80x24 commands"
keys 6 Enter
is "80x24 the functions of one thread"
keys Left 7
is "80x24 time"
keys '>'
is "80x24 the other event"
keys '<' 1 / e m p
is "80x24 a filter that is typed"
keys Enter
is "80x24 a filter"
keys q
# The smallest size of everyday, plain: no colour where none is wanted, 16 at most where there are 16, names in the C locale, too.
open "40 10" "NO_COLOR=1 $REPORT"
is "40x10 functions"
same "NO_COLOR" "" "$(colours)"
keys S
keys -l sym
keys Enter
is "40x10 by symbol"
keys '?'
is "40x10 help"
keys q
open "40 10" "LC_ALL=C $REPORT"
is "40x10 functions"
keys q
open "40 10" "TERM=xterm-16color $REPORT"
is "40x10 functions"
same "of 16 colours" "31 " "$(colours)"
keys q
for term in linux screen vt100; do
	open "40 10" "TERM=$term $REPORT"
	is "40x10 functions"
	keys q
done
# A locale that is not here, as by ssh: its name says what the terminal takes. Where that is no UTF-8, columns stay what they are.
open "40 10" "LC_ALL=xx_XX.UTF-8 $REPORT"
is "40x10 functions"
keys q
open "40 10" "LC_ALL=xx_XX.ISO-8859-1 $REPORT"
is "40x10 functions without UTF-8"
keys 2 E
is "40x10 tree without UTF-8"
keys q
open "200 60" "$REPORT"
is "200x60 functions"
keys q
# So few columns have one share, and names.
open "20 8" "$REPORT"
is "20x8 functions"
keys s
is "20x8 functions by self"
keys Enter
is "20x8 callers and callees"
keys 2 E
is "20x8 tree"
keys q
# That a recording is damaged is said while it is shown, and how at the end.
head -c 9000 made.data >cut.data
open "80 10" "'$SEAM' report --symfs /nonexistent -i cut.data"
is "80x10 a recording that is cut"
keys q
is "80x10 how it is cut"
# Two recordings.
open "80 24" "'$SEAM' diff --symfs /nonexistent made.data new.data"
is "80x24 compared"
keys 2 E
is "80x24 tree of both"
size "40 10"
is "40x10 tree of both, as its window shrank"
keys q
open "80 10" "'$SEAM' diff --symfs /nonexistent made.data cut.data"
is "80x10 compared with a recording that is cut"
keys q
# A store's samples are the same screens but for the title and the code, which a store does not have.
if "$SEAM" store ls --store sqlite:no.db 2>&1 | grep -q "has no SQLite"; then
	echo "this build has no SQLite"
else
	"$SEAM" store import --symfs /nonexistent --store sqlite:made.db made.data 2>err || fail "$(cat err)"
	open "80 24" "'$SEAM' report --store sqlite:made.db"
	is "80x24 functions of a store"
	keys a
	is "80x24 a store has no code"
	keys 2 E
	is "80x24 tree of a store"
	keys q
fi
python3 - screens.txt <<'PY' || failures=$((failures + 1))
"""No row is wider than its screen, and no character is one that a terminal obeys."""
import re, sys, unicodedata
size, bad = 0, 0
for line in open(sys.argv[1], encoding="utf-8").read().split("\n"):
    if line.startswith("== "):
        size = int(re.match(r"== (\d+)x", line)[1])
        continue
    columns = sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
    if columns > size or any(unicodedata.category(c) in ("Cc", "Cf") for c in line):
        bad += 1
        print("FAILED: %d columns of %d: %r" % (columns, size, line))
sys.exit(bad > 0)
PY
[ -z "${VIEW_BLESS-}" ] || cp screens.txt "$WANTED"
done_testing
