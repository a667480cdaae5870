#!/bin/sh
# SPDX-License-Identifier: MIT
# Samples inside a uprobe's trap, walked in the kernel: execution stopped in front of the instruction that the breakpoint replaced.
if [ ! -d /sys/kernel/tracing/events ]; then
	[ -z "${IN_NAMESPACE:-}" ] || { echo "skipped: no tracefs"; exit 77; }
	IN_NAMESPACE=1 exec unshare -m sh -c 'mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null; exec sh "$0"' "$0"
fi
. "$(dirname "$0")/lib.sh"
can_record
needs_bpf
[ "$(uname -m)" = x86_64 ] || skip "x86_64 only"
tracing=/sys/kernel/tracing system=seam_trap_$$
[ -w $tracing/uprobe_events ] || skip "no uprobes here"
${CC:-cc} -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o trapped "$TESTS/bpf/trapped.c" || skip "no compiler"
base=$(objdump -h trapped | awk '$2 == ".text" { print $4, $6 }')

gone() {
	for at in $(cat probes 2>/dev/null); do
		echo 0 >$tracing/events/$system/$at/enable
		echo "-:$system/$at" >>$tracing/uprobe_events
	done
	: >probes
}
trap 'gone; cd /; rm -rf "$T"' EXIT

# probed NAME SYMBOL...: stacks of a run with uprobes there
probed() {
	name=$1
	shift
	for at; do
		address=$(objdump -t trapped | awk -v at="$at" '$NF == at { print $1 }')
		offset=$((0x$address - 0x${base% *} + 0x${base#* }))
		echo "p:$system/$at $T/trapped:$(printf 0x%x $offset)" >>$tracing/uprobe_events || skip "no uprobes here"
		echo "$at" >>probes
		echo 1 >$tracing/events/$system/$at/enable
	done
	record -q -e cpu-clock -F 997 --call-graph dwarf,defer -o f.data -- ./trapped
	gone
	"$SEAM" script -F comm,pid,ip,sym f.data >f.txt 2>/dev/null || fail "$name: script"
	# Of stacks in a breakpoint's trap: all; down to main behind one frame of the function; the function alone; any other.
	awk -v RS= '/asm_exc_int3/ {
		n++
		sub(/.*asm_exc_int3[^\n]*\n/, "")
		gsub(/\t *[0-9a-f]+ /, "")
		lines = split($0, f, "\n")
		if (f[1] ~ /^(trapped|at)_/ && f[1] !~ /caller/ && lines == 1) alone++
		else if (f[1] ~ /^(trapped|at)_/ && f[1] !~ /caller/ && f[2] ~ /^trapped_caller/ && f[3] ~ /^main/) whole++
		else { bad++; if (bad < 4) print $0 >"bad.txt" }
	} END { print n + 0, whole + 0, alone + 0, bad + 0 }' f.txt >n
	read -r all whole alone bad <n
	echo "# $name: $all in the trap, $whole whole, $alone of the function alone"
	atleast "$name: stacks in the trap" 20 "$all"
	same "$name: wrong ones" 0 "$bad"
	atleast "$name: whole ones" $((all / 2)) "$whole"
	[ "$bad" = 0 ] || sed 's/^/# /' bad.txt
}

probed "push %rbp" at_rbp
probed "push %rbx" at_rbx
probed "push %r12" at_r12
probed "sub" at_sub
probed "ret" at_rbx_ret
probed "all" at_rbp at_rbx at_r12 at_sub at_sub_ret
done_testing
