#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions whose memory is used again, by others of the same form, while samples come: no name is that of one that was there before. Each
# has a number, as have those that call it and that it calls. That of Java's is part of hotspot.sh, that of Python's of python_names.sh.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf

# of_one_number COMMAND...: records it, and looks at all stacks with two or more functions that have a number.
of_one_number() {
	record -F 1999 -e cpu-clock -o f.data -- "$@"
	same "status" 0 $status
	"$SEAM" script -F ip,sym -i f.data 2>script.err >f.txt; same "script" 0 $?
	awk -v RS= '{
		n = split($0, lines, "\n"); numbered = 0; bad = 0
		for (i = 1; i <= n; i++)
			if (match(lines[i], /(drive|gone|rest)_[0-7]/)) {
				number = substr(lines[i], RSTART + RLENGTH - 1, 1)
				if (numbered++ && number != first)
					bad = 1
				first = number
			}
		judged += numbered > 1
		wrong += bad
		if (bad && !shown++)
			print >"wrong.txt"
	} END { print judged + 0, wrong + 0 }' f.txt >said
	read -r judged wrong <said
	atleast "$1: stacks with a function that dies" 100 "$judged"
	same "$1: names of others in them" 0 "$wrong"
	[ "$wrong" = 0 ] || cat wrong.txt
}

ran=0
if ruby=$(command -v ruby3.1); then
	ran=1
	of_one_number "$ruby" "$HERE/runtimes/dies.rb" 2
fi
if php=$(command -v php8.2); then
	ran=1
	of_one_number "$php" "$HERE/runtimes/dies.php" 2 "$T"
fi
[ $ran = 1 ] || fail "there is neither ruby3.1 nor php8.2: scripts/setup test"
done_testing
