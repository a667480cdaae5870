#!/bin/sh
# SPDX-License-Identifier: MIT
# A recording begins soon. What is measured is not the time, but how much the recorder has read until
# its command runs: of the kernel's types at most once what there is of them, and none of its list of
# symbols, which is made as it is read.
. "$(dirname "$0")/lib.sh"
can_record
needs_bpf
[ -r /proc/self/io ] || skip "the kernel does not count what processes read"
most=$(($(stat -c %s /sys/kernel/btf/vmlinux) + 1000000))
for how in "" "--off-cpu"; do
	# shellcheck disable=SC2086,SC2016
	"$SEAM" record -q $how -o a.data -- sh -c 'cat /proc/$PPID/io >io' 2>err || fail "record $how"
	cat err
	atmost "record $how: bytes read before the command runs" $most "$(sed -n 's/^rchar: //p' io)"
done
done_testing
