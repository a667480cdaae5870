#!/bin/sh
# SPDX-License-Identifier: MIT
# The ladder of seam record: BPF programs where they are allowed, the next way where not, and each step down is said. Needs no BPF
# itself: what is expected comes from seam check.
. "$(dirname "$0")/lib.sh"
can_record
"$SEAM" check --json >check.json 2>/dev/null
word() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" check.json | head -1; }
mode=$(word mode)
[ -n "$mode" ] || mode=$("$SEAM" check | sed -n 's/^Recording is possible; //p')

echo "# auto is what seam check says"
record -o auto.data -- true
says err "$mode"
case $mode in *BPF*) bpf=1 ;; *) bpf= ;; esac

echo "# steps that were asked for by name"
record --call-graph fp -o fp.data -- true; says err 'frame pointers, at once: as asked'
record --call-graph dwarf -o dw.data -- true; says err 'copies of 8192 bytes, unwound while recording;'
record -k monotonic_raw -o raw.data -- true
same "-k: status" 0 $status
[ -z "$bpf" ] || says err 'not walked in the kernel by BPF: .*clock'
if [ "$bpf" ]; then
	record --call-graph dwarf,defer=never -o n.data -- true; says err 'at once; .*: as asked'
	record --call-graph dwarf,defer=always -o n.data -- true; same "=always" 0 $status
fi

echo "# events that BPF does not take have their own samples, of the target only"
sh -c 'while :; do sleep 0.01; done' & other=$!
trap 'kill $other 2>/dev/null; cd /; rm -rf "$T"' EXIT
record -e cpu-clock,sched:sched_switch -F 2000 -o two.data -- sh -c "$BUSY; sleep 0.05; sleep 0.05"
if [ $status -eq 0 ]; then
	"$SEAM" script -F pid,event -i two.data 2>/dev/null | grep -c 'sched:sched_switch' >n
	atleast "switches" 2 "$(cat n)"
	same "none of another process" 0 "$("$SEAM" dump two.data 2>/dev/null | grep PERF_RECORD_SAMPLE | grep -c " $other/")"
	[ -z "$bpf" ] || says err "sched:sched_switch: its samples are the kernel's own"
	judge two.data
	record -e sched:sched_switch -o tp.data -- sleep 0.05
	same "tracepoint alone" 0 $status
	[ -z "$bpf" ] || says err 'not walked in the kernel by BPF: tracepoints'
	judge tp.data
fi
record -e '{cpu-clock,page-faults}:S' -F 2000 -o s.data -- sh -c "$BUSY"
same "group whose members are read: status" 0 $status
atleast "its samples" 20 "$(samples s.data)"
[ -z "$bpf" ] || says err "not walked in the kernel by BPF: no event's samples"
record -e '{cpu-clock,page-faults}' -F 2000 -o g.data -- sh -c "$BUSY"
same "group: status" 0 $status
judge g.data

[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || done_testing
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || done_testing
cp "$SEAM" seam && chmod 755 seam "$T" && mkdir own && chown 65534 own && cd own || exit 1
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"

echo "# without the capabilities: the next step, and what would help"
$nobody "$T/seam" record -e cpu-clock:u -o u.data -- true 2>err
same "status" 0 $?
if [ "$bpf" ]; then
	says err 'not walked in the kernel by BPF: .*CAP_BPF and CAP_PERFMON'
	$nobody "$T/seam" check >check.txt
	says check.txt 'bpf_stacks *no'
	says check.txt 'do:  run as root, or with CAP_BPF and CAP_PERFMON'
	echo "# with the two capabilities and nothing else"
	caps=+bpf,+perfmon
	$nobody --inh-caps $caps --ambient-caps $caps "$T/seam" record -e cpu-clock -F 2000 -o c.data -- sh -c "$BUSY" 2>err
	same "status" 0 $?
	says err 'walked in the kernel by BPF'
	atleast "samples" 50 "$(samples c.data)"
	whole=$("$T/seam" report --stdio c.data 2>/dev/null | grep -c __libc_start)
	atleast "whole stacks" 1 "$whole"
fi
done_testing
