#!/bin/sh
# SPDX-License-Identifier: MIT
# A recording begins soon. What is measured is not the time, but how much the recorder has read until
# its command runs: of the kernel's types at most once what there is of them, and none of its list of
# symbols, which is made as it is read. And of the command, which is a copy of the
# recorder until its exec, no mapping is read.
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
# The kernel walks no stack that BPF walks, also where the first choice of event, which is precise, became a clock.
"$SEAM" record -vv -o a.data -- /bin/true 2>err || fail "record -vv"
same "clocks with a callchain of the kernel's, and of BPF" 0 "$(awk '/^ *config .*_CPU_CLOCK/ { clock = 1 }
	/^ *sample_type / { n += clock && /CALLCHAIN/; clock = 0 } END { print n + 0 }' err)"
"$SEAM" record -v -o a.data -- /bin/true 2>err || fail "record -v"
atmost "tables: of true, libc, ld.so, the vdso and what else these need" 8 "$(sed -n 's/.*processes*, \([0-9]*\) tables.*/\1/p' err)"
done_testing
