#!/bin/sh
# SPDX-License-Identifier: MIT
# Source lines that a jitdump tells: the sampled addresses have the lines that the program told of them, whatever its addresses
# count from, at the time of the sample; those of node's and LLVM's code are what their dumps say, read here by other rules (their own).
set -u
. "$(dirname "$0")/lib.sh"
command -v cc >/dev/null || skip "no cc"
[ "$(uname -m)" = x86_64 ] || skip "the code it makes is x86_64's"
can_record
cat >made.c <<'END_C'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "work.h"
/* push rbp; mov rbp,rsp; two loops of their own lines: mov ecx,edi; again: dec ecx; jnz again; pop rbp; ret */
static unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc,
	0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };
static const int begins[] = { 0, 4, 10, 16 };
static FILE *f;
static int added;
static void u32(uint32_t v) { fwrite(&v, 4, 1, f); }
static void u64(uint64_t v) { fwrite(&v, 8, 1, f); }
static uint64_t now(void) { return work_cpu_of(CLOCK_MONOTONIC); }
static void made(unsigned char *at, const char *name, uint64_t index, int line)
{
	static const char file[] = "/not/here/source.js";
	memcpy(at, code, sizeof(code));
	u32(2); u32(16 + 16 + 4 * 16 + sizeof(file) + 3 * 2); u64(now());
	u64((uintptr_t)at); u64(4);
	for (int i = 0; i < 4; i++) {
		u64((uintptr_t)at + begins[i] + added); u32(line + i); u32(1);
		fwrite(i ? "\xff" : file, i ? 2 : sizeof(file), 1, f);
	}
	u32(0); u32(16 + 40 + strlen(name) + 1 + sizeof(code)); u64(now());
	u32(getpid()); u32(getpid()); u64((uintptr_t)at); u64((uintptr_t)at); u64(sizeof(code)); u64(index);
	fwrite(name, strlen(name) + 1, 1, f);
	fwrite(code, sizeof(code), 1, f);
	fflush(f);
}
static void ran(unsigned char *at, const char *name, int line)
{
	uint64_t from = now();
	for (uint64_t end = work_until(200); work_goes_on(end);) ((void (*)(int))at)(work_loops(300000));
	printf("%s %d %lx %.9f %.9f\n", name, line, (unsigned long)at, from / 1e9, now() / 1e9);
}
int main(int argc, char **argv)
{
	unsigned char *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];

	added = argc > 1 ? atoi(argv[1]) : 0;
	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	f = fopen(path, "w+");
	u32(0x4a695444); u32(1); u32(40); u32(62); u32(0); u32(getpid()); u64(now()); u64(0);
	fflush(f);
	mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
	made(at, "stays_there", 1, 100);
	made(at + 64, "made_first", 2, 200);
	ran(at + 64, "made_first", 200);
	made(at + 64, "made_second", 3, 300);
	ran(at + 64, "made_second", 300);
	made(at + 128, "made_third", 4, 400);
	ran(at + 128, "made_third", 400);
	/* moved into the place of another */
	memcpy(at + 128, code, sizeof(code));
	u32(1); u32(16 + 48); u64(now());
	u32(getpid()); u32(getpid()); u64((uintptr_t)at + 64); u64((uintptr_t)at + 64); u64((uintptr_t)at + 128); u64(sizeof(code)); u64(3);
	fflush(f);
	ran(at + 128, "made_second", 300);
	/* the same name in the same place, and another source */
	made(at + 64, "made_second", 5, 500);
	ran(at + 64, "made_second", 500);
	ran(at, "stays_there", 100);
	return 0;
}
END_C
cc -O1 -o made made.c || skip "cc does not work"
cat >lines.py <<'END_PY'
# Each sample's line against what ran then; prints how many had each line. "text": of seam script, "csv": of seam report.
import csv, re, sys
from collections import Counter
phases = [(name, int(line), int(at, 16), float(a), float(b)) for name, line, at, a, b in map(str.split, open("phases"))]
have, seen, unknown, wrong, time, want = Counter(), set(), 0, [], 0, None
leaf = is_jit = False
for text in open("text"):
    head = re.match(r"\S.*?\s([0-9]+\.[0-9]+):", text)
    frame = re.match(r"\s+([0-9a-f]+) (\S+) \((.*)\)", text)
    place = re.match(r"\s+(\S+):([0-9]+)$", text)
    if head:
        time, leaf, want = float(head.group(1)), True, None
    elif frame:
        if leaf and "perf-" in frame.group(3):
            for name, line, at, a, b in phases:
                if a + 0.002 < time < b - 0.002:
                    off = int(frame.group(1), 16) - at
                    want = (name, line + sum(off >= begin for begin in (4, 10, 16)))
                    seen.add((name, line))
                    if frame.group(2).split("+")[0] != name: wrong.append((text, name))
        if leaf: name_of = frame.group(2).split("+")[0]; is_jit = "perf-" in frame.group(3); leaf = None
        else: is_jit = False
    elif place and is_jit:
        have[name_of, int(place.group(2))] += 1
        if want and (place.group(1).split("/")[-1], int(place.group(2))) != ("source.js", want[1]): wrong.append((text, want))
        want, is_jit = None, False
    elif is_jit and want:
        unknown, is_jit = unknown + 1, False
print("lines:", dict(have), "without:", unknown, "wrong:", len(wrong))
assert not wrong, wrong[:5]
if sys.argv[1] == "none":
    assert not have and unknown, have
else:
    assert not unknown and len(seen) == 5 and len(have) >= 10, (unknown, seen, have)
    rows = {}
    for row in csv.DictReader(open("csv")):
        if "source.js" in row["srcline"]:
            rows[row["sym"], int(row["srcline"].split(":")[1])] = int(row["self_samples"])
    assert rows == dict(have), (rows, dict(have))
END_PY
for added in 0 64; do
	record -k monotonic -F 500 --call-graph fp -o made.data -- ./made $added >phases
	"$SEAM" script -F comm,time,ip,sym,dso,srcline -i made.data --ns >text 2>err
	"$SEAM" report -i made.data --no-children -g none --csv -s sym,srcline --percent-limit 0 >csv 2>err
	python3 lines.py all || fail "lines by address and time, $added added"
done
"$SEAM" export --format speedscope -i made.data -o made.json 2>err
says made.json '"file": *"/not/here/source.js"'
# Its code, out of the dump; what was replaced is not shown, since which it was hangs on the time.
"$SEAM" annotate -i made.data stays_there >text 2>err
grep -q 'no disassembler' text || says text 'movl *%edi, %ecx'
says text '/not/here/source.js:10[12]$'
"$SEAM" annotate -i made.data made_first >text 2>err
says text 'no code that was all of the time at its addresses'
"$SEAM" archive -q -o made.tar.zst made.data
mkdir away && mv jit-[0-9]*.dump away/
"$SEAM" script -F comm,time,ip,sym,dso,srcline -i made.data --ns --archive made.tar.zst >text 2>err
"$SEAM" report -i made.data --no-children -g none --csv -s sym,srcline --percent-limit 0 --archive made.tar.zst >csv 2>err
python3 lines.py all || fail "lines from an archive"
rm -rf away
# 0x30 is what nobody adds: from where addresses count cannot be told, and nothing is believed.
record -k monotonic -F 500 --call-graph fp -o made.data -- ./made 48 >phases
"$SEAM" script -F comm,time,ip,sym,dso,srcline -i made.data --ns >text 2>err
python3 lines.py none || fail "lines that may be wrong"
"$SEAM" annotate -i made.data stays_there >text 2>err
grep -q 'no disassembler' text || says text 'no source lines: the jitdump of [0-9]*: it cannot be told from where its addresses of lines count'
rm -f jit-[0-9]*.dump

cat >dump.py <<'END_PY'
# dump.py SCRIPT DUMP: the lines in "text" against the dump, read as what V8 and LLVM are known to write: 0x40 added; some of
# V8's names spoiled, whose rest must fit the script's.
import re, struct, sys
script = sys.argv[1].encode()
d = open(sys.argv[2], "rb").read()
codes, told, at = [], {}, struct.unpack_from("<I", d, 8)[0]
while at + 16 <= len(d):
    kind, size = struct.unpack_from("<II", d, at)
    if size < 16 or at + size > len(d): break
    if kind == 2: told[struct.unpack_from("<Q", d, at + 16)[0]] = d[at + 16:at + size]
    if kind == 0:
        _, start, length, _ = struct.unpack_from("<4Q", d, at + 24)
        codes.append((start, length, told.pop(start, None)))
    at += size
def rows(start, length, body):
    n, p, ret = struct.unpack_from("<Q", body, 8)[0], 16, []
    for i in range(n):
        addr, line, _ = struct.unpack_from("<Qii", body, p)
        p += 16
        if body[p + 16:p + len(script) + 1] == script[16:] + b"\0": name, p = script, p + len(script) + 1
        else:
            end = body.index(b"\0", p)
            name, p = body[p:end], end + 1
        ret.append((addr - 0x40 - start, line, name))
        if not 0 <= addr - 0x40 - start <= length or not name.isascii() or not name.decode().isprintable(): return None
    return ret if all(a[0] <= b[0] for a, b in zip(ret, ret[1:])) and len(body) - p < 8 else None
checked = mine = 0
frame = None
def check(frame, shown):
    global checked, mine
    addr, leaf = frame
    hits = [c for c in codes if c[0] <= addr - (not leaf) < c[0] + c[1]]
    if len(hits) != 1: return # of a time
    start, length, body = hits[0]
    table = rows(start, length, body) if body else None
    want = [r for r in table or [] if r[0] <= addr - (not leaf) - start]
    want = (want[-1][2].decode().split("/")[-1], want[-1][1]) if want and want[-1][1] > 0 else None
    if want and want[0] in ("", "<unknown>"): want = None
    assert shown == want, (hex(addr), leaf, shown, want)
    checked += want is not None
    mine += want is not None and want[0] == sys.argv[1].split("/")[-1]
leaf = is_jit = False
for line in open("text"):
    place = re.match(r"  (\S.*):([0-9]+)$", line)
    got = re.match(r"\s+([0-9a-f]+) (.*) \(([^()]*)\)$", line)
    if frame:
        check(frame, (place.group(1).split("/")[-1], int(place.group(2))) if place else None)
        frame = None
    if got:
        if "perf-" in got.group(3): frame = (int(got.group(1), 16), leaf)
        leaf = leaf and int(got.group(1), 16) >> 63 # the first of the process is no caller, either
    elif not place: leaf = leaf or not line.startswith((" ", "\t"))
print("frames with lines:", checked, "of the script:", mine)
assert mine > 100, mine
END_PY

# LLVM, where lli is built with perf's listener.
if command -v lli >/dev/null && command -v clang >/dev/null; then
	cat >llvm.c <<'END_C'
#include <time.h>
static unsigned inner(unsigned a, unsigned i)
{
	return a * 31 + i / 3;
}
int main(void)
{
	unsigned s = 0;
	for (clock_t end = clock() + CLOCKS_PER_SEC; clock() < end;)
		for (unsigned i = 0; i < 1000000; i++) {
			s = inner(s, i);
			s ^= s >> 7;
		}
	return s == 1;
}
END_C
	mkdir llvm
	clang -g -O1 -fno-omit-frame-pointer -emit-llvm -c "$T/llvm.c" -o llvm.bc &&
		JITDUMPDIR=$T/llvm record -k monotonic -F 500 --call-graph fp -o llvm.data -- lli -jit-kind=mcjit llvm.bc >out
	dump=$(find llvm -name 'jit-[0-9]*.dump')
	if [ -n "$dump" ]; then
		"$SEAM" script -F comm,ip,sym,dso,srcline -i llvm.data >text 2>err
		python3 dump.py "$T/llvm.c" "$dump" || fail "lines of LLVM's code"
		"$SEAM" annotate -i llvm.data main >text 2>err
		says text 'llvm.c:4  return a \* 31 + i / 3;'
	else
		echo "this lli writes no jitdump"
	fi
fi

command -v node >/dev/null || { echo "without node"; done_testing; }
mkdir -p a/project/with/a/long/path && cat >a/project/with/a/long/path/index.js <<'END_JS'
function inner(a, i) {
	return a * 31 + i;
}
function hot(n) {
	let a = 0;
	for (let i = 0; i < n; i++) {
		a = inner(a, i) | 0;
	}
	return a;
}
let s = 0;
while (process.cpuUsage().user < 1500000)
	s += hot(100000);
console.log(s);
END_JS
record -k monotonic -F 500 --call-graph fp -o node.data -- node --perf-prof --no-write-protect-code-memory \
	"$T/a/project/with/a/long/path/index.js" >out
[ "$status" = 0 ] && ls jit-[0-9]*.dump >/dev/null 2>&1 || { echo "this node writes no jitdump"; done_testing; }
"$SEAM" script -F comm,ip,sym,dso,srcline -i node.data >text 2>err
python3 dump.py "$T/a/project/with/a/long/path/index.js" jit-[0-9]*.dump || fail "node's lines"
"$SEAM" annotate -i node.data >text 2>err
says text 'index.js:2  return a \* 31 + i;'
done_testing
