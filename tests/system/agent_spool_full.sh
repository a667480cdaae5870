# SPDX-License-Identifier: MIT
# agent_spool_full.sh: a server that is away and a disk that is full: the windows that found room wait on, the others are counted and said once,
# and the agent goes on when there is room.
. "$(dirname "$0")/lib.sh"
store='clickhouse:http://127.0.0.1:1/?spool=small/spool' # nobody listens there
mkdir small
unshare -m mount -t tmpfs none small 2>/dev/null || skip "no file system can be mounted here"
"$SEAM" agent --store "$store" --duration 1s --window 1s 2>err || skip "no agent with such a store here: $(cat err)"
rm -rf small/spool

cat >full.sh <<'END'
mount -t tmpfs -o size=8m none small || exit 99
"$SEAM" agent --store "$STORE" --freq 997 --window 1s 2>full &
agent=$!
tries=0
comes() { until "$@" || [ $tries -gt 1500 ]; do tries=$((tries + 1)); sleep 0.1; done; }
pieces() { find small/spool -name '*.piece' 2>/dev/null | wc -l; }
more_than() { [ "$(pieces)" -gt "$1" ]; }
sums() { (cd small/spool && find . -name '*.piece' -exec cksum {} + | sort); }
comes more_than 1
cat /dev/zero >small/rest 2>/dev/null
comes grep -q 'windows are lost until' full
sums >during
rm small/rest
comes grep -q 'is written again' full
comes more_than "$(wc -l <during)"
kill -TERM $agent
wait $agent || exit
sums >after
ls small/spool >names
exit 0
END
STORE=$store unshare -m sh full.sh
same "exit status of an agent whose spool found no room" 0 $?
says full 'small/spool: No space left on device; windows are lost until it can be written again$'
same "a full spool, and that it is written again, is said once for each time" "" \
	"$(grep -o 'windows are lost until\|is written again' full | tr '\n' ';' | sed 's/windows are lost until;is written again;//g')"
same "windows that waited before and are not there behind" "" "$(comm -23 during after)"
same "what is left of a window that found no room" "" "$(grep -v '\.piece$' names)"

# Each window is in the spool, or lost.
all=$(sed -n 's/.*agent: \([0-9]*\) windows with .*/\1/p' full)
lost=$(sed -n 's/.* samples, \([0-9]*\) windows were lost.*/\1/p' full)
atleast "lost windows" 1 "${lost:-0}"
same "windows that wait" "$((all - lost))" "$(wc -l <after)"
done_testing
