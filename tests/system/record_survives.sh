#!/bin/sh
# SPDX-License-Identifier: MIT
# What is in the file when the recorder, the disk or the reader of its pipe goes away.
. "$(dirname "$0")/lib.sh"
can_record

# taken PID: waits until a signal that was sent to it is not pending any more, so that the next one is another, and a moment longer.
none_pending() { ! grep -qE '^(Sig|Shd)Pnd:.*[1-9a-f]' "/proc/$1/status" 2>/dev/null; }
taken() { until_true "a signal is taken" none_pending "$1"; sleep 0.6; }

echo "# kill -9: what was flushed is there"
"$SEAM" record -q -F 2000 -o k.data -- sh -c 'echo $$ >command; while :; do :; done' &
pid=$!
grown k.data 60000
kill -9 $pid; wait $pid 2>/dev/null
same "the command runs on" 0 "$(kill -0 "$(cat command)"; echo $?)"
kill -9 "$(cat command)"
atleast "samples after kill -9" 100 "$(samples k.data)"
"$SEAM" dump k.data >/dev/null 2>dump.err
says dump.err 'did not finish'
if command -v perf >/dev/null 2>&1 && ! "$SEAM" dump -t CALLCHAIN_DEFERRED k.data 2>/dev/null | grep -q .; then
	atleast "samples that perf reads of it" 100 \
		"$(perf report --stats -i k.data 2>/dev/null </dev/null | awk '/SAMPLE events/ { print $3; exit }')"
fi

echo "# kill -9: copies of the stack are unwound, though the file does not name its machine"
case $(uname -m) in
x86_64 | aarch64)
	"$SEAM" record -q -F 2000 --call-graph dwarf,2048 --keep-stacks -o c.data -- sh -c 'echo $$ >command; while :; do :; done' &
	pid=$!
	grown c.data 300000
	kill -9 $pid; wait $pid 2>/dev/null
	kill -9 "$(cat command)"
	same "its machine is not named" "" "$("$SEAM" header c.data 2>/dev/null | grep '^# arch')"
	atleast "stacks of three frames and more" 50 "$("$SEAM" script -F comm,ip c.data 2>/dev/null | awk -v RS= 'NF >= 4' | grep -c '^sh')"
	;;
esac

echo "# SIGTERM and SIGINT to the recorder: the file is finished, the command is told"
"$SEAM" record -F 1000 -o s.data -- sh -c "trap 'echo told >told; exit 5' TERM; while :; do :; done" 2>err &
pid=$!
grown s.data 10000
kill -TERM $pid; wait $pid
same "TERM: the command's status" 5 $?
same "TERM: the command was told" told "$(cat told 2>/dev/null)"
nothing_lost err
judge s.data
# A shell lets what it runs in the background ignore SIGINT: the command goes on, the recorder waits.
"$SEAM" record -F 1000 -o i.data -- sh -c 'while [ ! -e go ]; do sleep 0.05; done; exit 6' 2>err &
pid=$!
grown i.data 1000
kill -INT $pid
until_true "the recorder ends" grep -q 'lost \]' err
nothing_lost err
judge i.data
touch go; wait $pid
same "INT: the command's status" 6 $?

echo "# a second signal leaves at once, with a file that can be read"
"$SEAM" record -F 1000 -o two.data -- sh -c 'echo $$ >command; trap "" TERM; exec sleep 300' 2>err &
pid=$!
grown two.data 1000
kill -TERM $pid; taken $pid; kill -TERM $pid; wait $pid
same "status" 143 $?
kill -9 "$(cat command)"
"$SEAM" dump two.data >/dev/null 2>&1; same "it can be read" 0 $?

echo "# a full disk"
mkdir small
if mount -t tmpfs -o size=512k none small 2>/dev/null; then
	# While the recorder stands still, more is sampled than there is room for.
	"$SEAM" record -F 4000 -o small/full.data -- sh -c "while [ ! -e held ]; do :; done; $(busy 2000); echo on >ran" 2>err &
	pid=$!
	grown small/full.data 40000
	kill -STOP $pid
	: >held
	until_true "the command has worked" test -s ran
	kill -CONT $pid
	wait $pid
	status=$?
	same "status says that it failed" 1 $status
	same "the command ran on" on "$(cat ran)"
	says err 'No space left on device'
	atleast "samples" 100 "$(samples small/full.data)"
	same "the closing line tells what is in the file" "$(samples small/full.data)" \
		"$(sed -n 's/^\[ seam record: \([0-9,]*\) samples.*/\1/p' err | tr -d ,)"
	says err 'not written \]$'
	judge small/full.data
	umount small
else
	echo "no full disk: a tmpfs cannot be mounted here"
fi

echo "# the reader of the pipe goes away"
{ "$SEAM" record -F 20000 -o - -- sh -c "$BUSY" 2>err; echo $? >status; } | head -c 200000 >part.data
same "status says that it failed" 1 "$(cat status)"
says err 'reader of the pipe is gone'
"$SEAM" dump - <part.data >dump.out 2>/dev/null
atleast "samples that went through" 50 "$(grep -c PERF_RECORD_SAMPLE dump.out)"
same "nothing is called complete" 0 "$(grep -c complete err)"
# A command that goes on is waited for: what the reader has is not complete for that.
{ "$SEAM" record -F 20000 -o - -- sh -c "$BUSY; sleep 2" 2>err; } | head -c 200000 >part.data
says err 'reader of the pipe is gone'
says err 'waiting for process'
same "nor then" 0 "$(grep -c complete err)"

echo "# the reader of the pipe does not read: signals still end the recorder"
mkfifo pipe
sleep 300 <pipe & reader=$!
"$SEAM" record -q -F 20000 -o - -- sh -c 'echo $$ >command; while :; do :; done' >pipe 2>err &
pid=$!
# One of its threads waits in a write(2) to it.
waits() { cut -d ' ' -f 1,2 /proc/$pid/task/*/syscall 2>/dev/null | grep -qxE '(1|64) 0x[0-9a-f]+'; }
[ ! -r /proc/self/syscall ] || until_true "the pipe is full" waits
kill -TERM $pid; taken $pid; kill -TERM $pid 2>/dev/null; wait $pid
same "status" 143 $?
kill -9 "$(cat command)" 2>/dev/null
kill $reader 2>/dev/null
wait 2>/dev/null

echo "# rings that are too small: the loss is counted"
rm -f held ran
# While the recorder stands still: rings of one page have no room for what is sampled. Not by a high frequency, at which a command hardly
# gets on where timers cost much.
"$SEAM" record -m 1 -F 4000 -o loss.data -- sh -c "while [ ! -e held ]; do :; done; $BUSY; echo on >ran" 2>err &
pid=$!
grown loss.data 10000
kill -STOP $pid
: >held
until_true "the command has worked" test -s ran
kill -CONT $pid
wait $pid
atleast "records lost" 100 "$(sed -n 's/.*; \([0-9,]*\) lost.*/\1/p' err | tr -d ,)"
# Each loss has its cause in a line of its own: no room, a BPF program that was interrupted, a machine that was too busy.
says err '[0-9] records lost\|[0-9] samples skipped by the kernel\|[0-9] records that waited in the rings'
judge loss.data

done_testing
