# SPDX-License-Identifier: MIT
# lib.sh: what the system tests share. Read with ". lib.sh"; gives $T (a scratch directory that is
# removed at the end), skip, fail, same, record, samples, judge.
set -u
: "${SEAM:?SEAM is the program to test}"
T=$(mktemp -d)
trap 'cd /; rm -rf "$T"' EXIT
cd "$T" || exit 1
SEAM_CONFIG=
export SEAM_CONFIG
failures=0

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# same WHAT EXPECTED GOT
same() { if [ "$2" = "$3" ]; then echo "ok: $1 ($3)"; else fail "$1: expected $2, got $3"; fi; }
# atleast WHAT LEAST GOT
atleast() { if [ "$3" -ge "$2" ]; then echo "ok: $1 ($3)"; else fail "$1: at least $2, got $3"; fi; }
atmost() { if [ "$3" -le "$2" ]; then echo "ok: $1 ($3)"; else fail "$1: at most $2, got $3"; fi; }
# says FILE TEXT
says() { if grep -q -- "$2" "$1"; then echo "ok: says '$2'"; else fail "no '$2' in: $(cat "$1")"; fi; }
done_testing() { [ "$failures" -eq 0 ] || { echo "$failures failures"; exit 1; }; exit 0; }

# Burns CPU in one process for a bounded amount of work.
BUSY='i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'

# seam record, its stderr in $T/err, its status in $status
record() { "$SEAM" record "$@" 2>err; status=$?; }

can_record() {
	"$SEAM" record -q -o probe.data -- true 2>probe.err || skip "cannot record here: $(cat probe.err)"
	rm -f probe.data
}

# BPF programs walk user stacks here, or the test is left out.
needs_bpf() {
	"$SEAM" record --call-graph dwarf,defer -o probe.data -- true 2>probe.err || skip "$(cat probe.err)"
	if grep 'not walked in the kernel by BPF' probe.err >why; then skip "$(cat why)"; fi
	rm -f probe.data probe.err
}

# Records of a type in a file: count FILE SAMPLE
count() { "$SEAM" dump "$1" 2>/dev/null | grep -c "PERF_RECORD_$2\\b"; }
samples() { count "$1" SAMPLE; }

# defers FILE: it has stacks that were deferred, or might.
defers() { "$SEAM" evlist -v "$1" 2>/dev/null | grep -q defer; }
# for_perf FILE: the file that the perf of this machine reads: FILE, or its classic form when perf does not know deferral.
for_perf() {
	if defers "$1" && ! perf --version | grep -qE ' (6\.19|[7-9])'; then
		"$SEAM" convert -q "$1" -o "$T/${1##*/}.classic" 2>convert.err || cat convert.err >&2
		echo "$T/${1##*/}.classic"
	else
		echo "$1"
	fi
}

# perf as an outside judge, where it is installed: it must read without complaint and count the samples that we count. One
# that does not know deferral is given what seam convert makes of the file.
judge() {
	command -v perf >/dev/null 2>&1 || { echo "no judge: perf is not installed"; return 0; }
	judged=$(for_perf "$1")
	perf report --stats -i "$judged" >judge.out 2>judge.err </dev/null
	if grep -iE 'error|fail|incompatible|warning|unexpected' judge.err judge.out; then
		fail "perf complains about $1"
	fi
	same "perf counts the samples of $1" "$(samples "$1")" \
		"$(awk '$1 == "SAMPLE" && !n { n = $3 } END { print n + 0 }' judge.out)"
	perf script -i "$judged" >script.out 2>judge.err </dev/null
	if grep -iE 'error|fail|incompatible|unexpected' judge.err; then
		fail "perf script complains about $1"
	fi
}
