#!/bin/sh
# SPDX-License-Identifier: MIT
# Code that a process in other namespaces makes: its perf map and its jitdump are where it sees them, under the pid by
# which it knows itself; and an archive keeps them for when it is gone.
set -u
. "$(dirname "$0")/lib.sh"
command -v cc >/dev/null || skip "no cc"
[ "$(uname -m)" = x86_64 ] || skip "the code it makes is x86_64's"
unshare -m -p -f --mount-proc true 2>why || skip "no namespaces here: $(cat why)"
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
int main(int argc, char **argv)
{
	static const char name[] = "in_the_jitdump";
	unsigned char *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int dump = argc > 1 && !strcmp(argv[1], "dump");
	char path[64];
	FILE *f;

	memcpy(at, code, sizeof(code));
	snprintf(path, sizeof(path), dump ? "/tmp/jit-%d.dump" : "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w+");
	if (dump) {
		u32(f, 0x4a695444); u32(f, 1); u32(f, 40); u32(f, 62); u32(f, 0); u32(f, getpid()); u64(f, 0); u64(f, 0);
		fflush(f);
		mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
		u32(f, 0); u32(f, 16 + 40 + sizeof(name) + sizeof(code)); u64(f, 1);
		u32(f, getpid()); u32(f, getpid()); u64(f, (uintptr_t)at); u64(f, (uintptr_t)at); u64(f, sizeof(code)); u64(f, 1);
		fwrite(name, sizeof(name), 1, f);
		fwrite(code, sizeof(code), 1, f);
	} else
		fprintf(f, "%lx %zx in_the_perf_map\n", (unsigned long)at, sizeof(code));
	fclose(f);
	for (;;)
		((void (*)(int))at)(work_loops(1000000));
}
END
cc -O1 -o jit jit.c || skip "cc does not work"
for kind in map dump; do
	mkdir -p m
	unshare -m -p -f --mount-proc sh -c "mount -t tmpfs none m && cp jit m && mount --move m /tmp && exec /tmp/jit $kind" 2>err &
	outer=$!
	pid=
	tries=0
	while [ -z "$pid" ] && [ $tries -lt 600 ]; do
		sleep 0.1
		pid=$(cat "/proc/$outer/task/$outer/children" 2>/dev/null | tr -d ' ')
		[ -n "$pid" ] && ls "/proc/$pid/root/tmp/" 2>/dev/null | grep -q '\.map$\|\.dump$' || pid=
		tries=$((tries + 1))
	done
	[ -n "$pid" ] || skip "the process did not start: $(cat err)"
	record -F 500 --call-graph fp -o $kind.data -p "$pid" -- sh "$AWAIT" 400 "$pid"
	"$SEAM" script -i $kind.data >text.$kind 2>err
	"$SEAM" archive -q -i $kind.data 2>err
	kill -9 "$pid"
	wait $outer 2>/dev/null
done
atleast "frames with the map's name" 20 "$(grep -c ' in_the_perf_map+0x' text.map)"
atleast "frames with the jitdump's name" 20 "$(grep -c ' in_the_jitdump+0x' text.dump)"
"$SEAM" script -i map.data >text 2>/dev/null
same "names when it is gone" 0 "$(grep -c in_the_perf_map text)"
for kind in map dump; do
	"$SEAM" script --archive $kind.data.seam.tar.zst -i $kind.data >text 2>err
	same "by the archive of the $kind, what it was" "$(grep -c in_the text.$kind)" "$(grep -c in_the text)"
done
done_testing
