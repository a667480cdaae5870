# SPDX-License-Identifier: MIT
# lib.sh: what the system tests share. Read with ". lib.sh"; gives $T (a scratch directory that is
# removed at the end), $TESTS (this directory), busy, $BUSY, $AWAIT, $REPEAT, until_true, skip, fail, same, record, starts_whole, samples, judge.
set -u
TESTS=$(cd "$(dirname "$0")" && pwd)
PATH=$TESTS/../bin:$PATH # Debian's Python before a version manager's, which is a script that takes a second of CPU time to find one
CPATH=$TESTS${CPATH:+:$CPATH} # programs may say #include "work.h"
CCACHE_DISABLE=1 # a compiler that is recorded works
export PATH CPATH CCACHE_DISABLE
: "${SEAM:?SEAM is the program to test}"
T=$(mktemp -d)
trap 'cd /; rm -rf "$T"' EXIT
cd "$T" || exit 1
SEAM_CONFIG=
RUNTIME_DIRECTORY=$T # the lock of seam agent: other tests may run one beside
export SEAM_CONFIG RUNTIME_DIRECTORY
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

# busy MS: a shell's own work for MS milliseconds of its CPU time (to 10 ms), whatever machine it runs on. It is text for
# sh -c; double or single quotes may stand around it. SEAM_TEST_WORK makes its rounds longer or shorter, as work.h says.
loops=$(awk -v f="${SEAM_TEST_WORK:-1}" 'BEGIN { printf "%d", f * 3000 < 1 ? 1 : f * 3000 }')
busy() {
	echo "read -r stat </proc/self/stat; set -- \${stat##*) }; end=\$((\${12}+\${13}+$1/10)); while [ \$((\${12}+\${13})) -lt \$end ]; \
do i=0; while [ \$i -lt $loops ]; do i=\$((i+1)); done; read -r stat </proc/self/stat; set -- \${stat##*) }; done"
}
# Burns CPU in one process, long enough for a hundred samples and more.
BUSY=$(busy 600)

# await MS PID...: until these processes have had MS milliseconds of CPU time more, all together; for
# `record -p PID -- sh $AWAIT MS PID`, which then has samples of them, however little of the machine they get.
AWAIT=$T/await.sh
cat >"$AWAIT" <<'END'
ms=$1
shift
had() {
	sum=0
	for pid; do
		read -r stat 2>/dev/null <"/proc/$pid/stat" || { echo gone; return; }
		stat=${stat##*) }
		set -- $stat
		sum=$((sum + ${12} + ${13}))
	done
	echo $sum
}
end=$(($(had "$@") + ms / 10))
while now=$(had "$@") && [ "$now" != gone ] && [ "$now" -lt $end ]; do sleep 0.02; done
END
# sh $REPEAT MS COMMAND...: the command again and again, until all of them had MS milliseconds of CPU time.
REPEAT=$T/repeat.sh
cat >"$REPEAT" <<'END'
ms=$1
shift
while "$@" || exit; do
	read -r stat </proc/self/stat
	stat=${stat##*) }
	had=$(set -- $stat; echo $((${14} + ${15})))
	[ "$had" -lt $((ms / 10)) ] || exit 0
done
END
# until_true WHAT COMMAND...: waits until COMMAND succeeds, or a minute and more is over, which is a failure.
until_true() {
	what=$1 tries=0
	shift
	until "$@"; do
		[ $tries -lt 1500 ] || { fail "in vain: $what"; return 1; }
		tries=$((tries + 1))
		sleep 0.1
	done
}

# make_code MS: a program ./code with a hot function, work, for so many milliseconds of CPU time. Its hot line has markup and what
# turns the order of characters.
make_code() {
	printf '%s\n' '#include "work.h"' 'static volatile unsigned sink;' '__attribute__((noinline)) void work(unsigned n)' '{' \
		'	for (unsigned i = 0; i < n; i++)' "		sink = sink % 1000003u * 48271u; /* <b>HOT</b> $(printf '\342\200\256') */" '}' \
		'int main(void)' '{' "	for (uint64_t end = work_until($1); work_goes_on(end);)" '		work(work_loops(100000));' '}' >code.c
	cc -g -O1 -w -I"$TESTS" -o code code.c -lm || fail "cc"
}

# record_page SECONDS GZIP_MS OTHER_SECONDS CODE_MS: what tests of the page look at. flame.data: python3, a shell and gzip; other.data:
# less of the same Python; where there is a compiler, code.data of make_code's program.
record_page() {
	work='import json, time
d = [{"a": i, "b": str(i)} for i in range(1000)]
while time.process_time() < %s: json.loads(json.dumps(d))'
	# shellcheck disable=SC2059,SC2016
	"$SEAM" record -q -F 997 -g -o flame.data -- sh -c 'python3 -S -c "$0"; sh "$1" "$2" gzip -c "$3" >/dev/null' \
		"$(printf "$work" "$1")" "$REPEAT" "$2" "$SEAM" 2>err || fail "record: $(cat err)"
	# shellcheck disable=SC2059
	"$SEAM" record -q -F 997 -g -o other.data -- python3 -S -c "$(printf "$work" "$3")" 2>err || fail "record: $(cat err)"
	command -v cc >/dev/null || return 0
	make_code "$4"
	"$SEAM" record -q -F 997 -g -o code.data -- ./code 2>err || fail "record: $(cat err)"
}

# seam record, its stderr in $T/err, its status in $status
record() { "$SEAM" record "$@" 2>err; status=$?; }

# starts_whole RUNTIME COMMAND...: at each page fault of its start, before there is an interpreter and after, no stack is said to lack
# functions because memory could not be read.
starts_whole() {
	runtime=$1
	shift
	record --runtimes "$runtime" -e page-faults:u -c 1 -g -o start.data -- "$@"
	"$SEAM" script -F comm,ip,sym,dso -i start.data 2>/dev/null >start.txt
	atleast "frames of the loader" 1 "$(grep -c 'ld-linux' start.txt)"
	"$SEAM" stat --stacks -i start.data >start.stat 2>/dev/null
	says start.stat 'complete stacks: .* whole'
	same "no stack lacks functions because memory could not be read" 0 "$(grep -c ' fault stacks:' start.stat)"
}

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

# grown FILE BYTES: waits until the file holds more than so many bytes.
longer() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ]; }
grown() { until_true "$1 grows beyond $2 bytes" longer "$1" "$2"; }

# attached STDERR: waits until a recorder with -v, of what runs already, has looked at that and begins to sample.
attached() { until_true "it has begun" grep -q 'already running' "$1"; }

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

# nothing_lost FILE: what a recorder said. Another test's BPF programs may keep the kernel from some samples, which is said; nothing
# else is lost.
nothing_lost() {
	nothing_lost_skipped=$(sed -n 's/^[^0-9]*\([0-9,]*\) samples*  *skipped by the kernel.*/\1/p' "$1" | tr -d ,)
	same "lost" "${nothing_lost_skipped:-0}" "$(sed -n 's/.*; \([0-9,]*\) lost.*/\1/p' "$1" | tr -d ,)"
}
