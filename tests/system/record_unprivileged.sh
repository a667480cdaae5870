#!/bin/sh
# SPDX-License-Identifier: MIT
# seam record as nobody: its own processes, without the kernel where that is not allowed, and a plain
# word about what is missing.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root to become nobody"
command -v setpriv >/dev/null || skip "setpriv is needed"
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 9)
[ "$paranoid" -le 2 ] || skip "kernel.perf_event_paranoid is $paranoid: nobody may record nothing here"
cp "$SEAM" seam && chmod 755 seam "$T" && mkdir own && chown 65534 own && cd own || exit 1
SEAM="setpriv --reuid=65534 --regid=65534 --clear-groups $T/seam"
record() { $SEAM record "$@" 2>err; status=$?; }
samples() { $SEAM dump "$1" 2>/dev/null | grep -c PERF_RECORD_SAMPLE; }
exec 2>&1

record -F 2000 -o u.data -- sh -c "$BUSY"
[ $status -eq 0 ] || skip "nobody may not record here: $(cat err)"
atleast "samples" 50 "$(samples u.data)"
if [ "$paranoid" -ge 2 ]; then
	says err 'user space only'
	same "kernel samples" 0 "$($SEAM dump u.data 2>/dev/null | grep -c 'PERF_RECORD_SAMPLE(IP, 0x1)')"
fi
setpriv --reuid=65534 --regid=65534 --clear-groups sleep 600 & own=$!
tries=0 # until it has become nobody and is sleep
until grep -q '^sleep$' /proc/$own/comm 2>/dev/null || [ $tries -ge 1200 ]; do tries=$((tries + 1)); sleep 0.05; done
record -p $own --duration 0.2 -o p.data
same "-p of an own process" 0 $status
atleast "its mappings" 2 "$($SEAM dump p.data 2>/dev/null | grep -c PERF_RECORD_MMAP2)"
same "all with build-id or without a file" 0 \
	"$($SEAM dump p.data 2>/dev/null | grep PERF_RECORD_MMAP2 | grep -v '\[' | grep -vc '<')"
kill $own
record -p $$ --duration 0.2 -o x.data
same "-p of root's process" 1 $status
says err 'may not'
if [ "$paranoid" -ge 1 ]; then
	record -a --duration 0.2 -o x.data
	same "-a" 1 $status
	says err 'CAP_PERFMON'
	says err "'seam record COMMAND' and '-p PID' record"
fi
done_testing
