#!/bin/sh
# SPDX-License-Identifier: MIT
# seam record -p, -t, -a, -C: what runs already is there with its names and mappings.
. "$(dirname "$0")/lib.sh"
can_record
command -v python3 >/dev/null || skip "python3 is needed for threads"

cat >threads.py <<'P'
import sys, threading, time
def spin():
    while True:
        sum(range(2000))
for i in range(2):
    threading.Thread(target=spin, daemon=True).start()
time.sleep(3600)
P
python3 -S threads.py &
busy=$!
trap 'kill $busy 2>/dev/null; cd /; rm -rf "$T"' EXIT
three() { [ "$(ls /proc/$busy/task | wc -l)" -ge 3 ]; }
until_true "python3 starts threads" three
# A python3 that is a script of its own starts the real one as a child.
[ "$(ls /proc/$busy/task | wc -l)" -ge 3 ] || skip "python3 did not start its threads under its own pid"

# pid/tid pairs of the samples of a file
tids() { "$SEAM" dump "$1" 2>/dev/null | sed -n 's/.*PERF_RECORD_SAMPLE(.*): \([0-9-]*\/[0-9-]*\): .*/\1/p' | sort -u; }

echo "# -p: all threads of a process that runs already"
record -p $busy -F 1000 -o p.data -- sh "$AWAIT" 400 $busy
same "status" 0 $status
atleast "samples" 20 "$(samples p.data)"
same "only that process" "$busy" "$(tids p.data | cut -d/ -f1 | sort -u | tr '\n' ' ' | sed 's/ $//')"
atleast "its threads" 2 "$(tids p.data | wc -l)"
atleast "names of its threads" 3 "$(count p.data COMM)"
atleast "its mappings" 3 "$(count p.data MMAP2)"
judge p.data

echo "# -t: one thread of it"
tid=$(ls /proc/$busy/task | tail -1)
record -t "$tid" -F 1000 -o t.data -- sh "$AWAIT" 300 $busy
same "only that thread" "$busy/$tid" "$(tids t.data)"
judge t.data

echo "# -a: it is among all others, and so is its name"
record -a -F 500 -o all.data -- sh "$AWAIT" 400 $busy
if [ $status -eq 0 ]; then
	atleast "its samples" 10 "$("$SEAM" dump all.data 2>/dev/null | grep PERF_RECORD_SAMPLE | grep -c " $busy/")"
	atleast "names" 5 "$(count all.data COMM)"
	judge all.data
	record -C 0 -F 500 -o c.data -- sleep 0.3
	same "-C 0: status" 0 $status
	same "-C 0: samples of other CPUs" 0 "$("$SEAM" dump c.data 2>/dev/null | grep PERF_RECORD_SAMPLE | grep -cE '^[1-9][0-9]* [0-9]+ 0x')"
	judge c.data
else
	echo "not system-wide here: $(cat err)"
fi

echo "# nothing is named: the whole system, which is said"
"$SEAM" record -F 500 -o whole.data 2>err &
pid=$!
said() { grep -q 'until Ctrl-C' err && [ "$(samples whole.data)" -gt 0 ] || ! kill -0 $pid 2>/dev/null; }
until_true "it is said, and it samples" said
kill -TERM $pid
wait $pid
if [ -s whole.data ]; then says err 'the whole system is recorded until Ctrl-C'; else echo "not system-wide here: $(cat err)"; fi

echo "# a file that was replaced while it runs: the build-id is that of what runs"
if command -v readelf >/dev/null && [ "$(id -u)" = 0 ]; then
	id() { readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'; }
	ran=$(id "$(command -v sleep)"); now=$(id "$(command -v ls)")
	cp "$(command -v sleep)" mover; ./mover 600 & mover=$!
	cp "$(command -v ls)" other
	until_true "the program runs" grep -q '^mover$' /proc/$mover/comm
	mv other mover
	record -p $mover --duration 0.1 -o moved.data
	kill $mover
	"$SEAM" dump moved.data 2>/dev/null | grep 'PERF_RECORD_MMAP2.*mover' >maps
	if [ -n "$ran" ] && [ "$ran" != "$now" ]; then says maps "<$ran>"; fi
fi

# begun: waits until the recorder (-v, in the background) has seen what runs, and lets the process go on, which waits for the file end.
begun() { attached err; : >end; }
rm -f end err
echo "# -p ends with its process"
sh -c 'until [ -e end ]; do sleep 0.1; done' & ends=$!
"$SEAM" record -v -p $ends -o end.data 2>err & pid=$!
begun
wait $pid
same "status" 0 $?
wait $ends

echo "# ... though nobody waits for it, whoever walks the stacks"
cat >unwaited.py <<'PY'
import os, subprocess, sys, time
wait = "import os, time\nwhile not os.path.exists('end'): time.sleep(0.1)\n"
# A process that ends; one whose first thread has ended before it began to be looked at, and whose other one ends.
threads = "import ctypes, threading; threading.Thread(target=exec, args=(%r,)).start(); ctypes.CDLL(None).syscall(60, 0)" % wait
child = subprocess.Popen([sys.executable, "-c", wait if sys.argv[1] == "one" else threads])
print(child.pid, flush=True)
time.sleep(3600)
PY
for how in one threads; do
	[ "$how $(uname -m)" != "threads aarch64" ] || continue # exit has another number there
	for mode in fp dwarf,defer; do
		rm -f end err
		python3 unwaited.py $how >unwaited & parent=$!
		until [ -s unwaited ]; do sleep 0.1; done
		[ $how = one ] || until grep -q 'State:.Z' "/proc/$(cat unwaited)/status"; do sleep 0.1; done
		timeout -s INT 300 "$SEAM" record -v --call-graph $mode -p "$(cat unwaited)" -o end.data 2>err & pid=$!
		begun
		wait $pid
		same "$how, $mode: status" 0 $?
		same "$how, $mode: it has exited" "Z 1" "$(awk '{ print $3, $20 }' "/proc/$(cat unwaited)/stat")"
		kill $parent
		rm unwaited
	done
done

echo "# -t: a thread that replaces the program of its process, whose number it then has"
cat >replaces.py <<'PY'
import os, sys, threading, time
def run():
    print(threading.get_native_id(), flush=True)
    while not os.path.exists("end"):
        time.sleep(0.1)
    os.execv("/bin/sh", ["sh", "-c", sys.argv[1]])
threading.Thread(target=run).start()
PY
for mode in fp dwarf,defer; do
	rm -f thread
	rm -f end err
	python3 replaces.py "$BUSY" >thread & replaced=$!
	until [ -s thread ]; do sleep 0.1; done
	timeout -s INT 300 "$SEAM" record -v -F 1000 --call-graph $mode -t "$(cat thread)" -o end.data 2>err & pid=$!
	begun
	wait $pid
	same "$mode: status" 0 $?
	atleast "$mode: samples of the new program" 50 "$("$SEAM" script -i end.data -F tid,comm 2>/dev/null | grep -c "^ *sh *$replaced *$")"
	wait $replaced
done

echo "# what is not there"
record -p 999999999 -o x.data; same "no such process" 1 $status
same "no file is left" no "$([ -e x.data ] && echo yes || echo no)"
record -p 1 -t 1 -o x.data; same "-p and -t" 2 $status

echo "# children are followed, unless -i"
record -F 2000 -o kids.data -- sh -c "sh -c '$BUSY'; exit 0"
record -F 2000 -i -o alone.data -- sh -c "sh -c '$BUSY'; exit 0"
atmost "-i: processes" 1 "$(tids alone.data | wc -l)"
atleast "samples of the child" $(($(samples alone.data) + 20)) "$(samples kids.data)"

done_testing
