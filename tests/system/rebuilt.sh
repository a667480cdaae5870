#!/bin/sh
# SPDX-License-Identifier: MIT
# A program without a build-id that was built anew after it was recorded: neither names nor frames come of the new file, and
# the report says why. As long as it is the same, it has both.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
can_record
CC=
for cc in cc gcc clang; do command -v $cc >/dev/null && CC=$cc && break; done
[ "$CC" ] || skip "no C compiler"

# The functions of the second program stand in another order and have other frames: addresses of the first name the wrong ones.
cat >prog.c <<'C'
#include "work.h"
#define F __attribute__((noinline, noipa))
static volatile unsigned long sink;
#ifdef AGAIN
F unsigned long wrong_one(unsigned long n) { volatile long pad[96] = { 1 }; while (n--) sink += pad[n % 96]; return sink; }
F unsigned long wrong_two(unsigned long n) { volatile long pad[24] = { 1 }; while (n--) sink ^= pad[n % 24]; return sink; }
F unsigned long wrong_three(unsigned long n) { return wrong_one(n) + wrong_two(n); }
#else
F unsigned long right_leaf(unsigned long n) { while (n--) sink += n; return sink; }
F unsigned long right_middle(unsigned long n) { return right_leaf(n) + 1; }
#endif
int main(void)
{
	unsigned long s = 0;

	for (uint64_t end = work_until(250); work_goes_on(end);)
#ifdef AGAIN
		s += wrong_three(work_loops(100000));
#else
		s += right_middle(work_loops(100000));
#endif
	return s == 1;
}
C
build() { $CC -O1 -g -fomit-frame-pointer -Wl,--build-id=none "$@" prog.c; }
build -o prog || skip "the program cannot be built"
build -DAGAIN -o again || skip "the program cannot be built"
readelf -n prog 2>/dev/null | grep -q 'Build ID' && skip "this linker writes a build-id all the same"

# shows NAME: what seam says of NAME.data, all in one
shows() {
	"$SEAM" script -F comm,ip,sym,dso,srcline -i "$1.data" >script.txt 2>/dev/null
	"$SEAM" report "$1.data" >report.txt 2>/dev/null
	"$SEAM" report --json "$1.data" >report.json 2>/dev/null
	"$SEAM" annotate right_leaf "$1.data" >annotate.txt 2>&1
	"$SEAM" export --format folded "$1.data" >folded.txt 2>/dev/null
	cat script.txt report.txt report.json annotate.txt folded.txt
}
# frames NAME: how many there are in user space
frames() { "$SEAM" script -F ip -i "$1.data" 2>/dev/null | grep '^[[:space:]]' | grep -vc '^[[:space:]]*ffff'; }
right() { # NAME: all is known of it
	shows "$1" >all
	atleast "$1: names" 20 "$(grep -c 'right_leaf' script.txt)"
	atleast "$1: lines" 20 "$(grep -c 'prog.c:' script.txt)"
}
wrong() { # NAME REASON
	shows "$1" >all
	same "$1: names of another program" 0 "$(grep -cE 'wrong_|prog\.c:' all)"
	says annotate.txt "right_leaf" # that there is none
	says report.txt "prog.*recorded without a build-id, .*$2"
	says report.txt "symfs DIR takes the files below it as they are"
}

recorders() { # NAME: fp.NAME.data, dwarf.NAME.data, by seam; perf.NAME.data by perf
	"$SEAM" record -q -F 999 -g -o fp.data -- ./prog 2>err || fail "recording: $(cat err)"
	"$SEAM" record -q -F 999 --call-graph dwarf,4096 --keep-stacks -o dwarf.data -- ./prog 2>err || fail "recording: $(cat err)"
	all="fp dwarf"
	if command -v perf >/dev/null && perf record -q -B -N -k mono -F 999 -e cpu-clock --call-graph dwarf,4096 -o perf.data -- ./prog >err 2>&1; then
		all="$all perf"
	fi
}

recorders
for f in $all; do right $f; done
whole=$(frames dwarf)
atleast "frames" "$(($(samples dwarf.data) * 3))" "$whole"

echo "# written over: the same inode"
inode=$(stat -c %i prog)
cat again >prog
same "the inode" "$inode" "$(stat -c %i prog)"
for f in $all; do wrong $f "changed since"; done
says report.txt "stack copies: .*no unwind information"
atmost "frames" "$(($(samples dwarf.data) * 2))" "$(frames dwarf)"
"$SEAM" archive dwarf.data -o dwarf.archive >said 2>&1
says said "left out: .*prog: recorded without a build-id, and the file there was changed since"
mkdir root
cp --parents "$T/prog" root
"$SEAM" report --symfs "$T/root" fp.data >report.txt 2>/dev/null
says report.txt "wrong_" # whoever gives a tree vouches for it

echo "# written over, with the old time"
build -o prog && recorders && right dwarf
touch -r prog stamp
cat again >prog
touch -r stamp prog
for f in $all; do wrong $f "changed since"; done

echo "# what is done to the file and not to what is in it: its identity is the contents"
# still NAME: fp.data and dwarf.data, recorded by seam, have what they had
still() {
	for f in fp dwarf; do
		shows $f >all
		atleast "$1, $f: names" 20 "$(grep -c 'right_leaf' script.txt)"
		atleast "$1, $f: lines" 20 "$(grep -c 'prog.c:' script.txt)"
		same "$1, $f: nothing is said of another file" 0 "$(grep -c 'recorded without a build-id' all)"
	done
	atleast "$1: frames" "$whole" "$(frames dwarf)"
}
build -DAGAIN -o again
build -o prog && cp prog same && recorders && right dwarf
whole=$(frames dwarf)
chmod 700 prog && still chmod
ln prog linked && still ln
rm linked && touch prog && still touch
cp --preserve prog kept && cat same >prog && still "written over with the same"
cp --preserve same new && mv new prog && still "cp --preserve and mv"
rm prog && cp same prog && still "removed and copied back"
if [ -f perf.data ]; then
	# perf keeps nothing that tells its contents: what may have been written to, as another was above with its old time, is refused.
	wrong perf "changed since\|another one now"
fi
"$SEAM" convert -q fp.data -o converted.data 2>err || fail "converting: $(cat err)"
right converted
if command -v perf >/dev/null; then
	# On a busy machine a page of a stack may not be there, and the stack is deferred.
	perf report -i "$(for_perf fp.data)" --stdio >perf.out 2>perf.err </dev/null
	same "perf reads the file" 0 $?
	grep -iE 'feature|unknown|section|fail' perf.err >complaints
	same "perf says nothing of it" "" "$(cat complaints)"
fi

echo "# and what was changed is refused, whatever else is as it was"
size=$(stat -c %s same)
[ "$(stat -c %s again)" -gt "$size" ] && long=again short=same || long=same short=again
truncate -s "$(stat -c %s $long)" $short # zeros behind the end of an ELF file are nothing to it
cat same >prog && chmod 755 prog && recorders && right dwarf
whole=$(frames dwarf)
touch -r prog stamp
cat again >prog && touch -r stamp prog
same "the size" "$(stat -c %s same)" "$(stat -c %s prog)"
for f in fp dwarf; do wrong $f "changed since"; done
cat same >prog && still "and put back"
cp again new && touch -r stamp new && mv new prog
for f in fp dwarf; do wrong $f "another one now"; done

echo "# changed while it was recorded: what was in it when that ended says nothing of what was mapped"
cat same >prog
cat >while.sh <<S
./prog
cat $T/again >$T/prog
S
"$SEAM" record -q -F 999 -g -o while.data -- sh while.sh 2>err || fail "recording: $(cat err)"
shows while >all
same "while: names" 0 "$(grep -cE 'wrong_|right_' script.txt)"

echo "# what is done to it while it is recorded, and not to what is in it"
# meanwhile COMMAND: that, between two runs of the program, once the recorder has met it
meanwhile() {
	rm -f prog linked fp.data
	cp same prog && sleep 0.1
	"$SEAM" record -q -F 999 -g -o fp.data -- sh -c "./prog; until grep -aq '$T/prog' fp.data; do sleep 0.05; done; $1; ./prog" 2>err || fail "recording: $(cat err)"
	shows fp >all
	atleast "$1: names" 20 "$(grep -c 'right_leaf' script.txt)"
	same "$1: nothing is said of another file" 0 "$(grep -c 'recorded without a build-id' all)"
}
meanwhile "chmod 700 prog"
meanwhile "ln prog linked"
meanwhile "touch -a prog"
meanwhile "touch prog"

echo "# a recorder that was killed leaves nothing of contents: unchanged it is believed, else not"
cat same >prog && sleep 0.1
"$SEAM" record -q -F 999 -g -o killed.data -- sh -c 'echo $$ >loop; while :; do ./prog; done' 2>/dev/null &
recorder=$!
# Names of BPF programs of others come before samples: the file's size does not tell.
sampled() { [ "$(samples killed.data)" -ge 100 ]; }
until_true "100 samples are written" sampled
kill -KILL $recorder
wait $recorder 2>/dev/null
kill "$(cat loop)"
until_true "prog ends" sh -c 'test "$(cat /proc/[0-9]*/comm 2>/dev/null | grep -cx prog)" = 0'
right killed
chmod 700 prog
wrong killed "changed since, or its rights or links alone: nothing in the recording tells which"

if command -v go >/dev/null; then
	echo "# Go has a build-id of its own, which is a hash of the contents"
	mkdir gohome
	cat >prog.go <<'GO'
package main

import (
	"syscall"
	"time"
)

var sink uint64

// The CPU time of all threads.
func had() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

//go:noinline
func right_leaf(n uint64) { for i := uint64(0); i < n; i++ { sink += i } }

//go:noinline
func right_middle(n uint64) { right_leaf(n); sink++ }

func main() {
	for had() < 400*time.Millisecond { right_middle(100000) }
}
GO
	sed 's/right_/other_/g; s/sink += i/sink ^= i + 1/' prog.go >again.go
	gobuild() { HOME=$T/gohome GOFLAGS= GO111MODULE=off go build "$@"; }
	if gobuild -o goprog prog.go && gobuild -o goagain again.go; then
		"$SEAM" record -q -F 999 -g -o go.data -- ./goprog 2>err || fail "recording: $(cat err)"
		gonames() {
			"$SEAM" report --no-children -g none -s sym go.data >report.txt 2>&1
			grep -c 'main\.right_leaf' report.txt
		}
		same "go: names" 1 "$(gonames)"
		cp goprog gosame
		chmod 700 goprog && same "go: chmod" 1 "$(gonames)"
		ln goprog golinked && same "go: ln" 1 "$(gonames)"
		rm goprog && cp gosame goprog && same "go: a copy" 1 "$(gonames)"
		cat goagain >goprog
		same "go: another program" 0 "$(gonames)"
		same "go: names of another program" 0 "$(grep -c main.other_ report.txt)"
		says report.txt "goprog.*another one now"
	else
		echo "no go: it does not work here"
	fi
fi

echo "# another file at its path"
build -o prog && recorders && right dwarf
mv again prog
for f in $all; do wrong $f "another one now"; done

echo "# built anew while all was recorded: both were at the path"
build -o prog
cat >both.sh <<S
./prog
$CC -O1 -g -fomit-frame-pointer -Wl,--build-id=none -DAGAIN -o again prog.c
mv again prog
./prog
S
"$SEAM" record -q -F 999 -g -o both.data -- sh both.sh 2>err || fail "recording: $(cat err)"
shows both >all
same "names" 0 "$(grep -cE 'wrong_|right_' script.txt)"
says report.txt "was not always the same file"

echo "# built while it was recorded, and not since: it is what it was"
cat >once.sh <<S
$CC -O1 -g -fomit-frame-pointer -Wl,--build-id=none -o prog prog.c
./prog
S
"$SEAM" record -q -F 999 -g -o once.data -- sh once.sh 2>err || fail "recording: $(cat err)"
right once
echo "# what perf inject -j writes is younger than its mappings, and older than the recording's end"
build -o jitted-1-1.so
cp jitted-1-1.so copy
cat >inject.sh <<S
./jitted-1-1.so
cat copy >jitted-1-1.so
S
"$SEAM" record -q -F 999 -g -o injected.data -- sh inject.sh 2>err || fail "recording: $(cat err)"
right injected
sleep 1.1
cat copy >jitted-1-1.so
right injected
printf x >>jitted-1-1.so
shows injected >all
same "injected: names, of a file written since" 0 "$(grep -cE 'right_' script.txt)"
says report.txt "jitted-1-1.so.*changed since"
done_testing
