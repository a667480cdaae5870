#!/bin/sh
# SPDX-License-Identifier: MIT
# Java's methods in the stacks, without a flag: of programs whose chains are known by construction, interpreted and compiled by each
# compiler, in every HotSpot that is here (17, 21, 25); while classes come and go; from the start of a program on; of virtual threads,
# whose frames wait on the heap. Names, order and lines are right. By hand: SEAM_JAVA_TRUTH=10000 is milliseconds of CPU time, for both rates; SEAM_JAVAS has more paths of java.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
BENCH=$HERE/../../bench/interpreters

echo "# a program that is none, whose memory is an enemy's"
cc -O1 -rdynamic -o fake "$HERE/hotspot/fake.c" || fail "cc"
record -F 1999 -e cpu-clock --runtimes hotspot -o f.data -- ./fake 1
same "status" 0 $status
same "words on what was not loaded" 0 "$(grep -c 'does not load' err)"
"$SEAM" script -F comm,ip,sym,dso -i f.data >f.txt 2>script.err; same "script" 0 $?
atleast "samples" 50 "$(grep -c '^fake' f.txt)"
same "methods" 0 "$(grep -c 'java::' f.txt)"

command -v javac >/dev/null || skip "no javac"
javac --release 17 -d . "$HERE/hotspot/Chains.java" "$HERE/hotspot/Churn.java" "$HERE/hotspot/Locks.java" "$BENCH/Ways.java" 2>err || skip "javac does not work: $(cat err)"
for java in "$(command -v java)" /usr/lib/jvm/*/bin/java ${SEAM_JAVAS:-}; do
	[ -x "$java" ] && java=$(readlink -f "$java") && version=$("$java" -version 2>&1) || continue
	case $version in *'version "17.'* | *'version "21.'* | *'version "25.'*) echo "$java" ;; esac
done | sort -u >list
[ -s list ] || skip "no HotSpot of a version that is known"

# running HZ PROGRAM COMMAND...: records a program that runs already.
running() {
	hz=$1 program=$2
	shift 2
	"$@" >out &
	pid=$!
	until_true "$program is ready" grep -q ready out
	record -F "$hz" -e cpu-clock -p $pid -o f.data -- sh "$AWAIT" "${SEAM_JAVA_TRUTH:-1200}" $pid
	kill $pid
	wait $pid 2>/dev/null
	same "status" 0 $status
}

# truth JAVA PROGRAM HZ FLAG...
truth() {
	java=$1 program=$2 hz=$3
	shift 3
	running "$hz" "$program" "$java" "$@" -cp . "$program" 600
	"$SEAM" script -F comm,ip,sym,dso,srcline -i f.data 2>script.err >f.txt; same "script" 0 $?
	# All of Java is called by one of HotSpot's stubs.
	says f.txt 'java::\[StubRoutines ('
	if python3 "$HERE/hotspot/chains_check.py" "$HERE/hotspot/$program.java" <f.txt >said; then
		echo "ok: $program $* at $hz Hz: $(tail -n 1 said)"
		[ "$program" = Churn ] || tail -n 1 said >>all
	else
		fail "$program $* at $hz Hz: $(head -n 100 said; tail -n 1 said)"
	fi
}

# virtual JAVA HZ FLAG...: threads that yield when they are deepest. Their stacks begin where the thread does.
virtual() {
	java=$1 hz=$2
	shift 2
	running "$hz" Ways "$java" "$@" -cp . Ways 600 2
	"$SEAM" script -F comm,ip,sym,dso -i f.data 2>script.err >f.txt; same "script" 0 $?
	if python3 "$BENCH/judge.py" f.txt >said; then echo "ok: Ways $* at $hz Hz: $(tail -n 1 said)"; else fail "Ways $*: $(cat said)"; fi
	awk 'BEGIN { RS = "" } /Ways.f0/ && /Continuation.run:/ { all++; whole += /VirtualThread.run:/ }
		/Ways.f0.*VirtualThread.run:.*continuation ?stubs/ { barrier++ }
		END { print whole + 0 " of " all + 0 " from their beginning on, " barrier + 0 " with a barrier between"
			exit !(all > 50 && whole >= all * 0.9 && barrier <= all * 0.05) }' f.txt >said ||
		fail "virtual threads, $*: $(cat said)"
	echo "ok: virtual threads, $*: $(cat said)"
}

# locks JAVA: stubs that save all registers before their frames are whole. Code of 17 and 21 takes such a lock without.
locks() {
	case $("$1" -version 2>&1) in *'version "25.'*) least=50 ;; *) least=0 ;; esac
	record -F 3999 -e cpu-clock -o f.data -- "$1" -XX:TieredStopAtLevel=1 -XX:-Inline -cp . Locks 1500
	same "status" 0 $status
	"$SEAM" script -F comm,ip,sym,state -i f.data 2>script.err >f.txt; same "script" 0 $?
	if python3 "$HERE/hotspot/locks_check.py" $least <f.txt >said; then echo "ok: Locks: $(cat said)"; else fail "Locks: $(cat said)"; fi
	"$SEAM" report -i f.data --json >f.json 2>report.err; same "report" 0 $?
	python3 -c 'import json, sys
ends = json.load(open("f.json"))["runtime_ends"]
print(ends)
sys.exit(ends.get("apart", 0) * 100 >= sum(ends.values()))' >said || fail "stacks that do not fit: $(cat said)"
}
while read -r each; do
	echo "# $each"
	locks "$each"
	for flag in -server -Xint -XX:TieredStopAtLevel=1; do
		truth "$each" Chains 997 $flag
		[ -z "${SEAM_JAVA_TRUTH:-}" ] || truth "$each" Chains 3997 $flag
	done
	truth "$each" Churn 997 -XX:ReservedCodeCacheSize=16m
	"$each" -version 2>&1 | grep -q '"17' || for flag in -server -Xint -XX:+UseSerialGC -XX:+UseZGC -XX:-UseCompressedOops; do
		virtual "$each" 997 $flag
	done
done <list
# All together, because each has a thousand here.
if awk -F '[ ,]+' '{ whole += $1; lacking += $3 } END { print "whole " whole ", lacking " lacking; exit !(whole * 100 >= 99 * (whole + lacking)) }' all >said; then
	echo "ok: $(cat said)"
else
	fail "too many are not whole: $(cat said)"
fi

echo "# a program that is started"
java=$(head -n 1 list)
record -v -F 997 -e cpu-clock -o f.data -- "$java" -cp . Chains 2
# Each 10 ms, as what is inlined is in its memory alone; else it would be each 250.
atleast "rounds in which it was read" 30 "$(sed -n 's/.* \([0-9]*\) rounds,.*/\1/p' err)"
"$SEAM" report -i f.data >text 2>report.err; same "report" 0 $?
says text '\[hotspot\] *\[\.\] java::Chains\.'
"$SEAM" script -F comm,ip,sym,dso,srcline -i f.data 2>script.err >f.txt
if python3 "$HERE/hotspot/chains_check.py" "$HERE/hotspot/Chains.java" <f.txt >said; then echo "ok: $(tail -n 1 said)"; else fail "$(head -n 60 said)"; fi

echo "# what is inlined cannot be asked for any more: the program has gone when the recorder looks"
"$SEAM" record -q -F 997 -e cpu-clock --runtimes hotspot -o u.data -- "$java" -cp . Chains 2 >out 2>err &
seam=$!
until_true "the program has begun" grep -q ready out
kill -STOP $seam
until_true "it has ended" sh -c "! pgrep -P $seam java >/dev/null || grep -q Z /proc/\$(pgrep -P $seam java)/stat"
kill -CONT $seam
wait $seam
"$SEAM" report -i u.data --json >u.json 2>report.err; same "report" 0 $?
atleast "stacks that say so" 20 "$(python3 -c 'import json; print(json.load(open("u.json"))["runtime_ends"]["unnamed"])')"

echo "# without them"
record -F 997 -e cpu-clock --runtimes python -o f.data -- "$java" -cp . Chains 1
same "names without" 0 "$("$SEAM" dump f.data 2>/dev/null | grep -c java::)"
done_testing
