# SPDX-License-Identifier: MIT
# export.sh: exported profiles opened by the tools that they are for, as far as they are installed:
# callgrind_annotate (Debian: valgrind) and pprof (Go's own, or built from golang-github-google-pprof-dev). The
# Firefox Profiler is in firefox.sh, speedscope in speedscope.sh.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
data=$here/../data/gcc_d/perf.data
tried=0

"$SEAM" export -f json --symfs /nonexistent "$data" -o json || fail "json"
samples=$(grep -o '"samples":[0-9]*' json | awk -F: '{ n += $2 } END { print n }')
weight=$(grep -o '"weight":[0-9]*' json | awk -F: '{ n += $2 } END { printf "%.0f", n }')
same "samples in json" "$(samples "$data")" "$samples"
"$SEAM" export -f folded --symfs /nonexistent "$data" -o folded || fail "folded"
same "weight in folded" "$weight" "$(awk '{ n += $NF } END { printf "%.0f", n }' folded)"
same "stacks stand in folded once" 0 "$(sed 's/ [0-9]*$//' folded | sort | uniq -d | wc -l)"

"$SEAM" export -f speedscope --symfs /nonexistent "$data" -o speedscope.json || fail "speedscope"
same "speedscope: all threads first, the heaviest thread open, then by weight" "all threads $weight cc1 True True" \
	"$(python3 - speedscope.json <<'P'
import json, sys
f = json.load(open(sys.argv[1]))
p, at = f["profiles"], f["activeProfileIndex"]
weights = [sum(x["weights"]) for x in p]
print(p[0]["name"], weights[0], p[at]["name"].split()[0], weights[at] == max(weights[1:]),
      weights[1:] == sorted(weights[1:], reverse=True) and sum(weights[1:]) == weights[0])
P
)"

if command -v callgrind_annotate >/dev/null 2>&1; then
	tried=$((tried + 1))
	"$SEAM" export -f callgrind "$data" -o callgrind || fail "callgrind"
	callgrind_annotate callgrind >annotated 2>callgrind.err || fail "callgrind_annotate"
	same "callgrind_annotate says nothing wrong" "" "$(cat callgrind.err)"
	same "weight in callgrind_annotate" "$weight" \
		"$(awk '/PROGRAM TOTALS/ { gsub(",", "", $1); print $1 }' annotated)"
fi

source=/usr/share/gocode/src/github.com/google/pprof
if command -v go >/dev/null 2>&1 && [ -d $source ]; then
	GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$T/go go build -o "$T/pprof" \
		github.com/google/pprof >go.err 2>&1 || rm -f "$T/pprof"
fi
go_pprof=$T/pprof
if [ ! -x "$T/pprof" ] && command -v go >/dev/null 2>&1 && GOCACHE=$T/go go tool -n pprof >/dev/null 2>&1; then
	go_pprof="go tool pprof"
fi
if [ "$go_pprof" != "$T/pprof" ] || [ -x "$T/pprof" ]; then
	tried=$((tried + 1))
	"$SEAM" export -f pprof "$data" -o pprof.pb.gz || fail "pprof"
	$go_pprof -symbolize=none -top -unit=ns -nodecount=5 pprof.pb.gz >top 2>top.err ||
		fail "pprof: $(cat top.err)"
	same "weight in pprof" "${weight}ns" "$(sed -n 's/.* of \([0-9]*ns\) total.*/\1/p' top)"
	$go_pprof -symbolize=none -raw pprof.pb.gz >raw 2>/dev/null
	same "mappings without a build-id, but for [vdso]" 0 \
		"$(sed -n '/^Mappings/,$p' raw | awk 'NR > 1 && NF && $2 ~ /^0x/ && NF < 4 && $3 !~ /^\[/' | wc -l)"
	same "the program gives the profile its name" "File: cc1" "$(grep ^File: top)"
	same "what a sample stands for" "cpu-clock nanoseconds 500000" \
		"$(awk '/^PeriodType:/ { t = $2 " " $3 } /^Period:/ { print t, $2 }' raw)"
	same "how long it was recorded" "Duration: 4.55" "$(grep ^Duration: raw)"
	same "mappings that hold the code, not all addresses" "0" \
		"$(sed -n '/^Mappings/,$p' raw | grep -c 0xffffffffffffffff)"
	same "locations outside of their mapping" 0 "$(awk '
		/^Locations/ { at = 1; next }
		/^Mappings/ { at = 2; next }
		at == 1 && $3 ~ /^M=/ { place[++n] = $2 " " substr($3, 3) }
		at == 2 && NF > 1 { split($2, r, "/"); id = $1; sub(":", "", id); lo[id] = r[1]; hi[id] = r[2] }
		function wide(x) { x = substr(x, 3); while (length(x) < 16) x = "0" x; return x }
		END { for (i = 1; i <= n; i++) { split(place[i], p, " ")
			if (wide(p[1]) < wide(lo[p[2]]) || wide(p[1]) > wide(hi[p[2]])) bad++ }
			print n ? bad + 0 : "no location" }' raw)"

	# The names of another build's addresses are pprof's own: its sum of range, offset and program headers must be right.
	cat >named.c <<'C'
#include "work.h"
volatile unsigned sum;
__attribute__((noinline)) void spin_here(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i;
}
int main(void)
{
	for (uint64_t end = work_until(400); work_goes_on(end);)
		spin_here(work_loops(100000));
	return 0;
}
C
	for how in -pie -no-pie; do
		cc -g -O1 $how -I"$here" -o named named.c || fail "cc $how"
		"$SEAM" record -F 199 -o named.data ./named >/dev/null 2>rec.err || fail "record: $(cat rec.err)"
		"$SEAM" export -f pprof --symfs /nonexistent named.data -o named.pb.gz 2>named.err || fail "pprof $how"
		$go_pprof -symbolize=force -top named.pb.gz >named.top 2>/dev/null
		same "program of $how" "File: named" "$(grep ^File: named.top)"
		same "pprof's own names, $how" 1 "$(grep -cw spin_here named.top)"
		$go_pprof -symbolize=none -raw named.pb.gz | grep -q "^Time: 20" || fail "no time of a recording"
	done
fi
[ $failures -gt 0 ] || [ $tried -gt 0 ] || skip "neither callgrind_annotate nor pprof is installed"
done_testing
