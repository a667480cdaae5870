#!/bin/sh
# SPDX-License-Identifier: MIT
# A file whose stacks were walked by BPF, some at once and some deferred: every command reads it, perf 7 reads and merges it, and what
# seam convert makes of it is read by the perf of this machine. The stacks are the same, frame by frame.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
command -v python3 >/dev/null || skip "python3 is needed to compare"
${CC:-cc} -O2 -fomit-frame-pointer -D_GNU_SOURCE -o work "$HERE/bpf/work.c" -pthread || skip "no compiler"
peer=$HERE/../../scripts/peer
peer_root=${SEAM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/seam-tests}/peer/root

# The stacks of the scene 'pages' are deferred, those of the shell's loop are not.
record -F 997 -e cpu-clock -o f.data -- sh -c "./work pages 1; $BUSY"
same "status" 0 $status
n=$(samples f.data)
atleast "samples" 200 "$n"
atleast "deferred stacks" 50 "$(count f.data CALLCHAIN_DEFERRED)"

echo "# our own commands"
"$SEAM" report --json f.data >f.json 2>f.err; same "report" 0 $?
states() { python3 -c 'import json, sys; j = json.load(open("f.json")); print(j["states"].get(sys.argv[1], 0))' "$1"; }
atleast "stitched" 50 "$(states stitched)"
atleast "immediate" 50 "$(states immediate)"
"$SEAM" script --symfs /nonexistent --ns -F pid,tid,time,ip -i f.data >seam.txt 2>/dev/null; same "script" 0 $?
"$SEAM" evlist f.data >/dev/null 2>&1; same "evlist" 0 $?
"$SEAM" stat f.data >/dev/null 2>&1; same "stat" 0 $?
for form in folded json pprof callgrind; do
	"$SEAM" export -f $form f.data -o f.$form 2>f.err || fail "export -f $form: $(cat f.err)"
done
weight=$(awk '{ n += $NF } END { printf "%.0f", n }' f.folded)
atleast "weight in folded" 1 "$weight"
"$SEAM" convert -q f.data -o f.classic; same "convert" 0 $?
same "samples converted" "$n" "$(samples f.classic)"
"$SEAM" export -f folded f.classic -o c.folded 2>f.err
same "weight in folded after convert" "$weight" "$(awk '{ n += $NF } END { printf "%.0f", n }' c.folded)"
"$SEAM" script --symfs /nonexistent --ns -F pid,tid,time,ip -i f.classic >classic.txt 2>/dev/null
cmp -s seam.txt classic.txt && echo "ok: the same stacks after convert" || fail "convert changed stacks"

# compared WHAT SEAM_TEXT PERF_OUT ERR [OPTION...]: stacks word by word
compared() {
	if (what=$2 peer=$3; shift 4; python3 "$HERE/convert_stacks.py" "$@" "$what" "$peer") >said 2>&1; then echo "ok: $1: $(cat said)"; else fail "$1: $(cat said)"; fi
	if grep -iE 'error|fail|incompatible|unexpected|unknown|invalid' "$4"; then fail "$1: perf complains"; fi
}

if command -v perf >/dev/null 2>&1; then
	echo "# the perf of this machine, after convert"
	perf script -D -i f.classic >perf.txt 2>perf.err </dev/null
	compared "perf, raw" seam.txt perf.txt perf.err
fi

[ -d "$peer_root" ] || { [ "$failures" -gt 0 ] || skip "no perf 7 (scripts/peer); the rest is ok"; done_testing; }
echo "# perf 7 reads the file and merges the halves"
"$peer" perf report --stats -i "$T/f.data" >stats 2>perf.err
same "it counts the samples" "$n" "$(awk '$1 == "SAMPLE" && !s { s = $3 } END { print s + 0 }' stats)"
same "it counts the deferred stacks" "$(count f.data CALLCHAIN_DEFERRED)" \
	"$(awk '$1 == "CALLCHAIN_DEFERRED" { s = $3 } END { print s + 0 }' stats)"
"$peer" perf script --ns -F pid,tid,time,ip --no-inline --max-stack 2000 -i "$T/f.data" >peer.txt 2>perf.err
"$SEAM" dump f.data >f.dump 2>f.err
compared "perf 7" seam.txt peer.txt perf.err --text --dump f.dump
"$peer" perf report --stdio --no-children -g none -i "$T/f.data" >peer.report 2>perf.err
grep -qw spin peer.report && echo "ok: perf 7 report names its functions" || fail "perf 7 report: $(head -3 perf.err)"
done_testing
