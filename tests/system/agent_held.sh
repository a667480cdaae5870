# SPDX-License-Identifier: MIT
# agent_held.sh: what windows have of time off the CPU is held against a program's own clocks.
. "$(dirname "$0")/lib.sh"
command -v cc >/dev/null || skip "there is no C compiler"
"$SEAM" store ls --store sqlite:none 2>&1 | grep -q "has no SQLite" && skip "this build has no SQLite"
cat >nap.c <<'C'
#include <stdint.h>
#include <stdio.h>
#include <time.h>
static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
/* Naps of 20 ms: prints for how long it asked, and how long it was not on a CPU. */
int main(void)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	uint64_t from = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < 50; i++)
		nanosleep(&nap, NULL);
	from = now(CLOCK_MONOTONIC) - from;
	printf("%d %llu\n", 50 * 20000000, (unsigned long long)(from - (now(CLOCK_THREAD_CPUTIME_ID) - cpu)));
	return 0;
}
C
cc -O1 -o seamnap nap.c || skip "the C compiler makes no program"

# Each nap is a sample with its own length: the sum is between what was asked for and what the program was away.
"$SEAM" agent --store sqlite:o.db --off-cpu --window 1s 2>err &
agent=$!
sampling() { grep -q 'user stacks: ' err || ! kill -0 $agent 2>/dev/null; }
until_true "sampling" sampling
kill -0 $agent 2>/dev/null || skip "the whole machine cannot be sampled here: $(cat err)"
./seamnap >said
kill -TERM $agent
wait $agent
same "exit status with time off the CPU" 0 $?
read -r asked away <said
sum() {
	"$SEAM" report --json --store sqlite:o.db --where comm=seamnap -s event | tr '{' '\n' |
		sed -n "/\"event\":\"offcpu-time\"/s/.*\"self\":\\([0-9]*\\).*/\\1/p" | awk '{ n += $1 } END { printf "%d", n }'
}
# A nap begins a little before the thread leaves the CPU, and one switch in thousands passes without its tracepoint: then a nap is taken
# for running. What the kernel had no room for is missing, and said.
"$SEAM" report --store sqlite:o.db >out
lost=$(sed -n 's/^\([0-9,]*\) records were lost.*/\1/p' out | tr -d ,)
atleast "ns of naps, with ${lost:-0} lost" $((asked - asked / 10 - ${lost:-0} * 30000000)) "$(sum)"
atmost "ns of naps" $((away + away / 20 + 1000000)) "$(sum)"
done_testing
