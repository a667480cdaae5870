#!/bin/sh
# SPDX-License-Identifier: MIT
# seam record --call-graph dwarf: stack copies unwound while recording are true and whole, on programs whose
# mappings change all the time and on programs of the distribution; the file is an ordinary one.
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
can_record
[ "$(uname -m)" = x86_64 ] || skip "the scenes are written for x86_64"
command -v python3 >/dev/null || skip "python3 reads the stacks"
CC=
for cc in cc gcc clang; do command -v $cc >/dev/null && CC=$cc && break; done
[ "$CC" ] || skip "no C compiler for the scenes"

# complete FILE: hundredths of a percent of walks that reached the outermost frame, of those whose stack could
# be read, by the recorder's words
complete() {
	awk '/user stacks unwound/ { n = $3; whole = $7 * n / 100 } /could not read the stack/ { n -= $1 }
		END { printf "%d", n ? whole * 10000 / n + 0.5 : 0 }' "$1"
}
script() { "$SEAM" script -F comm,pid,tid,time,ip,sym,dso -i "$1" 2>/dev/null; }

echo "# dlopen, code made at run time, exec, threads, forks: no wrong frame"
flags="-O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls"
$CC $flags -rdynamic -o scenes "$here/live/scenes.c" -ldl -lpthread || skip "the scenes cannot be built"
$CC $flags -shared -fPIC -DINNER=inner_a -DWORDS=4 -o plug_a.so "$here/live/plug.c" &&
	$CC $flags -shared -fPIC -DINNER=inner_b -DWORDS=40 -o plug_b.so "$here/live/plug.c" ||
	skip "the objects cannot be built"
record --call-graph dwarf,16384 -F 2000 -o scenes.data -- ./scenes 1500
same "status" 0 $status
says err "user stacks: copies of 16384 bytes, unwound while recording"
atleast "complete, 1/100 %" 9800 "$(complete err)"
script scenes.data >scenes.txt
if python3 "$here/live/scenes.py" scenes.txt; then echo "ok: true stacks"; else fail "stacks that cannot be"; fi
judge scenes.data
# perf 6.1 prints addresses of its own making, so what it read is compared.
"$SEAM" dump scenes.data 2>/dev/null | grep -E '^\.{5} *[0-9]+: ' | awk '{ print $2, $3 }' >ours
perf report -D -i scenes.data 2>/dev/null | grep -E '^\.{5} *[0-9]+: ' | awk '{ print $2, $3 }' >theirs
[ -s ours ] || fail "no callchains in the dump"
if command -v perf >/dev/null; then
	if cmp -s ours theirs; then echo "ok: perf shows the same user stacks"; else fail "perf shows other user stacks"; fi
fi
"$SEAM" dump scenes.data | grep -q 'user stack: size' && fail "copies are in the file"

echo "# how each walk ended is in the file, and other readers do not mind"
"$SEAM" stat scenes.data >stat
"$SEAM" report --json scenes.data >report.json
says stat "stacks unwound from copies of 16384 bytes, which were not kept: "
if python3 - report.json "$(awk '/user stacks unwound/ { print $3 }' err)" <<'PY'
import json, sys
u = json.load(open(sys.argv[1]))["unwound_recording"]
ends = "complete truncated no_unwind_info bad_rule bad_memory below_sp other_stack no_progress limit".split()
walked = sum(u[e] for e in ends)
said = u["late"] + u["in_exec"] + u["no_registers"] + u["no_stack"] + u["too_long"]
print(u)
sys.exit(not (walked == int(sys.argv[2]) and walked + said == u["samples"] and not u["not_said"] and u["copy_bytes"] == 16384))
PY
then echo "ok: as the recorder said"; else fail "the file and the recorder disagree"; fi
# The marks alone taken away: perf must not see a difference.
python3 "$here/live/unmark.py" scenes.data plain.data
same "marks" 0 $?
if command -v perf >/dev/null; then
	for f in scenes plain; do
		perf script -F +misc -i $f.data >$f.perf 2>$f.perferr
		perf report --stdio -i $f.data 2>>$f.perferr | grep -v '(Tip: ' >>$f.perf
	done
	[ -s scenes.perf ] || fail "perf shows nothing"
	if cmp -s scenes.perf plain.perf && cmp -s scenes.perferr plain.perferr; then echo "ok: the same to perf"; else fail "perf shows the marks"; fi
fi

echo "# several threads unwind the same"
record --call-graph dwarf --unwind-threads 3 -F 2000 -o threads.data -- ./scenes 700
same "status" 0 $status
script threads.data >threads.txt
if python3 "$here/live/scenes.py" threads.txt; then echo "ok: true stacks"; else fail "stacks that cannot be"; fi

echo "# a process that runs already: its mappings and tables are there before the first sample"
./scenes 600000 &
busy=$!
record -p $busy --call-graph dwarf -F 2000 -o attached.data -- sh "$AWAIT" 800 $busy
same "status" 0 $status
kill $busy
script attached.data >attached.txt
if python3 "$here/live/scenes.py" attached.txt; then echo "ok: true stacks"; else fail "stacks that cannot be"; fi
wait $busy 2>/dev/null

echo "# programs of the distribution, no frame pointers"
cat >work.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) { char *p = malloc(100); for (int i = 0; i < 100; i++) p[i] = (char)i; return printf("%s", p); }
C
i=0; while [ $i -lt 400 ]; do echo "int f$i(int a){int s=0;for(int i=0;i<a;i++)s+=i*$i%(a+1);return s;}"; i=$((i + 1)); done >>work.c
whole() { # NAME SIZE COMMAND...
	name=$1 size=$2
	shift 2
	record --call-graph dwarf,$size -F 997 -o "$name.data" -- "$@" >/dev/null
	same "$name: status" 0 $status
	atleast "$name: samples" 20 "$(samples "$name.data")"
	atleast "$name: complete, 1/100 %" 9900 "$(complete err)"
	grep '%)' err
	judge "$name.data"
}
# A python3 that is a script of its own starts the real one as a child.
python=$(python3 -c 'import sys; print(sys.executable)')
whole python3 65528 "$python" -S -c 'import json, time
while time.process_time() < 0.5: json.loads(json.dumps([{"a": i, "b": str(i)} for i in range(1000)]))'
whole gcc 65528 sh "$REPEAT" 400 $CC -O2 -c work.c -o work.o
command -v sqlite3 >/dev/null && whole sqlite3 16384 sh "$REPEAT" 400 sqlite3 :memory: \
	"with recursive c(x) as (select 1 union all select x+1 from c where x<600000) select sum(x*x%7) from c;"
if command -v xz >/dev/null; then
	head -c 1500000 "$SEAM" >input
	whole xz 16384 sh "$REPEAT" 400 xz -kc input
fi

echo "# --keep-stacks: perf's own form, unwound when read"
record --call-graph dwarf,16384 --keep-stacks -F 2000 -o keep.data -- ./scenes 1500
same "status" 0 $status
says err "copies of 16384 bytes, kept in the file"
judge keep.data
script keep.data >keep.txt
if python3 "$here/live/scenes.py" keep.txt; then echo "ok: true stacks"; else fail "stacks that cannot be"; fi
atleast "bytes a sample" 8000 $(($(stat -c %s keep.data) / $(samples keep.data)))
atmost "bytes a sample, unwound" 1500 $(($(stat -c %s scenes.data) / $(samples scenes.data)))

echo "# what cannot be"
record --call-graph dwarf,0 -o no.data -- true
same "size 0: status" 2 $status
record --call-graph dwarf,65529 -o no.data -- true
same "size over the most: status" 2 $status
record --unwind-threads 0 -o no.data -- true
same "no threads: status" 2 $status
done_testing
