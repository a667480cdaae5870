#!/bin/sh
# SPDX-License-Identifier: MIT
# A program of Go that was stripped of symbols and debugging information answers as the whole one does: the same stacks, names,
# inlined calls and lines of one recording of copies; live, by BPF, its functions have their names. Position-independent ones, too.
. "$(dirname "$0")/lib.sh"
can_record
[ "$(uname -m)" = x86_64 ] || skip "x86_64 only"
command -v go >/dev/null || skip "no go"
export GOCACHE="$T/cache" GOFLAGS=-mod=mod GO111MODULE=off
mkdir whole bare
go build -o work-go "$TESTS/unwind_cases/work.go" 2>go.err || skip "go cannot build"

# The same code, without what a debugger reads. Files stand in trees, as --symfs wants them.
for tree in whole bare; do mkdir -p "$tree$T" && cp work-go "$tree$T/"; done
strip -s "bare$T/work-go"
record -q -e cpu-clock -F 997 --call-graph dwarf --keep-stacks -o f.data -- ./work-go 2 >/dev/null
for tree in whole bare; do
	"$SEAM" script -F comm,tid,time,ip,sym,srcline,state --symfs "$T/$tree" f.data >$tree.txt 2>$tree.err || fail "$tree: script"
	# The whole one's own information does not say that these begin a stack: it goes on to the system call that made the thread, to
	# what called mstart on the first thread, or says that no rule is known. Its names have the calling convention behind them, and
	# it has none where a signal returns.
	sed 's/\.abi0//; s,/no_unwind_info,,; s,/truncated$,,' $tree.txt |
		awk '/runtime\.(clone|sigreturn)$|\[unknown\]$/ || (top && /runtime\.rt0_go$/) { getline; next }
			!/^  / { top = /runtime\.mstart$/ } { print }' >$tree.same
done
atleast "lines of stacks" 5000 "$(wc -l <bare.txt)"
atleast "of inlined calls" 100 "$(grep -c '(inlined)' bare.txt)"
diff whole.same bare.same >differ
# Where a line's code ends another's begins: here and there DWARF and Go's own table disagree about one instruction.
grep '^[<>]' differ | grep -v '^[<>]   [^ ]*\.\(go\|s\):[0-9]*\( (inlined)\)*$' >frames
same "frames that differ" 0 "$(wc -l <frames)"
sed 's/^/# /' frames
atmost "source lines that differ" $(($(wc -l <bare.same) / 500)) "$(grep -c '^>' differ)"

# named PROGRAM: of a live recording, that its own functions are named and its stacks are whole as the whole program's are
named() {
	record -q -e cpu-clock -F 997 -o live.data -- "./$1" 1 >/dev/null
	"$SEAM" script -F ip,sym,dso,state live.data >live.txt 2>/dev/null || fail "$1: script"
	# But C's own code, whose names are stripped, where the C library calls it: what each thread of an externally linked program begins in.
	awk -v of="$1" 'held { if (!/libc\.so/) print held; held = "" } /\[unknown\]/ && index($0, of) { held = $0 }
		END { if (held) print held }' live.txt >nameless
	same "$1: code without a name" 0 "$(wc -l <nameless)"
	sed 's/^/# /' nameless
	atleast "$1: goroutines' stacks to their begin" 50 "$(grep -c '^[[:space:]]*[0-9a-f]* runtime.goexit' live.txt)"
	same "$1: guessed frames" 0 "$("$SEAM" report --stats live.data | grep -c 'guessed frames')"
}
(needs_bpf) || done_testing
cp "bare$T/work-go" work-bare
named work-bare
go build -buildmode=pie -ldflags='-s -w' -o work-pie "$TESTS/unwind_cases/work.go" 2>go.err || done_testing
named work-pie
# The system's linker puts Go's table among other data (before Go 1.26).
go build -buildmode=pie -ldflags='-s -w -linkmode=external' -o work-linked "$TESTS/unwind_cases/work.go" 2>go.err || done_testing
named work-linked
done_testing
