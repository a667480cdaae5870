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
	((void (*)(int))at)(500000000);
	return 0;
}
END
cc -O1 -o jit jit.c || skip "cc does not work"
record -F 500 --call-graph fp -o jit.data -- ./jit
"$SEAM" script -i jit.data >text 2>err
atleast "frames with the name" 20 "$(grep -c ' made_at_run_time+0x' text)"
rm -f jit-*.dump
"$SEAM" script -i jit.data >text 2>err
same "names without the file" 0 "$(grep -c made_at_run_time text)"
done_testing
