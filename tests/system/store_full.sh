# SPDX-License-Identifier: MIT
# store_full.sh: a file system that is full beneath seam store import, compact and rollup: what failed is said, what was put stays, and the
# same command goes on when there is room.
. "$(dirname "$0")/lib.sh"
"$SEAM" store ls --store sqlite:none 2>&1 | grep -q "has no SQLite" && skip "this build has no SQLite"
mkdir small
unshare -m mount -t tmpfs none small 2>/dev/null || skip "no file system can be mounted here"
cp "$TESTS/../data/hackbench_d/perf.data" old.data
touch -d '2026-01-02 03:04:05' old.data # the last sample's time, as the file has no time of day

cat >full.sh <<'END'
import() { "$SEAM" store import --store sqlite:small/a.db --window 10ms --symfs /nonexistent old.data; }
ask() {
	"$SEAM" report --store sqlite:small/a.db --from 2026-01-01 --json -s comm,sym | tr "{" "\n"
	"$SEAM" export --store sqlite:small/a.db --from 2026-01-01 --format folded | sort
}
fill() { cat /dev/zero >small/rest 2>/dev/null; sync small/rest 2>/dev/null; }

mount -t tmpfs -o size=8m none small || exit 99
# Some of the windows find room.
head -c 7900000 /dev/zero >small/rest
import 2>import1
echo $? >import1.status
ask >half 2>half.err
echo $? >half.status
rm small/rest
import 2>import2
echo $? >import2.status
ask >before
fill
"$SEAM" store compact --store sqlite:small/a.db >compact1 2>&1
echo $? >compact1.status
"$SEAM" store rollup --store sqlite:small/a.db >rollup1 2>&1
echo $? >rollup1.status
ask >during
rm small/rest
"$SEAM" store compact --store sqlite:small/a.db >compact2 2>&1
echo $? >compact2.status
"$SEAM" store rollup --store sqlite:small/a.db >rollup2 2>&1
echo $? >rollup2.status
ask >after
exit 0
END
unshare -m sh full.sh
same "a small file system" 0 $?

says import1 'small/a.db: database or disk is full'
says import1 '; [1-9][0-9]* windows were put before it: import it again to put the rest$'
same "exit status of an import into what is full" 1 "$(cat import1.status)"
same "exit status of a report of what found room" 0 "$(cat half.status)"
same "exit status of the import that goes on" 0 "$(cat import2.status)"
first=$(sed -n 's/.*; \([0-9]*\) windows were put before.*/\1/p' import1)
says import2 ": [1-9][0-9]* windows put, $first were there"
"$SEAM" store import --store sqlite:b.db --window 10ms --symfs /nonexistent old.data 2>err
"$SEAM" export --store sqlite:b.db --from 2026-01-01 --format folded | sort >wanted
grep -c . wanted >n
grep -v '^{\|^"' before | tail -n "$(cat n)" | cmp - wanted || fail "what was imported in two parts is not the whole"

same "exit status of compacting what is full" 1 "$(cat compact1.status)"
says compact1 'small/a.db: database or disk is full'
same "exit status of rolling up what is full" 1 "$(cat rollup1.status)"
says rollup1 'small/a.db: database or disk is full'
cmp before during || fail "what could not be compacted has other answers"
same "exit status of compacting with room" 0 "$(cat compact2.status)"
says compact2 '[0-9]* windows became [0-9]*$'
same "exit status of rolling up with room" 0 "$(cat rollup2.status)"
cmp before after || fail "compaction changes answers"
done_testing
