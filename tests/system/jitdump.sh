#!/bin/sh
# SPDX-License-Identifier: MIT
# A program that makes code at run time and tells its name in jit-PID.dump only: named without an inject pass.
set -u
. "$(dirname "$0")/lib.sh"
command -v cc >/dev/null || skip "no cc"
[ "$(uname -m)" = x86_64 ] || skip "the code it makes is x86_64's"
can_record
cat >jit.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "work.h"
/* push rbp; mov rbp,rsp; mov ecx,edi; loop: dec ecx; jnz loop; pop rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };
static void u32(FILE *f, uint32_t v) { fwrite(&v, 4, 1, f); }
static void u64(FILE *f, uint64_t v) { fwrite(&v, 8, 1, f); }
int main(void)
{
	static const char name[] = "made_at_run_time";
	unsigned char *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	f = fopen(path, "w+");
	u32(f, 0x4a695444); u32(f, 1); u32(f, 40); u32(f, 62); u32(f, 0); u32(f, getpid()); u64(f, 0); u64(f, 0);
	fflush(f);
	mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
	memcpy(at, code, sizeof(code));
	u32(f, 0); u32(f, 16 + 40 + sizeof(name) + sizeof(code)); u64(f, 1);
	u32(f, getpid()); u32(f, getpid()); u64(f, (uintptr_t)at); u64(f, (uintptr_t)at); u64(f, sizeof(code)); u64(f, 1);
	fwrite(name, sizeof(name), 1, f);
	fwrite(code, sizeof(code), 1, f);
	fclose(f);
	for (uint64_t end = work_until(500); work_goes_on(end);)
		((void (*)(int))at)(work_loops(1000000));
	return 0;
}
END
cc -O1 -o jit jit.c || skip "cc does not work"
record -F 500 --call-graph fp -o jit.data -- ./jit
"$SEAM" script -i jit.data >text 2>err
atleast "frames with the name" 20 "$(grep -c ' made_at_run_time+0x' text)"
# It goes while an archive is made, when its names are known: the archive goes without it.
mkfifo late
"$SEAM" archive -o late -i jit.data 2>err &
pid=$!
# In openat(2), of a pipe that nobody reads, and for more than a moment.
opening() { grep -q '^257 ' /proc/$pid/syscall; }
opens() { opening && sleep 0.3 && opening; }
[ ! -r /proc/self/syscall ] || until_true "the archive is begun" opens
rm -f jit-[0-9]*.dump
cat late >late.tar.zst
wait $pid
same "archive of a file that goes: status" 0 $?
[ ! -r /proc/self/syscall ] || says err "left out: .*/jit-[0-9]*.dump: No such file"
"$SEAM" report --archive late.tar.zst -i jit.data >text 2>err
same "it can be read" 0 $?
"$SEAM" script -i jit.data >text 2>err
same "names without the file" 0 "$(grep -c made_at_run_time text)"

# A perf map that an earlier process of the same number left is not believed; the process's own is.
cat >mapped.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "work.h"
static unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };
int main(int argc, char **argv)
{
	unsigned char *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	fprintf(f, "%lx %zx in_the_map\n", (unsigned long)at, sizeof(code));
	fclose(f);
	puts(path);
	memcpy(at, code, sizeof(code));
	for (uint64_t end = work_until(500); work_goes_on(end);)
		((void (*)(int))at)(work_loops(1000000));
	return argc > 5 && argv;
}
END
cc -O1 -o mapped mapped.c || skip "cc does not work"
record -k monotonic -F 500 --call-graph fp -o map.data -- ./mapped >map.path
"$SEAM" script -F ip,sym,dso -i map.data >text 2>err
atleast "frames with a name of the process's map" 20 "$(grep -c in_the_map text)"
touch -d '1 hour ago' "$(cat map.path)"
"$SEAM" script -F ip,sym,dso -i map.data >text 2>err
same "names from an older process's map" 0 "$(grep -c in_the_map text)"
"$SEAM" report -i map.data >text 2>err
says text 'last written before the process began'
rm -f "$(cat map.path)"

# Code in the place of other code: each sample has the name of its own time, as the program tells when it ran what.
cat >redecode.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "work.h"
static unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };
static FILE *f;
static void u32(uint32_t v) { fwrite(&v, 4, 1, f); }
static void u64(uint64_t v) { fwrite(&v, 8, 1, f); }
static uint64_t now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
static void made(unsigned char *at, const char *name, uint64_t index)
{
	memcpy(at, code, sizeof(code));
	u32(0); u32(16 + 40 + strlen(name) + 1 + sizeof(code)); u64(now());
	u32(getpid()); u32(getpid()); u64((uintptr_t)at); u64((uintptr_t)at); u64(sizeof(code)); u64(index);
	fwrite(name, strlen(name) + 1, 1, f);
	fwrite(code, sizeof(code), 1, f);
	fflush(f);
}
static void ran(unsigned char *at, const char *name)
{
	uint64_t from = now();
	for (uint64_t end = work_until(300); work_goes_on(end);) ((void (*)(int))at)(work_loops(1000000));
	printf("%s %.9f %.9f\n", name, from / 1e9, now() / 1e9);
}
int main(void)
{
	unsigned char *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	uint64_t from, to;

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	f = fopen(path, "w+");
	u32(0x4a695444); u32(1); u32(40); u32(62); u32(0); u32(getpid()); u64(now()); u64(0);
	fflush(f);
	mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
	made(at, "stays_there", 1);
	made(at + 64, "made_first", 2);
	ran(at + 64, "made_first");
	made(at + 64, "made_second", 3);
	ran(at + 64, "made_second");
	/* moved into the place of another */
	made(at + 128, "made_third", 4);
	ran(at + 128, "made_third");
	memcpy(at + 128, code, sizeof(code));
	u32(1); u32(16 + 48); u64(now());
	u32(getpid()); u32(getpid()); u64((uintptr_t)at + 64); u64((uintptr_t)at + 64); u64((uintptr_t)at + 128); u64(sizeof(code)); u64(3);
	fflush(f);
	ran(at + 128, "made_second");
	ran(at, "stays_there");
	return 0;
}
END
cc -O1 -o again redecode.c || skip "cc does not work"
cat >times.py <<'END'
import re, sys
phases = [(name, float(a), float(b)) for name, a, b in (line.split() for line in open("phases"))]
seen, wrong, unnamed, time, first = {}, [], 0, None, False
for line in open("text"):
    head = re.match(r"\S.*?\s([0-9]+\.[0-9]+):", line)
    frame = re.match(r"\s+([0-9a-f]+) (\S+) \((.*)\)", line)
    if head:
        time, first = float(head.group(1)), True
    elif frame and first:
        first = False
        name = frame.group(2).split("+")[0]
        for want, a, b in phases:
            if a + 0.002 < time < b - 0.002 and "perf-" in frame.group(3):
                seen[want] = seen.get(want, 0) + 1
                if name == "[unknown]": unnamed += 1
                elif name != want: wrong.append((time, name, want))
print("samples by what ran:", seen, "unnamed:", unnamed, "wrong:", len(wrong))
assert not wrong, wrong[:5]
assert all(seen.get(want, 0) > 20 for want, a, b in phases), seen
assert unnamed == 0 if sys.argv[1] == "all" else unnamed >= sum(n for want, n in seen.items() if want != "stays_there"), unnamed
END
record -k monotonic -F 500 --call-graph fp -o again.data -- ./again >phases
"$SEAM" script -F comm,time,ip,sym,dso -i again.data --ns >text 2>err
python3 times.py all || fail "names by time"
"$SEAM" report -i again.data --no-children -g none --csv -s dso,sym >csv 2>err
says csv 'perf-[0-9]*.map,.*made_first'
"$SEAM" archive -q -o again.tar.zst again.data
mkdir away && mv jit-[0-9]*.dump away/
"$SEAM" script -F comm,time,ip,sym,dso -i again.data --ns --archive again.tar.zst >text 2>err
python3 times.py all || fail "names by time, from an archive"
mv away/* .
# By another clock nobody knows which it was: no name, and why.
record -k monotonic_raw -F 500 --call-graph fp -o again.data -- ./again >phases
"$SEAM" script -F comm,ip,sym,dso -i again.data >text 2>err
same "names that may be wrong" 0 "$(grep -c 'made_first\|made_second\|made_third' text)"
atleast "names that cannot" 20 "$(grep -c stays_there text)"
"$SEAM" report -i again.data --no-children -g none >text 2>err
says text 'code was replaced'
done_testing
