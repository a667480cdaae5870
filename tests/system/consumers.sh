# SPDX-License-Identifier: MIT
# consumers.sh: flamegraph.pl, callgrind_annotate and Go's pprof (table, graph, source) show the functions of a C++ and of a Python program
# with seam's own self and total (consumers.py). Each that is not here is left out.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
can_record
tools=
"$here/../../scripts/peer" flamegraph.pl --help >/dev/null 2>peer.err
grep -q USAGE peer.err && tools=flamegraph || echo "no flamegraph.pl: $(tail -n 1 peer.err)"
command -v callgrind_annotate >/dev/null 2>&1 && tools="$tools annotate"
GOCACHE=$T/go
export GOCACHE
command -v go >/dev/null 2>&1 && [ "${tools#flamegraph}" != "$tools" ] && go tool -n pprof >/dev/null 2>&1 && tools="$tools pprof"
[ -n "$tools" ] || skip "none of them is here"

# Its source is here, by a path that is the same wherever this is: it stands in the pictures.
cp "$here/consumers.cc" .
c++ -g -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-ipa-icf -pthread -ffile-prefix-map="$T=." -I"$here" -o rows consumers.cc 2>cc.err ||
	fail "c++: $(cat cc.err)"
record -F 499 -o rows.data ./rows 300
[ $status -eq 0 ] || fail "record: $(cat err)"
cat >count.py <<'P'
import time
def spell(n):
    return n if n < 2 else spell(n - 1) + spell(n - 2)
def count_words():
    end = time.process_time() + 0.5
    while time.process_time() < end:
        spell(12)
count_words()
P
record -F 499 -o python.data python3 count.py
[ $status -eq 0 ] || fail "record: $(cat err)"
# shellcheck disable=SC2086 # a word each
for data in rows.data python.data; do
	echo "-- $data"
	python3 "$here/consumers.py" "$SEAM" $data $tools || fail "$data"
	SEAM_PICTURES= # of the first
done
done_testing
