#!/bin/sh
# SPDX-License-Identifier: MIT
# A recording is cut while a command has it mapped: the command says so, and ends with code 1, not by a signal.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
can_record
record -q -F 4000 -o whole.data -- sh -c "$BUSY"
same "record" 0 $status
"$SEAM" script -i whole.data >whole.txt 2>err
same "script of the whole" 0 $?
# More than a pipe holds, so that script waits in its middle.
[ "$(wc -c <whole.txt)" -gt 200000 ] || skip "the recording is too small: $(wc -c <whole.txt) bytes of text"
mkfifo pipe
for command in script dump; do
	cp whole.data cut.data
	"$SEAM" $command -i cut.data >pipe 2>err & pid=$!
	{ head -c 1000 >/dev/null; truncate -s 4096 cut.data; cat >/dev/null; } <pipe
	wait $pid
	same "$command of a file that is cut: its code" 1 $?
	says err 'was cut'
done
done_testing
