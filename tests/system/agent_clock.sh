# SPDX-License-Identifier: MIT
# agent_clock.sh: the machine's clock is set back and forth while the agent runs: each window has its own second, none is lost, none
# counts twice, and those of one span are found by it.
. "$(dirname "$0")/lib.sh"
command -v cc >/dev/null || skip "there is no C compiler"
"$SEAM" store ls --store sqlite:none 2>&1 | grep -q "has no SQLite" && skip "this build has no SQLite"
"$SEAM" agent --store sqlite:probe --duration 1s --window 1s 2>err || skip "the whole machine cannot be sampled here: $(cat err)"

# Seconds in the file $AHEAD are added to the time of day, and to nothing else.
cat >ahead.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, clock, t);
	FILE *f = clock == CLOCK_REALTIME ? fopen(getenv("AHEAD"), "r") : NULL;
	long s = 0;
	if (f) {
		if (fscanf(f, "%ld", &s) == 1)
			t->tv_sec += s;
		fclose(f);
	}
	return r;
}
C
cc -shared -fPIC -o ahead.so ahead.c || skip "the C compiler makes no library"

AHEAD=$T/ahead
ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 # the library comes before a sanitizer's
export AHEAD ASAN_OPTIONS
ahead() { echo "$1" >ahead.new && mv ahead.new ahead; }
ahead 0
sh -c "while :; do :; done" & # something to sample
busy=$!
LD_PRELOAD=$T/ahead.so "$SEAM" agent --store sqlite:a.db --freq 99 --window 1s 2>err &
agent=$!
span() { "$SEAM" report --json --store sqlite:a.db --from "$1" --to "$2" 2>/dev/null | tr '{,' '\n\n' | sed -n 's/^"samples":\([0-9]*\).*/\1/p' | head -1; }
has() { n=$(span "$1" "$2"); [ "${n:-0}" -gt 0 ]; }
now=$(date +%s)
until_true "windows of now" has "@$((now - 100))" "@$((now + 1800))"
ahead -7200
until_true "windows of two hours ago" has "@$((now - 9000))" "@$((now - 1800))"
ahead 7200
until_true "windows of two hours hence" has "@$((now + 1800))" "@$((now + 9000))"
ahead 0
sleep 2
kill -TERM $agent
wait $agent
same "exit status" 0 $?
kill $busy
wait $busy 2>/dev/null
said=$(sed -n 's/.* windows with \([0-9]*\) samples, 0 windows were lost.*/\1/p' err)
[ -n "$said" ] || fail "no last line, or windows were lost: $(cat err)"
all=$(span @0 @4000000000)
same "samples of all windows" "${said:-0}" "${all:-0}"
parts=0
for hour in -9000 -1800 1800; do
	to=$((hour == -1800 ? 1800 : hour + 7200))
	n=$(span "@$((now + hour))" "@$((now + to))")
	echo "ok: ${n:-0} samples from $hour s to $to s"
	parts=$((parts + ${n:-0}))
done
same "samples of the three spans" "${said:-0}" "$parts"
done_testing
