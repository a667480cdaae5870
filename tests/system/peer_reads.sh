# SPDX-License-Identifier: MIT
# peer_reads.sh: what seam writes, perf 7.3 reads (and 6.1, where it is installed): recordings made beside others while BPF programs
# came and went, and what convert and recover make of sound and of broken files.
. "$(dirname "$0")/lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
python3 "$here/peer_reads_churn.py" 1 >why || { cat why; exit 77; }
can_record
"$top/scripts/peer" >/dev/null 2>why || skip "no perf 7.3: $(tail -n 1 why)"

# While three record, the kernel makes KSYMBOL and BPF_EVENT records too long for all but one.
until_churned='until [ -e churned ]; do sleep 0.1; done'
begun() { [ "$(samples $1.data)" -gt 0 ]; }
"$SEAM" record -q -a -o all.data -- sh -c "$until_churned" &
until_true "one records" begun all
"$SEAM" record -q -a --call-graph fp -o fp.data -- sh -c "$until_churned" &
until_true "two record" begun fp
"$SEAM" record -q --call-graph fp -o own.data -- python3 "$here/peer_reads_churn.py" 300
: >churned
wait
for f in all fp own; do atleast "BPF programs that $f.data tells of" 100 "$(count $f.data KSYMBOL)"; done
"$SEAM" record -q -z -a -o - -- sleep 0.3 >pipe.data 2>/dev/null
head -c $(($(wc -c <all.data) * 2 / 3)) all.data >cut.data

reads() { python3 "$top/scripts/peer-reads.py" --seam "$SEAM" "$@" >said 2>&1; same "$(tail -n 1 said): exit" 0 $?; grep -v ' read by ' said; }
reads --as-is always fp.data own.data
reads --as-is deferred all.data
reads pipe.data cut.data
mkdir broken
python3 - "$top/tests/golden/broken" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import make
for i, (name, content) in enumerate(make.cases()):
    if not name.startswith(("cut-in-record", "pipe-cut", "feature-unknown", "chain-nr")):
        with open("broken/%03d-%s" % (i, name.replace(" ", "_").replace("/", "_")[:80]), "wb") as f:
            f.write(content)
PY
reads broken/*

# Who does not read it is said before.
"$SEAM" record -o said.data -- true 2>err
if defers said.data; then says err "perf older than 6.19 reads the file only after seam convert"; fi
# And a file says that stacks are deferred only if one was.
tries=0
while [ $tries -lt 8 ]; do
	tries=$((tries + 1))
	"$SEAM" record -o said.data -- sh -c "$(busy 50)" 2>err
	"$SEAM" dump said.data >dump
	if grep -q 'PERF_RECORD_CALLCHAIN_DEFERRED\|USER_DEFERRED\|fffffffffffffd80' dump; then
		defers said.data || fail "stacks are deferred, and the attrs do not say so"
	else
		defers said.data && fail "no stack is deferred, and the attrs say so"
		"$here/../../scripts/peer-reads.py" --seam "$SEAM" --as-is always said.data >reads.out 2>&1
		status=$?
		[ $status = 77 ] || same "both perfs read a default recording without deferred stacks" 0 $status
		break
	fi
done
"$SEAM" record -z -o said.data -- true 2>err
says err "perf older than 6.16 does not read a compressed file"
done_testing
