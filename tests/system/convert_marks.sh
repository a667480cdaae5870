#!/bin/sh
# SPDX-License-Identifier: MIT
# seam convert of a recording with stack copies: how each was unwound is in the converted file, where seam says the same of it
# as of the original, and other readers do not mind.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
can_record
[ "$(uname -m)" = x86_64 ] || skip "the scenes are written for x86_64"
command -v python3 >/dev/null || skip "python3 reads the reports"
CC=
for cc in cc gcc clang; do command -v $cc >/dev/null && CC=$cc && break; done
[ "$CC" ] || skip "no C compiler for the scenes"

flags="-O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls"
$CC $flags -rdynamic -o scenes "$here/live/scenes.c" -ldl -lpthread || skip "the scenes cannot be built"
$CC $flags -shared -fPIC -DINNER=inner_a -DWORDS=4 -o plug_a.so "$here/live/plug.c" &&
	$CC $flags -shared -fPIC -DINNER=inner_b -DWORDS=40 -o plug_b.so "$here/live/plug.c" ||
	skip "the objects cannot be built"

# same_account NAME: what report says of NAME.data and of NAME.classic, which comes of it
same_account() {
	"$SEAM" convert -q "$1.data" -o "$1.classic" 2>err
	same "$1: exit status" 0 $?
	"$SEAM" report --json "$1.data" >"$1.json" 2>/dev/null
	"$SEAM" report --json "$1.classic" >"$1.classic.json" 2>/dev/null
	if python3 - "$1.json" "$1.classic.json" <<'PY'
import json, sys
was, now = (json.load(open(p)) for p in sys.argv[1:])
ends = "complete truncated no_unwind_info bad_rule bad_memory below_sp other_stack no_progress limit".split()
a, b = was["unwound"], now["unwound_recording"]
print({e: b[e] for e in ends if b[e]}, "of", b["samples"])
wrong = [e for e in ends + ["guessed_samples"] if a[e] != b[e]]
if b["samples"] != now["samples"] or now["samples"] != was["samples"] or b["not_said"]:
    wrong += ["samples"]
if b["no_stack"] != was["states"]["kernel_only"] or a["not_unwound"] != b["no_registers"]:
    wrong += ["without a stack"]
def missing(r):
    m = {}
    for x in r["unwound"]["missing"]:
        m[x["object"]] = m.get(x["object"], 0) + x["samples"]
    return m
if missing(was) != missing(now):
    wrong += ["missing: %s, %s" % (missing(was), missing(now))]
# Where no walk was cut off, the kind of the cut is not asked for.
if b["complete"] != b["samples"] - b["no_stack"] and not any(b[e] for e in ends[1:]):
    wrong += ["no end is said"]
for w in wrong:
    print("differs:", w)
sys.exit(bool(wrong))
PY
	then echo "ok: $1: the same account"; else fail "$1: another account of the converted file"; fi
	"$SEAM" script -F pid,tid,time,state -i "$1.data" 2>/dev/null | sed 's/stack_copy//' >was
	"$SEAM" script -F pid,tid,time,state -i "$1.classic" 2>/dev/null | sed 's/immediate//; s,kernel_only/no_stack,kernel_only,' >now
	if [ -s was ] && cmp was now; then echo "ok: $1: the same end of each sample"; else fail "$1: ends differ"; fi
}

# not_shown NAME WHO PERF...: perf's text of NAME.classic is the same with and without the marks
not_shown() {
	name=$1 who=$2
	shift 2
	for f in classic plain; do
		cp "$name.$f" seen.data
		"$@" script -F +misc -i seen.data >$f.perf 2>$f.perferr </dev/null
		"$@" report --stdio -i seen.data 2>>$f.perferr </dev/null | grep -v '(Tip: ' >>$f.perf
	done
	atleast "$who: lines" 100 "$(wc -l <classic.perf)"
	if cmp classic.perf plain.perf && cmp classic.perferr plain.perferr; then
		echo "ok: the same to $who"
	else
		fail "$who shows the marks"
	fi
}

echo "# copies that are long enough, and such that are not"
record --call-graph dwarf,16384 --keep-stacks -F 1000 -o whole.data -- ./scenes 1000
same "status" 0 $status
same_account whole
record --call-graph dwarf,512 --keep-stacks -F 1000 -o short.data -- ./scenes 1000
same "status" 0 $status
same_account short
"$SEAM" stat short.classic >stat
says stat "stacks unwound from copies of 512 bytes, which were not kept: "
says stat "cut off: the stack copy ended ([0-9]* needed up to"
"$SEAM" report short.classic >report 2>/dev/null
says report "stacks unwound from copies of 512 bytes, which were not kept: "

echo "# other readers, and a second conversion"
python3 "$here/live/unmark.py" short.classic short.plain
same "marks" 0 $?
command -v perf >/dev/null && not_shown short "$(perf --version)" perf
peer=$here/../../scripts/peer
if [ -d "${XDG_CACHE_HOME:-$HOME/.cache}/seam-tests" ] && version=$("$peer" perf --version 2>/dev/null); then
	not_shown short "$version" "$peer" perf
else
	echo "no newer perf as a peer"
fi
"$SEAM" convert -q short.classic -o short.twice
"$SEAM" stat short.twice | grep 'unwound from' >twice
grep 'unwound from' stat | cmp - twice || fail "a second conversion loses the marks"
"$SEAM" convert -q --keep-raw short.data -o short.raw
same "copies that stay have no marks" 0 "$("$SEAM" stat short.raw | grep -c 'unwound from')"
done_testing
