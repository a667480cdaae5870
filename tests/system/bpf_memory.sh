#!/bin/sh
# SPDX-License-Identifier: MIT
# --unwind-memory: many libraries and room for the tables of some of them. Stacks are whole all the same, tables leave and come, and it is
# said. The recorder keeps no copy of them in memory of its own.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
command -v python3 >/dev/null || skip "python3 is needed"
cc=${CC:-cc}

# 5,000 functions with frames of different size: about 50 KB of table. Each library has them, and a function of its own:
# tables go by contents.
python3 - >many.c <<'P'
print("void touch(volatile char *p);\nextern volatile int stop;\nvolatile unsigned long sum;")
for i in range(5000):
    print("int f%d(int n) { volatile char a[%d]; a[n] = 1; return n ? f%d(n - 1) + a[0] : a[n]; }"
          % (i, 16 + i % 7 * 40, max(0, i - 1)))
print("__attribute__((noinline)) void burn(long n) { while (n--) sum += n; }")
print("__attribute__((noinline)) int library_work(long n) { volatile char a[300]; a[0] = 1; burn(n); return a[0]; }")
P
cat >main.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "work.h"
__attribute__((noinline)) static void visit(const char *path, double ms)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*work)(long) = library ? (int (*)(long))dlsym(library, "library_work") : NULL;
	uint64_t end = work_until(ms);

	if (!work) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	while (work_goes_on(end))
		work(work_loops(100000));
}
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		visit(argv[i], 30);
	visit(argv[argc - 1], getenv("LAST_MS") ? atof(getenv("LAST_MS")) : 5000);
	return 0;
}
C
$cc -O1 -fPIC -fomit-frame-pointer -fno-optimize-sibling-calls -Wno-all -c many.c -o many.o 2>cc.err &&
	$cc -O2 -fomit-frame-pointer -D_GNU_SOURCE main.c -o visit -ldl || skip "no compiler: $(head -3 cc.err)"
own_function() { echo "int own$1(int n) { return n + $1; }" | $cc -O1 -fPIC -x c -c - -o own.o; }
i=0
libraries=
while [ $i -lt 40 ]; do
	own_function $i
	$cc -shared -Wl,--build-id=uuid many.o own.o -o lib$i.so || skip "no linker"
	libraries="$libraries ./lib$i.so"
	i=$((i + 1))
done
# shellcheck disable=SC2086
record -v -e cpu-clock -F 997 --unwind-memory 1M -o m.data -- ./visit $libraries
same "status" 0 $status
figure() { sed -n "s/.* \([0-9]*\) $1.*/\1/p" err | head -n 1; }
n=$(samples m.data)
says err 'not all unwind tables had room at once'
atleast "tables that left" 1 "$(figure 'times one left')"
atleast "tables that came late" 1 "$(figure 'times one came late')"
atleast "samples" 1000 "$n"
atmost "bytes of tables" 1048576 "$(figure 'bytes; ')"
atleast "stacks walked by the recorder meanwhile" 100 "$(figure 'walked by the recorder')"
atmost "and no longer when its table had come" $((n * 8 / 10)) "$(figure 'walked by the recorder')"
"$SEAM" script m.data >m.txt 2>/dev/null
awk -v RS= '/[ \t]burn[+ ]/ { n++; if (/[ \t]main[+ ]/) w++ } END { print n + 0, w + 0 }' m.txt >counts
read -r all whole <counts
atleast "stacks in the libraries" 1000 "$all"
same "of them whole" "$all" "$whole"

echo "# room for all"
# shellcheck disable=SC2086
record -v -e cpu-clock -F 997 --unwind-memory 64M --duration 1.5 -o all.data -- ./visit $libraries
if grep -q 'not all unwind tables' err; then fail "64M is enough"; else echo "ok: nothing to say"; fi

echo "# the recorder's own memory: 16 libraries with 1.2 MB of table each, one of which has no build-id"
python3 - >big.s <<'P'
print('.section .note.GNU-stack,"",@progbits\n.text')
for i in range(40000):
    print(f".globl g{i}\n.type g{i},@function\ng{i}:\n.cfi_startproc")
    for k in range(6):
        print(f"nop\n.cfi_def_cfa_offset {16 + 8 * ((i * 7 + k * 3) % 500)}")
    print(f"ret\n.cfi_endproc\n.size g{i},.-g{i}")
P
cat >work.c <<'C'
__attribute__((noinline)) void burn(long n) { volatile unsigned long sum = 0; while (n--) sum += n; }
__attribute__((noinline)) int library_work(long n) { volatile char a[300]; a[0] = 1; burn(n); return a[0]; }
C
$cc -c big.s -o big.o && $cc -O2 -fPIC -fomit-frame-pointer -c work.c -o work.o || skip "no assembler"
libraries=
for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	id=uuid
	[ $i != 3 ] || id=none
	own_function $i
	$cc -shared -nostdlib -Wl,--build-id=$id work.o big.o own.o -o big$i.so || skip "no linker"
	libraries="$libraries ./big$i.so"
done
all_mapped() { grep -q '/big15.so' "/proc/$(cat /proc/$1/task/$1/children | tr -d ' ')/maps" 2>/dev/null; }
# The recorder has 16 MB of tables, mapped from files in the cache or in memory of its own.
tables_made() {
	python3 - "$1" <<'P'
import re, sys
spans = [line.split("-", 1) for line in open(f"/proc/{sys.argv[1]}/maps") if "/seam/unwind/" in line]
files = sum(int(rest.split()[0], 16) - int(start, 16) for start, rest in spans)
own = int(re.search(r"RssAnon:\s*(\d+)", open(f"/proc/{sys.argv[1]}/status").read())[1]) * 1024
sys.exit(max(files, own) < 16000000)
P
}
# held CACHE MEMORY: KB of memory of its own that the recorder has when all is mapped, in $own.
held() {
	# shellcheck disable=SC2086
	LAST_MS=600000 XDG_CACHE_HOME=$1 "$SEAM" record -v -e cpu-clock -F 997 --unwind-memory $2 -o b.data -- ./visit $libraries 2>err &
	recorder=$!
	until_true "all is mapped" all_mapped $recorder
	until_true "there are tables of it" tables_made $recorder
	sleep 1
	own=$(awk '/^RssAnon/ { print $2 }' /proc/$recorder/status)
	kill $(cat /proc/$recorder/task/$recorder/children)
	wait $recorder
	all=$(sed -n 's/.* of \([0-9]*\) bytes of tables \([0-9]*\) are not.*/\1/p' err)
	not_pages=$(sed -n 's/.* of \([0-9]*\) bytes of tables \([0-9]*\) are not.*/\2/p' err)
}
held "$T/xdg" 2M # makes the tables
same "of tables that were made, not in files" 0 "$not_pages"
for memory in 2M 64M; do
	held "$T/xdg" $memory
	atleast "bytes of tables" 16000000 "$all"
	same "of them not in files" 0 "$not_pages"
	atmost "KB of the recorder's own memory, with $memory" $((all / 2048)) "$own"
done
held /dev/null 2M
atleast "without a directory for the cache: not in files" 16000000 "$not_pages"
atleast "KB of its own memory then" 16000 "$own"

record --unwind-memory 100K -o x.data -- true; same "less than 1M" 2 $status
done_testing
