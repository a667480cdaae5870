# SPDX-License-Identifier: MIT
# store_compact.sh: an SQLite store answers the same questions alike before and after its old windows were made into longer ones.
. "$(dirname "$0")/lib.sh"
"$SEAM" store ls --store sqlite:none 2>&1 | grep -q "has no SQLite" && skip "this build has no SQLite"

# Compaction: two recordings in windows of 100 ms become windows of a minute and more, with the same functions, stacks and sums.
for name in gcc_d hackbench_d; do
	cp "$TESTS/../data/$name/perf.data" $name.data
	touch -d '2026-01-02 03:04:05' $name.data # the last sample's time, as the file has no time of day
	"$SEAM" store import --store sqlite:c.db --window 100ms --label service=$name $name.data 2>import || fail "import: $(cat import)"
done
ask() {
	"$SEAM" report --store sqlite:c.db --from 2026-01-01 --to 2026-01-03 --json -s comm,sym --by service | tr "{" "\n"
	"$SEAM" export --store sqlite:c.db --from 2026-01-01 --to 2026-01-03 --format folded | sort
}
windows() { "$SEAM" store ls --json --store sqlite:c.db --from 2026-01-01 | tr '{,' '\n\n' | sed -n 's/^"windows":\([0-9]*\).*/\1/p' | head -1; }
ask >before 2>err || fail "a question: $(cat err)"
atleast "lines of answers" 100 "$(wc -l <before)"
atleast "windows" 60 "$(windows)"
"$SEAM" store compact --store sqlite:c.db >compacted || fail "compact: $(cat compacted)"
atmost "windows after compaction" 4 "$(windows)"
ask >after 2>err
cmp before after || fail "compaction changes answers: $(diff before after | head -5)"

# An agent sums up and rolls up what nobody did when it was new.
touch -d '2026-01-02 05:04:05' gcc_d.data
"$SEAM" store import --store sqlite:c.db --window 1s --label service=later gcc_d.data 2>import || fail "import: $(cat import)"
if "$SEAM" agent --store sqlite:probe --duration 1s --window 1s 2>err; then
	"$SEAM" agent --store sqlite:c.db --keep 0 --window 1s 2>err &
	agent=$!
	rolled() { "$SEAM" store top --store sqlite:c.db --from 2026-01-01 --to 2026-01-03 | grep -q '^2 hours are rolled up$'; }
	until_true "an agent rolls up old hours" rolled || cat err
	kill $agent
	wait $agent
fi

done_testing
