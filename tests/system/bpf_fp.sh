#!/bin/sh
# SPDX-License-Identifier: MIT
# fp,defer where the kernel does not defer itself: frame pointers, walked by BPF, deferred where the stack's page is not in memory.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
"$SEAM" check >check.txt 2>/dev/null
grep -q '^ *bpf_deferral *yes' check.txt || skip "no task work for BPF here"
${CC:-cc} -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -D_GNU_SOURCE \
	-o work "$HERE/bpf/work.c" -pthread || skip "no compiler"

record --call-graph fp,defer -e cpu-clock -F 997 -o f.data -- ./work pages 1
same "status" 0 $status
if grep -q '^ *defers *yes' check.txt; then
	says err 'frame pointers, deferred by the kernel'
	done_testing
fi
says err 'frame pointers, walked in the kernel by BPF at once, deferred where a page is not in memory'
"$SEAM" script f.data >f.txt 2>/dev/null || fail "script"
atleast "deferred stacks" 50 "$(count f.data CALLCHAIN_DEFERRED)"
# Of the stacks of the scene, those that reach the function that its thread began with.
awk -v RS= '/[ \t]pages_descend[+ ]/ { n++; if (/[ \t]pages_thread[+ ]/) w++ } END { print n + 0, w + 0 }' f.txt >n
read -r all whole <n
atleast "stacks in pages_descend" 50 "$all"
same "of them down to the thread's first function" "$all" "$whole"
record --call-graph fp,defer,20 -e cpu-clock -o d.data -- true
same "with a depth: status" 0 $status
says err 'not walked in the kernel by BPF: a depth'
done_testing
