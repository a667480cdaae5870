#!/bin/sh
# SPDX-License-Identifier: MIT
# A process replaces its program again and again while the recorder stands still: when it reads what was sampled, each stack is walked by
# what was mapped at its own time, however many programs ago that was.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf

# The one that execs stops its parent, the recorder, itself, and lets it go on: no time has to be guessed.
cat >programs.sh <<'END'
left=$1
[ $left = 60 ] && kill -STOP $PPID
END
busy 10 >>programs.sh # a clock tick or two: several samples
cat >>programs.sh <<'END'
[ $left -gt 0 ] && exec sh "$0" $((left - 1))
kill -CONT $PPID
END
record -v -e cpu-clock:u -F 997 -m 16M -o f.data -- sh programs.sh 65
same "status" 0 $status
"$SEAM" script --show-task-events -F comm,pid,tid,time f.data >tasks
atleast "programs" 66 "$(grep -c 'PERF_RECORD_COMM exec' tasks)"
walked=$(sed -n 's/.* \([0-9]*\) walked by the recorder.*/\1/p' err)
atleast "stacks that waited for the recorder" 50 "${walked:-0}"
all=$(samples f.data)
"$SEAM" script -F ip,sym f.data >script
whole=$(awk 'BEGIN { RS = "" } /__libc_start_main|_start/ { n++ } END { print n + 0 }' script)
# The first instructions of a program, and the loader's entry, begin outside of what has unwind information.
atleast "whole stacks, of $all" $((all * 97 / 100)) "$whole"
done_testing
