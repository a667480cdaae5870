#!/bin/sh
# SPDX-License-Identifier: MIT
# Events of uprobes: one that is enabled already is said to be that.
if [ ! -d /sys/kernel/tracing/events ]; then
	[ -z "${IN_NAMESPACE:-}" ] || { echo "skipped: no tracefs"; exit 77; }
	IN_NAMESPACE=1 exec unshare -m sh -c 'mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null; exec sh "$0"' "$0"
fi
. "$(dirname "$0")/lib.sh"
can_record
tracing=/sys/kernel/tracing system=seam_test_$$
[ -w $tracing/uprobe_events ] || skip "no uprobes here"
cat >called.c <<'END'
#include "work.h"
__attribute__((noinline)) int called(int n)
{
	volatile int sum = n;

	for (int i = 0; i < 100; i++)
		sum += i;
	return sum;
}
int main(void)
{
	for (uint64_t end = work_until(100); work_goes_on(end);)
		called(1);
	return 0;
}
END
${CC:-cc} -O1 -o called called.c || skip "no compiler"
at=$(objdump -t called | awk '$NF == "called" { print $1 }')
base=$(objdump -h called | awk '$2 == ".text" { print $4, $6 }')
offset=$((0x$at - 0x${base% *} + 0x${base#* }))
echo "p:$system/called $T/called:$(printf 0x%x $offset)" >>$tracing/uprobe_events || skip "no uprobes here"
gone() {
	rmdir $tracing/instances/$system 2>/dev/null
	echo 0 >$tracing/events/$system/called/enable
	echo "-:$system/called" >>$tracing/uprobe_events
}
trap 'gone; cd /; rm -rf "$T"' EXIT

record -e $system:called -c 100 --call-graph none -o free.data -- ./called
same "that is free: status" 0 $status
atleast "samples" 1 "$(samples free.data)"
echo 1 >$tracing/events/$system/called/enable
for event in $system:called $system:called:u; do
	record -e $event -o taken.data -- ./called
	same "$event, that is enabled: status" 1 $status
	says err 'it is enabled already, and a uprobe serves either tracefs or perf'
	says err "echo 0 > $tracing/events/$system/called/enable"
done
echo 0 >$tracing/events/$system/called/enable
if mkdir $tracing/instances/$system 2>/dev/null; then
	echo 1 >$tracing/instances/$system/events/$system/called/enable
	record -e $system:called -o taken.data -- ./called
	says err 'it is enabled already by another trace'
	says err "grep -l 1 $tracing/instances/\*/events/$system/called/enable"
	echo 0 >$tracing/instances/$system/events/$system/called/enable
fi
done_testing
