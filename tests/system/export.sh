# SPDX-License-Identifier: MIT
# export.sh: exported profiles opened by the tools that they are for, as far as they are installed:
# callgrind_annotate (Debian: valgrind) and pprof (built from golang-github-google-pprof-dev). The
# others are in scripts/peer-export.
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
if [ -x "$T/pprof" ]; then
	tried=$((tried + 1))
	"$SEAM" export -f pprof "$data" -o pprof.pb.gz || fail "pprof"
	"$T/pprof" -symbolize=none -top -unit=ns -nodecount=5 pprof.pb.gz >top 2>top.err ||
		fail "pprof: $(cat top.err)"
	same "weight in pprof" "${weight}ns" "$(sed -n 's/.* of \([0-9]*ns\) total.*/\1/p' top)"
	"$T/pprof" -symbolize=none -raw pprof.pb.gz >raw 2>/dev/null
	same "mappings without a build-id, but for [vdso]" 0 \
		"$(sed -n '/^Mappings/,$p' raw | awk 'NR > 1 && NF && $2 ~ /^0x/ && NF < 4 && $3 !~ /^\[/' | wc -l)"
fi
[ $failures -gt 0 ] || [ $tried -gt 0 ] || skip "neither callgrind_annotate nor pprof is installed"
done_testing
