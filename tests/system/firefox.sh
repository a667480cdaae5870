# SPDX-License-Identifier: MIT
# firefox.sh: what the Firefox Profiler makes of our files: its own CLI loads them, and its call trees are held against ours.
# The work is firefox.py's.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
npm=$("$here/../../scripts/npm-consumers") || skip "npm's packages cannot be had"
can_record

# Calls that are inlined, one of them in another file than its function; a function whose lines are in two files; several threads; a name that C++ makes.
cat >inlined.h <<'C'
static inline __attribute__((always_inline)) void deepest(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sum += i;
}
C
cat >body.h <<'C'
	for (uint64_t i = 0; i < n; i++)
		sum = sum + i;
C
cat >inlined.cc <<'C'
#include <pthread.h>
#include "work.h"
static volatile uint64_t sum;
#include "inlined.h"
static inline __attribute__((always_inline)) void middle(uint64_t n)
{
	deepest(n);
	sum = sum + 1;
}
__attribute__((noinline)) static void two_files(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sum = sum ^ i;
#include "body.h"
}
namespace space {
template <typename T> __attribute__((noinline)) void outer(T until)
{
	for (uint64_t end = work_until(until); work_goes_on(end);) {
		middle(work_loops(100000));
		two_files(work_loops(20000));
	}
}
}
static void *thread(void *p)
{
	space::outer<unsigned>(300);
	return p;
}
int main(void)
{
	pthread_t a, b;

	pthread_create(&a, 0, thread, 0);
	pthread_create(&b, 0, thread, 0);
	space::outer<unsigned>(300);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
C
c++ -g -O2 -fno-omit-frame-pointer -pthread -I"$here" -o inlined inlined.cc 2>cc.err || fail "c++: $(cat cc.err)"
record -F 499 -o inlined.data ./inlined
[ $status -eq 0 ] || fail "record: $(cat err)"

for what in units deep hostile; do
	python3 "$here/../golden/made" $what >$what.data || fail "made $what"
done
cp "$here/../data/gcc_d/perf.data" gcc.data
cp "$here/../data/multi_group/perf.data" group.data
PROFILER_CLI_SESSION_DIR=$T/sessions python3 "$here/firefox.py" "$SEAM" "$npm" gcc group units deep hostile inlined || fail "firefox.py"
done_testing
