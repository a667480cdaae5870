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
	"$@" script -F ip,sym,srcline -i classic.data 2>>perf.err </dev/null >perf.txt
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
	for name in Shop.count Shop.serve main '<module>'; do
		same "py::$name in perfparser's output" 1 "$(grep -aoF "py::$name:$T/shop.py" parsed | sort -u | grep -c .)"
	done
fi
if "$peer" --have samply >/dev/null 2>&1; then
	echo "# samply"
	"$peer" samply import --save-only -o samply.json classic.data >samply.log 2>&1 </dev/null
	if $check samply "$T/shop.py" "$peer" samply.json; then echo "ok: names and lines of its server"; else fail "samply"; fi
fi
echo "# seam itself"
"$SEAM" script -F ip,sym,srcline -i classic.data >again.txt 2>/dev/null
if $check chains "$T/shop.py" <again.txt; then echo "ok: chains and lines"; else fail "seam of the converted file"; fi
done_testing
