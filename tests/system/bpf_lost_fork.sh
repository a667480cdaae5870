#!/bin/sh
# SPDX-License-Identifier: MIT
# The recorder does not run while processes come and go, so that what the kernel says of them is lost: that is said, and a process that
# came meanwhile is known afterwards: its stacks reach main.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
${CC:-cc} -O2 -fomit-frame-pointer -o stranger -xc - 2>cc.err <<'END' || skip "no compiler: $(head -n 3 cc.err)"
#include <unistd.h>
#include "work.h"
static __attribute__((noinline)) double inner(double s, int ms)
{
	for (uint64_t end = work_until(ms); work_goes_on(end);)
		for (unsigned i = 0, n = work_loops(10000); i < n; i++)
			s += s * 1e-9;
	return s;
}
int main(void)
{
	double s = inner(1, 50);

	while (access("resumed", F_OK)) /* what it does while the recorder stands still is little beside the rest */
		usleep(20000);
	return inner(s, 1500) < 0;
}
END
cat >run <<'END'
while [ ! -e stopped ]; do sleep 0.05; done
i=0; while [ $i -lt 2500 ]; do /bin/true; i=$((i+1)); done
./stranger & echo >started
wait
END
"$SEAM" record -m 16384 -F 499 -o l.data -- sh run 2>err &
pid=$!
while [ "$("$SEAM" stat l.data 2>/dev/null | grep -c COMM)" -eq 0 ] && kill -0 $pid 2>/dev/null; do sleep 0.1; done
kill -STOP $pid && : >stopped
while [ ! -e started ]; do sleep 0.1; done
sleep 0.3
kill -CONT $pid && : >resumed
wait $pid
cat err
says err "what the kernel says of mappings was lost"
"$SEAM" script --comms stranger -F time,ip,sym l.data >stacks 2>/dev/null
n=$(grep -c 'inner' stacks)
atleast "samples of the stranger" 100 "$n"
atleast "of them to main" $((n / 2)) "$(grep -c ' main' stacks)"
done_testing
