#!/bin/sh
# SPDX-License-Identifier: MIT
# Anybody may map tens of thousands of executable pages, and change them as fast as system calls go. What the recorder does for one process, and for
# all, has a bound: that it was reached is said, and the stacks of others are whole.
HERE=$(cd "${0%/*}" && pwd)
. "$HERE/lib.sh"
can_record
needs_bpf
cp "$HERE/work.h" .
${CC:-cc} -O2 -fomit-frame-pointer -D_GNU_SOURCE -o crowd -xc - 2>cc.err <<'END_C' || skip "no compiler: $(head -n 3 cc.err)"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "work.h"

static char *at;
static int file;

static int map_page(size_t i)
{
	return mmap(at + i * 4096, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0) != MAP_FAILED;
}

static __attribute__((noinline)) double inner(double s, int ms, size_t changes, size_t n)
{
	size_t k = 0;

	for (uint64_t end = work_until(ms); work_goes_on(end);) {
		for (unsigned i = 0; i < 1000; i++)
			s += s * 1e-9;
		for (size_t i = 0; i < changes; i++, k++)
			if (!map_page(k % n))
				exit(1);
	}
	return s;
}

/* crowd PAGES CHANGES MS: that many mappings of one page, so many new ones a step, for so much CPU time; 0: it sleeps. */
int main(int argc, char **argv)
{
	size_t n = argc > 3 ? strtoul(argv[1], NULL, 0) : 0, i;

	file = open("/proc/self/exe", O_RDONLY);
	at = mmap(NULL, (n + 1) * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < n && map_page(i); i++)
		;
	if (argc < 4 || i < n)
		return 77;
	puts("ready");
	fflush(stdout);
	if (!atoi(argv[3]))
		return (int)sleep(600);
	return inner(1, atoi(argv[3]), strtoul(argv[2], NULL, 0), n) < 0;
}
END_C
./crowd 60000 0 1 >/dev/null || skip "no process may have so many mappings (vm.max_map_count)"
said() { sed -n 's/^ *\([0-9]*\) times a process had too many executable mappings.*/\1/p' err | grep . || echo 0; }

# Eight that sleep, beside one that works.
pids=
for i in 1 2 3 4 5 6 7 8; do
	timeout 300 ./crowd 60000 0 0 >ready.$i &
	pids="$pids $!"
done
for i in 1 2 3 4 5 6 7 8; do
	while [ ! -s ready.$i ]; do sleep 0.1; done
done
# Rings for all that a busy machine says while the recorder has no turn: what finds no room there is said, and is not looked at here.
"$SEAM" record -a -m 64M -F 499 --call-graph dwarf,defer -o a.data -- ./crowd 10 0 1000 >/dev/null 2>err || fail "record -a"
kill $pids
cat err
atleast "it is said that some are not followed" 1 "$(said)"
"$SEAM" script --comms crowd -F ip,sym a.data >stacks 2>/dev/null
n=$(grep -c ' inner' stacks)
atleast "samples of the one that works" 100 "$n"
atleast "of them to main" $((n * 9 / 10)) "$(grep -c ' main' stacks)"

# One that changes what it has all the time, and the same with few mappings.
"$SEAM" record -F 499 --call-graph dwarf,defer -o b.data -- ./crowd 60000 10 1000 >/dev/null 2>err || fail "record"
cat err
atleast "it is said of the one that changes them" 1 "$(said)"
"$SEAM" record -F 499 --call-graph dwarf,defer -o c.data -- ./crowd 50 0 1000 >/dev/null 2>err || fail "record"
cat err
same "and not of one with few" 0 "$(said)"

# Many that sleep, each of which has few enough; beside one that works, began after them and is not the recorder's.
pids=
i=0
while [ $i -lt 130 ]; do
	timeout 300 ./crowd 1900 0 0 >few.$i &
	pids="$pids $!"
	i=$((i + 1))
done
i=0
while [ $i -lt 130 ]; do
	while [ ! -s few.$i ]; do sleep 0.1; done
	i=$((i + 1))
done
cp crowd late
timeout 300 ./late 10 0 100000 >few.late &
late=$!
while [ ! -s few.late ]; do sleep 0.1; done
"$SEAM" record -a -F 499 --call-graph dwarf,defer -o d.data -- ./crowd 10 0 1000 >/dev/null 2>err || fail "record -a"
kill $pids $late
cat err
atleast "it is said that some were not read before the beginning" 25 \
	"$(sed -n 's/^ *\([0-9]*\) processes were not looked at before.*/\1/p' err | grep . || echo 0)"
same "none costs too much for itself" 0 "$(said)"
for comm in crowd late; do
	"$SEAM" script --comms $comm -F ip,sym d.data >stacks 2>/dev/null
	n=$(grep -c ' inner' stacks)
	atleast "samples of $comm" 10 "$n"
	atleast "of them to main" $((n * 8 / 10)) "$(grep -c ' main' stacks)"
done
done_testing
