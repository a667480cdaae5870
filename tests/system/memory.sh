#!/bin/sh
# SPDX-License-Identifier: MIT
# memory.sh: commands that read, with too little memory: they say that and exit with 1; a sound recording is never called damaged, nor
# is a part of it given for all. How much is too little is found by trying, from where the program just starts to where it has enough.
. "$(dirname "$0")/lib.sh"
DEBUGINFOD_URLS=
export DEBUGINFOD_URLS
ulimit -c 0

# limited KB COMMAND...: out, err, status.
limited() {
	(
		ulimit -v "$1"
		shift
		exec timeout 100 "$SEAM" "$@"
	) >out 2>err
	status=$?
}
limited 300000 --version
[ "$status" = 0 ] || skip "the program does not start in 300 MB of addresses: a sanitizer's"
least=4000
until limited "$least" --version && [ "$status" = 0 ]; do least=$((least + 500)); done

# Why there are no names depends on what could be read of this machine's files.
same_part() { grep -v 'recorded with build-id'; }
# of RECORDING COMMAND...
of() {
	recording=$TESTS/../data/$1/perf.data
	shift
	"$SEAM" "$@" "$recording" 2>/dev/null | same_part >whole
	atleast "$*: lines with enough memory" 1 "$(wc -l <whole)"
	kb=$least short=0 wrong=0
	while [ "$kb" -lt $((least + 24000)) ]; do
		limited "$kb" "$@" "$recording"
		if [ "$status" = 0 ]; then
			same_part <out | cmp -s - whole || { wrong=$((wrong + 1)); echo "# $* at $kb KB: not all, status 0"; }
		elif [ "$status" = 1 ] && tail -n 1 err | grep -q 'out of memory$' &&
			! grep -qE 'damage|skipped|partial|cannot be unpacked|could not be|offset 0x' err; then
			short=$((short + 1))
		elif ! grep -q 'error while loading shared libraries' err; then
			wrong=$((wrong + 1))
			echo "# $* at $kb KB: status $status, $(tail -n 1 err)"
		fi
		kb=$((kb + 900))
	done
	same "$*: wrong ends" 0 "$wrong"
	atleast "$*: ends for want of memory" 1 "$short"
}
for f in gcc_d z_single; do
	of "$f" stat
	of "$f" dump
	of "$f" script -F comm,tid,time,ip
	of "$f" report --stdio -s comm
	of "$f" export --format folded -o -
done
done_testing
