#!/bin/sh
# SPDX-License-Identifier: MIT
# Samples inside a uprobe's trap that bring a copy of the stack, walked while recording and afterwards: no wrong caller, no wrong
# function, and most stacks whole.
if [ ! -d /sys/kernel/tracing/events ]; then
	[ -z "${IN_NAMESPACE:-}" ] || { echo "skipped: no tracefs"; exit 77; }
	IN_NAMESPACE=1 exec unshare -m sh -c 'mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null; exec sh "$0"' "$0"
fi
. "$(dirname "$0")/lib.sh"
can_record
[ "$(uname -m)" = x86_64 ] || skip "x86_64 only"
[ "$(id -u)" = 0 ] || skip "kernel addresses are root's to see"
tracing=/sys/kernel/tracing system=seam_copies_$$
[ -w $tracing/uprobe_events ] || skip "no uprobes here"
${CC:-cc} -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o trapped "$TESTS/bpf/trapped.c" || skip "no compiler"
build="${CC:-cc} -O2 -fno-optimize-sibling-calls $TESTS/bpf/prologues.c"
$build -fomit-frame-pointer -o without && $build -fno-omit-frame-pointer -o with &&
	$build -fomit-frame-pointer -fcf-protection=full -o marked || skip "no compiler"

gone() {
	for at in $(cat probes 2>/dev/null); do
		echo 0 >$tracing/events/$system/$at/enable
		echo "-:$system/$at" >>$tracing/uprobe_events
	done
	: >probes
}
trap 'gone; cd /; rm -rf "$T"' EXIT

# probed OPTIONS PROGRAM SYMBOL[+BYTES]...: stacks of a run with uprobes there, at $HZ
probed() {
	options=$1 program=$2
	shift 2
	base=$(objdump -h $program | awk '$2 == ".text" { print $4, $6 }')
	for at; do
		address=$(objdump -t $program | awk -v at="${at%+*}" '$NF == at { print $1 }')
		plus=$(expr "$at" : '.*+\(.*\)')
		offset=$((0x$address - 0x${base% *} + 0x${base#* } + ${plus:-0}))
		at=$(echo "$at" | tr + _)
		echo "p:$system/$at $T/$program:$(printf 0x%x $offset)" >>$tracing/uprobe_events || skip "no uprobes here"
		echo "$at" >>probes
		echo 1 >$tracing/events/$system/$at/enable
	done
	name="$program${options:+ $options}: $*"
	record -q -e cpu-clock -F $HZ --call-graph dwarf,2048 $options -o f.data -- ./$program
	gone
	"$SEAM" script -F comm,pid,ip,sym f.data >f.txt 2>/dev/null || fail "$name: script"
	# Of stacks in a breakpoint's trap: all; down to main; ended early; any other. A step out of line is in no function.
	awk -v RS= -v order="$ORDER" '/asm_exc_int3/ {
		n++
		gsub(/\t *[0-9a-f]+ /, "")
		if (!sub(/.*asm_exc_int3\n/, "")) { alone++; next } # nothing is known of it: in an exec
		lines = split($0, f, "\n")
		while (lines && f[lines] == "") lines--
		if (f[1] == "[unknown]" && lines == 1) { alone++; next }
		at = 0
		chains = split(order, chain, " ")
		for (c = 1; c <= chains && !at; c++) {
			calls = split(chain[c], call, ",")
			for (i = 1; i <= calls && !at; i++)
				if (call[i] == f[1]) at = i
		}
		ok = at && f[1] !~ /caller$/ # which has no probe
		for (i = 1; ok && i <= lines && at + i - 1 <= calls; i++) ok = f[i] == call[at + i - 1]
		if (!ok) { bad++; if (bad < 4) print $0 >"bad.txt" }
		else if (at + lines > calls) whole++
		else alone++
	} END { print n + 0, whole + 0, alone + 0, bad + 0 }' f.txt >n
	read -r all whole alone bad <n
	echo "# $name: $all in the trap, $whole whole, $alone ended early"
	atleast "$name: stacks in the trap" 10 "$all"
	same "$name: wrong ones" 0 "$bad"
	atleast "$name: whole ones" $((all * 3 / 4)) "$whole"
	[ "$bad" = 0 ] || sed 's/^/# /' bad.txt
	total=$((${total:-0} + all))
}

TRAPPED="trapped_rbp,trapped_caller,main trapped_rbx,trapped_caller,main trapped_r12,trapped_caller,main trapped_sub,trapped_caller,main"
CALLS="leaf,small,saving,wide,caller,main"
ORDER=$TRAPPED HZ=997
probed "" trapped at_rbp at_rbx
probed --keep-stacks trapped at_rbp at_rbx
probed "" trapped at_rbx_ret at_sub_ret at_rbp+1 at_sub+4
ORDER=$CALLS HZ=3999 # few samples are in the trap: 8 to 28 at 997 Hz
probed "" without leaf small saving wide
probed "" with leaf small saving wide
probed --keep-stacks marked leaf small saving wide
echo "# $total in all"
done_testing
