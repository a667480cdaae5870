#!/bin/sh
# SPDX-License-Identifier: MIT
# Java's code keeps frame pointers only when asked to. Where its stacks end in that code, record and
# report name the flag, and with the flag they go on to the start of their thread. Erlang's likewise,
# where there is one.
set -u
. "$(dirname "$0")/lib.sh"
command -v javac >/dev/null || skip "no javac"
can_record
cat >Work.java <<'E2'
public class Work {
	static long sink;
	static long leaf(long n) { long s = 0; for (long i = 0; i < n; i++) s += i ^ (s >> 3); return s; }
	static long fib(int n) { return n < 2 ? leaf(40) : fib(n - 1) + fib(n - 2); }
	static long cpu() { return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime(); }
	public static void main(String[] a) {
		for (long end = cpu() + 1500000000L; cpu() < end;) sink += fib(18);
	}
}
E2
javac Work.java 2>err || skip "javac does not work: $(cat err)"

flag=-XX:+PreserveFramePointer
# ends NAME: samples that begin and end in the code, and those that reach the start of their thread, in $cut and $whole
ends() {
	"$SEAM" script -F comm,ip,sym,dso -i "$1.data" 2>err | awk 'BEGIN { RS = ""; FS = "\n" }
		!/perf-[0-9]+\.map/ { next }
		/(start_thread|clone3|_start)/ { whole++; next }
		$NF ~ /perf-[0-9]+\.map/ { cut++ }
		END { print cut + 0, whole + 0 }' >ends
	read -r cut whole <ends
}
ways="fp dwarf"
if (needs_bpf) >why; then ways="$ways dwarf,defer"; else cat why; fi
for way in $ways; do
	# Where BPF programs walk the stacks no flag is needed (hotspot.sh): without what they know of HotSpot it is.
	[ $way = dwarf,defer ] && native=--no-runtimes || native=
	record -F 499 --call-graph $way $native -o without.data -- java -cp . Work
	says err "samples have user stacks that end in code that Java made at run time"
	says err "started with $flag, its code keeps"
	record -q -F 499 --call-graph $way $native -o quiet.data -- java -cp . Work
	same "$way: words with -q" 0 "$(wc -l <err)"
	"$SEAM" report -i without.data >text 2>err
	ends without
	atleast "$way: stacks that end in Java's code" 50 "$cut"
	says text "end in code that Java made at run time"
	says text "$flag"
	says text "started with -XX:+DumpPerfMapAtExit, Java names this code"
	record -F 499 --call-graph $way $native -o with.data -- java $flag -cp . Work
	same "$way: record's words on the flag" 0 "$(grep -c -- "$flag" err)"
	"$SEAM" report -i with.data >text 2>err
	ends with
	atleast "$way: whole stacks through Java's code, with the flag" 50 "$whole"
	atmost "$way: stacks that end there, with the flag" "$((whole / 10))" "$cut"
	same "$way: words on the flag" 0 "$(grep -c -- "$flag" text)"
done

command -v erlc >/dev/null || { echo "no Erlang"; done_testing; }
cat >work.erl <<'E2'
-module(work).
-export([main/0]).
leaf(0, S) -> S;
leaf(N, S) -> leaf(N - 1, (S * 31 + N rem 7) band 16#ffffff).
middle(N) -> leaf(N, 1) + 1.
outer(N) -> middle(N) + middle(N div 2) + 1.
main() -> loop(0).
loop(S) -> case erlang:statistics(runtime) of {T, _} when T < 1500 -> loop(S + outer(20000)); _ -> halt() end.
E2
erlc work.erl 2>err || { echo "erlc does not work: $(cat err)"; done_testing; }
erl -noshell -noinput -eval 'jit = erlang:system_info(emu_flavor), halt().' >err 2>&1 || { echo "this Erlang makes no code"; done_testing; }
flag="+JPperf true"
swept() { "$SEAM" dump with.data 2>/dev/null | grep -o '/tmp/jit-[0-9]*\.dump$' | sort -u | while read -r dump; do
	pid=${dump##*-}
	rm -f "$dump" "/tmp/perf-${pid%.dump}.map"
done; }
for way in $ways; do
	record -F 499 -k monotonic --call-graph $way -o without.data -- erl -noshell -noinput -run work main
	says err "samples have user stacks that end in code that Erlang made at run time"
	says err "started with $flag, its code keeps"
	record -F 499 -k monotonic --call-graph $way -o with.data -- erl $flag -noshell -noinput -run work main
	same "$way: record's words on the flag" 0 "$(grep -c -- "$flag" err)"
	"$SEAM" script -F ip,sym -i with.data 2>err | awk 'BEGIN { RS = "" } /work:leaf/ { n++
		w += /work:leaf.*work:middle.*work:outer.*work:loop.*erts_beamasm:normal_exit/ } END { print n + 0, w + 0 }' >ends
	read -r n w <ends
	atleast "$way: Erlang's stacks" 50 "$n"
	# In a prologue the frame pointer is still the caller's: by it alone some 9 % of the stacks lack middle.
	case $way in fp*) tenths=8 ;; *) tenths=9 ;; esac
	atleast "$way: of $n whole ones" $((n * tenths / 10)) "$w"
	"$SEAM" report -i with.data >text 2>err
	same "$way: report's words on the flag" 0 "$(grep -c -- "$flag" text)"
	swept
done
record -F 499 -k monotonic --call-graph dwarf --keep-stacks -o with.data -- erl $flag -noshell -noinput -run work main
"$SEAM" script -F ip,sym -i with.data 2>err | awk 'BEGIN { RS = "" } /work:leaf/ { n++
	w += /work:leaf.*work:middle.*work:outer.*work:loop.*erts_beamasm:normal_exit/ } END { print n + 0, w + 0 }' >ends
read -r n w <ends
atleast "afterwards: of $n whole ones" $((n * 9 / 10)) "$w"
swept
done_testing
