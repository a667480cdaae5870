#!/bin/sh
# SPDX-License-Identifier: MIT
# seam record of a command: what is in the file, what is said, what the exit status is.
. "$(dirname "$0")/lib.sh"
can_record

echo "# a command"
record -F 2000 -o a.data -- sh -c "$BUSY"
same "status" 0 $status
atleast "samples" 50 "$(samples a.data)"
same "one line about user stacks" 1 "$(grep -c 'user stacks:' err)"
says err '^\[ seam record: [0-9,]* samples, .* in a.data; [0-9,]* lost[^]]*\]$'
nothing_lost err
same "closing line counts" "$(samples a.data)" \
	"$(sed -n 's/^\[ seam record: \([0-9,]*\) samples.*/\1/p' err | tr -d ,)"
atleast "mappings" 2 "$(count a.data MMAP2)"
same "one exec" 1 "$("$SEAM" dump a.data 2>/dev/null | grep -c 'PERF_RECORD_COMM exec: sh:')"
judge a.data
[ -f script.out ] && atleast "perf names the command" 50 "$(grep -c '^sh ' script.out)"

echo "# quiet"
record -q -o q.data -- true
same "nothing is said" "" "$(cat err)"

echo "# exit status"
record -o s.data -- sh -c 'exit 7'; same "exit 7" 7 $status
record -o s.data -- sh -c 'kill -TERM $$'; same "killed by SIGTERM" 143 $status
rm -f s.data s.data.old
record -o s.data -- ./not-there; same "not found" 127 $status
same "no file is left" no "$([ -e s.data ] && echo yes || echo no)"
touch noexec; record -o s.data -- ./noexec; same "not executable" 126 $status
record --no-such-option -- true; same "usage" 2 $status
record -F 0 -- true; same "usage: -F 0" 2 $status

echo "# an older file is kept, and comes back when nothing was recorded"
echo first >o.data
record -q -o o.data -- true
same "kept" first "$(cat o.data.old)"
cp o.data before; record -q -o o.data -- ./not-there
cmp -s o.data before && echo "ok: came back" || fail "the older file did not come back"

echo "# pipe: the command's output is not in the stream"
"$SEAM" record -F 2000 -o - -- sh -c "echo hello; $BUSY" 2>err | cat >pipe.data
atleast "samples" 50 "$("$SEAM" dump - <pipe.data 2>/dev/null | grep -c PERF_RECORD_SAMPLE)"
says err '^hello$'
judge pipe.data
[ ! -f script.out ] || atleast "perf reads what was in the stream" 50 "$(grep -c '^sh ' script.out)"
"$SEAM" record -F 2000 --call-graph fp -o - -- sh -c "$BUSY" 2>err >fp.pipe
if command -v perf >/dev/null; then
	perf script -i - <fp.pipe >script.out 2>judge.err
	atleast "perf reads the stream" 50 "$(grep -c '^sh ' script.out)"
fi

echo "# without standard files: no other file takes their place; the command finds them closed"
"$SEAM" record -q --call-graph fp -o closed.data -- sh -c 'exec 3>fds
	for i in 0 1 2; do readlink /proc/$PPID/fd/$i >&3; [ ! -e /proc/$$/fd/$i ] || echo "$i is open" >&3; done
	exit 7' <&- >&- 2>&-
same "status" 7 $?
same "files" "/dev/null /dev/null /dev/null" "$(paste -sd " " fds)"
"$SEAM" script -i closed.data 2>err >&-
same "what cannot be written is an error" 1 $?
says err "Bad file descriptor"

echo "# too few files, wherever it is noticed: what was there before is there, or a recording is"
for n in 8 9 10 11 12 13 14 15 16 17 18; do
	rm -f few.data*
	echo precious >few.data
	(ulimit -n $n; "$SEAM" record -q --call-graph fp -o few.data -- true) 2>err
	case $?$(head -c 8 few.data) in
	[1-9]*precious | 0PERFILE2) echo "ok: $n files" ;;
	*) fail "$n files: $(ls few.data*): $(cat err)" ;;
	esac
done

echo "# compressed"
record -z -F 2000 -o z.data -- sh -c "$BUSY"
atleast "samples" 50 "$(samples z.data)"
same "closing line counts" "$(samples z.data)" \
	"$(sed -n 's/^\[ seam record: \([0-9,]*\) samples.*/\1/p' err | tr -d ,)"

echo "# limits"
for seconds in 1 5 30; do # until the command came so far that it can be told
	rm -f ready
	record --duration $seconds -o d.data -- sh -c 'trap "echo told >told; exit 9" TERM; : >ready; while :; do sleep 0.05; done'
	[ ! -e ready ] || break
done
same "duration: status" 0 $status
same "duration: the command was told" told "$(cat told)"
record -D 600000 -o late.data -- sh -c "$BUSY"
same "-D longer than the command: samples" 0 "$(samples late.data)"
atleast "-D: its mappings are there" 2 "$(count late.data MMAP2)"
record -F max --max-size 20K -o m.data -- sh -c 'while :; do :; done'
same "max-size: status" 0 $status
limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
if [ "$limit" -gt 50000 ] && "$SEAM" record -a --call-graph none -F $limit --duration 0.1 -o all.data >/dev/null 2>err; then
	says err "50000 Hz instead of $limit: beyond that the clocks of all CPUs"
	same "clocks of all CPUs tick 50,000 times a second at most" 50000 "$("$SEAM" evlist -F all.data | sed -n 's/^cpu-clock: sample_freq=//p')"
	"$SEAM" record -q -a --call-graph none -F $limit --strict-freq --duration 0.1 -o all.data 2>err
	same "or not at all" 1 $?
fi

done_testing
