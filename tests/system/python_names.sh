#!/bin/sh
# SPDX-License-Identifier: MIT
# What users see of CPython's functions: other tools after seam convert, another machine after seam archive, a recording whose
# recorder was killed, every export, names that are made to do harm.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
peer=$HERE/../../scripts/peer
check="python3 $HERE/python/names_check.py"

cat >shop.py <<'END'
import time

class Shop:
    def serve(self, end):
        while time.process_time() < end:
            self.count(2000)

    def count(self, n):
        v = 0
        for i in range(n):
            v += i * i
        return v

def main():
    Shop().serve(time.process_time() + 0.6)

main()
END
record --python -F 997 -e cpu-clock -o f.data -- python3 shop.py
same "status" 0 $status
"$SEAM" script -F ip,sym,srcline -i f.data >seam.txt 2>/dev/null
grep -q 'py::Shop.count' seam.txt || skip "python3 is no CPython that is known here"

"$SEAM" script -F ip,sym,symoff -i f.data >symoff.txt 2>/dev/null
same "offsets behind functions that have no code" 0 "$(grep -cE 'py::.*\+0x' symoff.txt)"
atleast "offsets behind others" 1 "$(grep -c '+0x' symoff.txt)"

echo "# other tools after seam convert"
"$SEAM" convert f.data -o classic.data 2>err; same "convert" 0 $?
says err "names of [0-9]* functions are in $T/classic.data.names"
same "names as the kernel's" 0 "$("$SEAM" dump classic.data | grep -c 'KSYMBOL.*py::')"
"$SEAM" convert -q --native f.data -o native.data
n=$("$SEAM" report -i f.data --json --no-children -s sym 2>/dev/null | $check seam "$T/shop.py")
[ -n "$n" ] || fail "no samples of Shop.count"

# A perf, by the words that run it: its report, its script, and lines.
perfs() {
	"$@" report -i classic.data --stdio --no-children -g none -s dso,sym 2>perf.err </dev/null >perf.txt
	same "perf's share of Shop.count in [python] is seam's" "$n" \
		"$(awk -v f="py::Shop.count:$T/shop.py" '$NF == f && $2 == "[python]" { print $1 }' perf.txt)"
	# perf 6.1 writes to an addr2line that has ended where a sample lies in a BPF program: SIGPIPE would end perf, too.
	(trap '' PIPE && exec "$@" script -F ip,sym,srcline -i classic.data) 2>>perf.err </dev/null >perf.txt
	if $check chains "$T/shop.py" <perf.txt; then echo "ok: chains and lines"; else fail "perf script"; fi
	"$@" script -F ip,sym -i native.data 2>>perf.err </dev/null >perf.txt
	atleast "loops with --native" 1 "$(grep -A1 'py::<module>:' perf.txt | grep -c _PyEval_EvalFrameDefault)"
	XDG_CACHE_HOME=$T "$SEAM" convert -q f.data 2>/dev/null | "$@" script -F ip,sym -i - 2>>perf.err >perf.txt
	atleast "names in a stream" 1 "$(grep -c "py::Shop.count:$T/shop.py" perf.txt)"
	if grep -iE 'error|fail|incompatible|unexpected|invalid' perf.err; then fail "perf complains"; fi
}
if perf --version 2>/dev/null; then perfs perf; fi
if "$peer" --have perf >/dev/null 2>&1; then echo "# perf 7"; perfs "$peer" perf; fi
if "$peer" --have perfparser >/dev/null 2>&1; then
	echo "# hotspot"
	"$peer" perfparser --input classic.data --output parsed >parsed.log 2>&1 </dev/null
	# perfparser 1.6.0 leaves one function of the file without a name in some recordings, which and why is not known: perf and
	# samply name all of them.
	for name in Shop.count Shop.serve main '<module>'; do
		LC_ALL=C grep -aoF "py::$name:$T/shop.py" parsed
	done | sort -u >names
	atleast "names of 4 in perfparser's output" 3 "$(grep -c . names)"
fi
if "$peer" --have samply >/dev/null 2>&1; then
	echo "# samply"
	"$peer" samply import --save-only -o samply.json classic.data >samply.log 2>&1 </dev/null
	if $check samply "$T/shop.py" "$peer" samply.json; then echo "ok: names and lines of its server"; else fail "samply"; fi
fi
echo "# seam itself"
"$SEAM" script -F ip,sym,srcline -i classic.data >again.txt 2>/dev/null
if $check chains "$T/shop.py" <again.txt; then echo "ok: chains and lines"; else fail "seam of the converted file"; fi

echo "# the names of streams are kept for a time, and not without bound"
kept=$T/kept/seam/names
names_of() { # ID DAYS MIB: what another stream left
	mkdir -p "$kept/$1" && truncate -s "$3M" "$kept/$1/[python]" && touch -d "$2 days ago" "$kept/$1/[python]"
}
id=0123456789abcdef0123456789abcdef0123456
mkdir -p "$kept"
names_of ${id}1 31 1
names_of ${id}2 29 20
names_of ${id}3 3 60
names_of ${id}4 2 3
names_of other 99 1
names_of ${id}5 0 100
ln -s ../../../outside "$kept/${id}6"
mkdir outside && cp "$kept/${id}1/[python]" outside && touch -d "99 days ago" 'outside/[python]'
XDG_CACHE_HOME=$T/kept "$SEAM" convert -q f.data 2>err | cat >/dev/null
made=$(find "$kept" -mindepth 2 -newer f.data -name '[[]python]' ! -path "*$id*" | wc -l)
same "the stream's own" 1 "$made"
same "what is left of others" "${id}5 ${id}6 other" "$(cd "$kept" && find . -mindepth 1 -maxdepth 1 -name '*[0-9r]' | sed 's|./||' | grep -E "^($id|other)" | sort | tr '\n' ' ' | sed 's/ $//')"
same "behind a link" 1 "$(find outside -name '[[]python]' | wc -l)"
rm -rf "$kept"
names_of ${id}3 3 50
names_of ${id}4 2 3
XDG_CACHE_HOME=$T/kept "$SEAM" convert -q f.data 2>err | cat >/dev/null
same "what has room" 2 "$(find "$kept" -maxdepth 1 -name "$id*" | wc -l)"

echo "# source with samples per line"
"$SEAM" annotate -i f.data Shop.count >annotate.txt 2>&1; same "annotate by a short name" 0 $?
says annotate.txt "^py::Shop.count:$T/shop.py in \[python\]"
says annotate.txt "^ *[0-9.]* *: *8 *def count(self, n):$" # a sample may be in it
says annotate.txt "^ *[0-9.]* : *11 *v += i \* i$"
"$SEAM" annotate -i f.data --json "py::Shop.count:$T/shop.py" | $check annotate "$T/shop.py" && echo "ok: its JSON" || fail "JSON"

echo "# the interpreter's own loop, with what hit it"
"$SEAM" annotate --native -i f.data --json _PyEval_EvalFrameDefault >loop.json 2>err; same "annotate --native" 0 $?
atleast "samples at its instructions" 100 "$($check loop <loop.json)"
"$SEAM" annotate --native -i f.data >loop.txt 2>&1
same "functions of Python in it" 0 "$(grep -c 'py::' loop.txt)"

echo "# every export has names, files and lines"
for format in folded pprof firefox speedscope callgrind json perfetto; do
	"$SEAM" export -f $format -i f.data -o e.$format 2>err || fail "$format: $(cat err)"
	[ $format = pprof ] && gzip -dc e.pprof >e.plain && mv e.plain e.pprof
	atleast "Shop.count in $format" 1 "$(grep -acF "py::Shop.count:$T/shop.py" e.$format)"
done
"$SEAM" export -f folded --native -i f.data -o native.folded 2>err
atleast "loops with --native" 1 "$(grep -c '_PyEval_EvalFrameDefault;py::' native.folded)"
$check exports "$T/shop.py" e.firefox e.callgrind && echo "ok: categories, lines" || fail "exports"
"$SEAM" flame -i f.data -o f.svg 2>err
says f.svg "<title>py::Shop.count:$T/shop.py (\[python\]).*hsl(95,45%"
"$SEAM" flame -i f.data -o f.html 2>err
$check page <f.html && echo "ok: the page's colours" || fail "the page's colours"
for command in report script flame export diff top annotate convert; do
	"$SEAM" $command --help >help 2>&1
	says help "--native "
done

echo "# on another machine"
"$SEAM" archive f.data -o f.seam --sources 2>err; same "archive" 0 $?
mv shop.py away.py
"$SEAM" report -i f.data --archive f.seam --no-children -s sym,srcline >there.txt 2>err
says there.txt "py::Shop.count:$T/shop.py *shop.py:1[01]"
"$SEAM" annotate -i f.data --archive f.seam Shop.count >annotate.txt 2>&1
says annotate.txt "^ *[0-9.]* : *11 *v += i \* i$"
mv away.py shop.py

echo "# what would help where they are not named"
record --no-python -F 997 -e cpu-clock -o n.data -- python3 shop.py
"$SEAM" report -i n.data >n.txt 2>&1
says n.txt 'of the samples ran Python, whose functions are not named'
says n.txt 'python3 -X perf'
"$SEAM" report --native -i f.data >n.txt 2>&1
same "said where they are named" 0 "$(grep -c 'ran Python' n.txt)"

echo "# ways without them say so, and top and the agent have them"
for mode in fp dwarf fp,defer; do
	record --call-graph $mode -o m.data -- true
	says err "user stacks: .*; no functions of Python, .*-X perf"
done
record --no-python -o m.data -- true
same "not wanted, not said" 0 "$(grep -c 'functions of Python' err)"
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --clear-groups "$SEAM" record -o /dev/null -- true 2>err; then
	says err "no functions of Python, .*-X perf or PYTHONPERFSUPPORT=1 .*root, or CAP_BPF"
fi
cat >serve.py <<'END'
def inner():
    v = 0
    for i in range(5000):
        v += i
    return v
def outer():
    while True:
        inner()
outer()
END
python3 serve.py &
server=$!
timeout 300 "$SEAM" top --stdio -d 1 -n 3 -p $server --children -s sym >top.txt 2>err
says top.txt "py::outer:$T/serve.py"
says top.txt "py::inner:$T/serve.py"
if ! "$SEAM" store ls --store sqlite:none 2>&1 | grep -q "has no SQLite"; then
	"$SEAM" agent --store sqlite:a.db --freq 199 --window 1s 2>agent.err &
	agent=$!
	stored() { "$SEAM" report --store sqlite:a.db --children -s dso,sym 2>/dev/null | grep -q "\[python\].*py::inner:$T/serve.py"; }
	until_true "the agent's store has its function" stored
	kill -TERM $agent
	wait $agent
fi
kill $server
wait $server 2>/dev/null

echo "# a recorder that was killed"
"$SEAM" record --python -F 997 -e cpu-clock -o k.data -- python3 -c '
import os, time
def killed():
    v = 0
    while time.process_time() < 60:
        v += 1
open("pid", "w").write(str(os.getpid()))
killed()' 2>err &
recorder=$!
named() { "$SEAM" script -F ip,sym -i k.data 2>/dev/null | grep -q 'py::killed:<string>'; }
until_true "a sample of it is in the file" named
kill -9 $recorder
wait $recorder 2>/dev/null
kill "$(cat pid)" 2>/dev/null
"$SEAM" script -F ip,sym -i k.data >k.txt 2>err
same "functions without a name" 0 "$(grep -E '^\s+1000000[0-9a-f]{8} ' k.txt | grep -vc ' py::')"

echo "# names that are made to do harm"
cat >bad.py <<'END'
import time
def f(end):
    things = (None,) * 1000
    while time.process_time() < end:
        for thing in things: # most is the loop's own work: the function is the hottest
            a = thing; b = a; c = b; a = c; b = a; c = b
name = 'a;b\x1b[31m<script>alert(1)</script>\n"&'
f.__code__ = f.__code__.replace(co_name=name, co_qualname=name, co_filename='/tmp/x;y\x1b[2J\n<b>".py')
f(time.process_time() + 0.3)
END
record --python -F 997 -e cpu-clock -o h.data -- python3 bad.py
"$SEAM" convert -q h.data -o hc.data
for format in folded firefox speedscope callgrind json; do "$SEAM" export -f $format -i h.data -o h.$format 2>err; done
"$SEAM" report -i h.data >h.report 2>err
"$SEAM" script -F ip,sym,srcline -i h.data >h.script 2>err
"$SEAM" annotate -i h.data >h.annotate 2>err
"$SEAM" flame -i h.data -o h.svg 2>err
for file in h.report h.script h.annotate h.svg h.folded h.callgrind h.firefox h.speedscope h.json 'hc.data.names/[python]'; do
	same "escapes as they are in $file" 0 "$(grep -ac "$(printf '\033')\[31m" "$file")"
	n=$(grep -acE 'a.?b.*31m(<|&lt;|\\u003c)script' "$file")
	atleast "the name in $file" 1 "$n"
	[ "$n" -gt 0 ] || head -n 20 "$file"
done
same "markup in the picture" 0 "$(grep -c '<script>alert' h.svg)"
same "lines of folded that are none" 0 "$(grep -vc ' [0-9][0-9]*$' h.folded)"
same "frames that ';' makes of the name" 0 "$(grep -c ';b.x1b' h.folded)"
done_testing
