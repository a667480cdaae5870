#!/bin/sh
# SPDX-License-Identifier: MIT
# A build-id is what its file says, and anybody may write it. nobody runs a program with the build-id of another under root's
# record -a; then root records the true one, with the same cache: its stacks are whole, its lines are its own, both ways round.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root to become nobody"
for tool in setpriv objcopy; do command -v $tool >/dev/null || skip "$tool is needed"; done
can_record
CC=
for cc in cc gcc clang; do command -v $cc >/dev/null && CC=$cc && break; done
[ "$CC" ] || skip "no C compiler"

# The same functions, whose frames have other sizes; in the forged file lines are others, too.
cat >prog.c <<'C'
#include "work.h"
#define F __attribute__((noinline, noipa))
#ifdef FORGED
#define PAD(n) volatile long pad[(n) + 40] = { 1 }
#line 1000 "forged.c"
#else
#define PAD(n) volatile long pad[n] = { 1 }
#endif
static volatile unsigned long sink;
F unsigned long leaf(unsigned long n) { PAD(3); while (n--) sink += n ^ (unsigned long)pad[n % 3]; return sink; }
F unsigned long middle(unsigned long n) { PAD(9); pad[n % 9]++; return leaf(n) + (unsigned long)pad[1]; }
F unsigned long outer(unsigned long n) { PAD(17); pad[n % 17]++; return middle(n) + (unsigned long)pad[1]; }
int main(int argc, char **argv)
{
	unsigned long s = 0;

	for (uint64_t end = work_until(argc > 1 ? atof(argv[1]) : 500); work_goes_on(end);)
		s += outer(work_loops(20000));
	return s == 1;
}
C
id=0x00112233445566778899aabbccddeeff00112233
build() { $CC -O1 -g -fomit-frame-pointer -Wl,--build-id=$id "$@" prog.c; }
chmod 755 "$T"
mkdir true forged && build -o true/prog && build -DFORGED -o forged/prog || skip "the programs cannot be built"
chown -R 65534 forged
nobody="--reuid=65534 --regid=65534 --clear-groups"
setpriv $nobody forged/prog || skip "nobody cannot run it"

# whole FILE: samples of prog in leaf, and how many of these do not lie in middle, outer and main
stacks() { "$SEAM" script -F comm,ip,sym -i "$1" 2>script.err | awk '
	NF && !/^[ \t]/ { s = ""; mine = $1 == "prog"; next }
	NF && mine { s = s " " $2; next }
	!NF && mine && s ~ /^ leaf/ { n++; if (s !~ /^ leaf middle outer main /) { bad++; example = s } }
	!NF { mine = 0 }
	END { print n + 0, bad + 0; if (bad) print example > "example" }'; }
lines_of() { "$SEAM" report -i "$1" -s srcline --comm prog 2>/dev/null; }

# way NAME FIRST SECOND OPTION...: FIRST is run by its user, then SECOND is recorded, with one cache.
way() {
	name=$1 first=$2 second=$3
	shift 3
	XDG_CACHE_HOME=$T/cache-$name; export XDG_CACHE_HOME; mkdir "$XDG_CACHE_HOME"
	if [ "$first" = forged ]; then setpriv $nobody forged/prog 600000 & else true/prog 600000 & fi
	run=$!
	record -a -q -F 997 -o first.data "$@" -- sh "$AWAIT" 200 $run
	same "$name: record -a beside the $first one" 0 $status
	kill $run
	wait $run 2>/dev/null
	set -- "$(stacks first.data)" "$@"
	atleast "$name: stacks of the $first one" 20 "${1% *}"
	shift
	lines_of first.data >/dev/null
	record -q -F 997 -o second.data "$@" -- "$T/$second/prog"
	same "$name: record of the $second one" 0 $status
	set -- $(stacks second.data)
	atleast "$name: stacks of the $second one" 20 "$1"
	[ "$2" -eq 0 ] || echo "not whole:$(cat example)"
	same "$name: that are not whole" 0 "$2"
	lines_of second.data >lines
	case $second in
	true) says lines 'prog\.c:'; same "$name: lines of the forged one" 0 "$(grep -c 'forged\.c' lines)" ;;
	forged) says lines 'forged\.c:'; same "$name: lines of the true one" 0 "$(grep -c ' prog\.c:' lines)" ;;
	esac
	# By stack copies, from the same cache.
	record -q -F 497 -o copies.data --call-graph dwarf -- "$T/$second/prog"
	set -- $(stacks copies.data)
	atleast "$name: stacks of copies" 10 "$1"
	same "$name: of copies that are not whole" 0 "$2"
}
way default forged true
way back true forged
way copies forged true --call-graph dwarf

# An archive of both has both: as they were read before, they are read without the programs; with the stranger's first, and with
# the debugging information of each beside it.
of_both() { "$SEAM" script -F comm,ip,sym,srcline --comm prog -i "$@" 2>script.err; }
both() {
	name=$1 XDG_CACHE_HOME=$T/cache-archive-$1 TMPDIR=$T/tmp
	export XDG_CACHE_HOME TMPDIR
	mkdir "$XDG_CACHE_HOME"
	record -a -q -F 997 --call-graph dwarf --keep-stacks -o "$name.data" -- sh -c \
		'setpriv --reuid=65534 --regid=65534 --clear-groups forged/prog & true/prog; wait'
	same "$name: record of both" 0 $status
	of_both "$name.data" >"$name.before"
	atleast "$name: lines of the true one" 20 "$(grep -c '[ /]prog\.c:' "$name.before")"
	atleast "$name: lines of the forged one" 20 "$(grep -c 'forged\.c:' "$name.before")"
	"$SEAM" archive -q -i "$name.data" -o "$name.tar.zst" 2>err
	same "$name: archive" 0 $?
	mkdir gone && mv true forged gone
	rm -rf "$XDG_CACHE_HOME"
	of_both "$name.data" --archive "$name.tar.zst" >"$name.after"
	same "$name: by the archive, as before" "$(cksum <"$name.before")" "$(cksum <"$name.after")"
	mv gone/* . && rmdir gone
	rm -rf "$XDG_CACHE_HOME"
}
mkdir tmp
both whole
for dir in true forged; do
	objcopy --only-keep-debug $dir/prog $dir/$dir.debug &&
		objcopy --strip-all --add-gnu-debuglink=$dir/$dir.debug $dir/prog || fail "objcopy"
done
both split
done_testing
