#!/bin/sh
# SPDX-License-Identifier: MIT
# Who awaits a task of asyncio, in every CPython that is here and notes it (3.14 and later): direct awaiting, gather, TaskGroup, shield,
# asynchronous generators, __await__, tasks of tasks; where several await, and where tasks await each other in a circle.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
. "$HERE/python/pythons.sh"

while read -r each; do
	in_root "$each" "$HERE/python/tasks_program.py"
	# shellcheck disable=SC2086 # words
	if $runs "$python" -c 'import sys; sys.exit(sys.version_info < (3, 14))'; then
		record --python -F 997 -e cpu-clock -o f.data -- $runs "$python" "$program" 2
		same "status" 0 $status
		"$SEAM" script -F ip,sym -i f.data 2>script.err >f.txt; same "script" 0 $?
		if python3 "$HERE/python/tasks_check.py" "$HERE/python/tasks_program.py" <f.txt >said; then
			echo "ok: $each: $(tail -n 1 said)" | tee -a all
		else
			fail "$each: $(tail -n 20 said)"
		fi
		# By which offsets a task is read (src/runtimes/python.c): who awaits it, what it is, its coroutine.
		# shellcheck disable=SC2016 # Python's own
		where='import _asyncio, sys; print(getattr(_asyncio, "__file__", sys.executable))'
		file=${runs:+$root}$($runs "$python" -c "$where")
		said=$(objdump -s -j .AsyncioDebug "$file" | awk 'NR > 4 { print $2 $3, $4 $5 }' | tr -d '\n')
		[ -z "$said" ] || case $said in
		*6000000000000000*6c00000000000000*8000000000000000*) echo "ok: offsets of a task" ;;
		*) fail "$each has other offsets of a task: $said" ;;
		esac
	fi
	[ -z "$runs" ] || rm -f "$root$program"
done <list
[ -s all ] || skip "no CPython of 3.14 or later"
done_testing
