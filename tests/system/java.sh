#!/bin/sh
# SPDX-License-Identifier: MIT
# Java's code keeps frame pointers only when asked to. Where its stacks end in that code, report names the flag, and with the
# flag they go on to the start of their thread.
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
for way in fp dwarf; do
	record -F 499 --call-graph $way -o without.data -- java -cp . Work
	"$SEAM" report -i without.data >text 2>err
	ends without
	atleast "$way: stacks that end in Java's code" 50 "$cut"
	says text "end in code that Java made at run time"
	says text "$flag"
	says text "started with -XX:+DumpPerfMapAtExit, Java names this code"
	record -F 499 --call-graph $way -o with.data -- java $flag -cp . Work
	"$SEAM" report -i with.data >text 2>err
	ends with
	atleast "$way: whole stacks through Java's code, with the flag" 50 "$whole"
	atmost "$way: stacks that end there, with the flag" "$((whole / 10))" "$cut"
	same "$way: words on the flag" 0 "$(grep -c -- "$flag" text)"
done
done_testing
