# SPDX-License-Identifier: MIT
# agent_waits.sh: a process that serves its memory itself, and never does, holds up nobody who samples the whole machine.
. "$(dirname "$0")/lib.sh"
command -v cc >/dev/null || skip "there is no C compiler"
"$SEAM" store ls --store sqlite:none 2>&1 | grep -q "has no SQLite" && skip "this build has no SQLite"
cc -O1 -pthread -o hold "$TESTS/waits/hold.c" || skip "the C compiler makes no program"
touch a:OTEL_CTX
./hold a:OTEL_CTX >said &
hold=$!
trap 'kill -KILL $hold 2>/dev/null; cd /; rm -rf "$T"' EXIT
holds() { grep -q holds said || ! kill -0 $hold 2>/dev/null; }
until_true "hold begins" holds
kill -0 $hold 2>/dev/null || skip "FUSE is not allowed here"

# However long a window takes on this machine: the agent goes on until it has met the process, and ends when it is told so.
"$SEAM" agent --store sqlite:o.db --window 1s 2>err &
agent=$!
met() { grep -q 'kept who reads its memory waiting' err || ! kill -0 $agent 2>/dev/null; }
until_true "the agent meets it" met
kill -0 $agent 2>/dev/null || skip "the whole machine cannot be sampled here: $(cat err)"
stored() { [ "$("$SEAM" report --store sqlite:o.db -g none -s comm --csv 2>/dev/null | grep -c ',hold,')" -gt 0 ]; }
until_true "its samples are in a window" stored
kill -TERM $agent
wait $agent
same "exit status beside a process that holds" 0 $?

# The same of a recording. What is of the process itself ends with it.
SEAM_CONFIG='' "$SEAM" record -a -o r.data -- sh -c "$BUSY" 2>err
same "exit status of a recording beside it" 0 $?
atleast "samples of the recording" 1 "$("$SEAM" report -i r.data -g none -s comm --csv 2>/dev/null | grep -c .)"
kill -0 $hold 2>/dev/null || fail "hold has ended"
done_testing
