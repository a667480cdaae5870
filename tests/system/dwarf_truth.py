#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Source lines and inlined calls of every address of a C++ program: against addr2line, and the same again however the
debugging information is packed (DWARF 4, compressed, in separate files, by dwz, split), because the code is the same.

    dwarf_truth.py TOOL      TOOL is the built system_dwarf_truth; 77 without g++ or addr2line
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = r"""
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
namespace {
inline unsigned mix(unsigned v) { v ^= v >> 13; v *= 2654435761u; return v ^ v >> 7; }
template <typename T> inline T twice(T v) { return mix(v) + mix(v + 1); }
}
namespace outer {
inline unsigned many(unsigned n)
{
	unsigned s = 0;
	for (unsigned i = 0; i < n; i++)
		s += twice(i);
	return s;
}
}
__attribute__((noinline)) unsigned leafy(std::vector<unsigned> &v, unsigned seed)
{
	for (auto &x : v)
		x = outer::many(x & 7) + twice(x ^ seed);
	std::sort(v.begin(), v.end(), [](unsigned a, unsigned b) { return mix(a) < mix(b); });
	return v[v.size() / 2];
}
__attribute__((noinline)) unsigned strings(std::map<std::string, unsigned> &m, unsigned i)
{
	m["key" + std::to_string(i % 257)] += i;
	return m.size();
}
int main(int argc, char **)
{
	std::vector<unsigned> v(3000);
	std::map<std::string, unsigned> m;
	unsigned s = 0;
	for (int i = 0; i < 600 * argc; i++)
		s += leafy(v, i) + strings(m, i);
	printf("%u\n", s);
}
"""


def run(*command, **more):
    return subprocess.run(command, check=True, text=True, capture_output=True, **more).stdout


def text_range(path):
    words = run("readelf", "-SW", path).split()
    at = words.index(".text")
    return int(words[at + 2], 16), int(words[at + 4], 16)


def parse(output):
    found, at = {}, None
    for line in output.splitlines():
        if line.startswith("0x"):
            at = found[int(line, 16)] = []
        else:
            at.append(line)
    return {vaddr: list(zip(v[::2], v[1::2])) for vaddr, v in found.items()}


def ask(command, addresses):
    return parse(run(*command, input="".join(f"{a:x}\n" for a in addresses)))


def plain_line(line):
    line = re.sub(r" \(discriminator \d+\)", "", line).replace(":?", ":0")
    return os.path.normpath(line)


class Failure(Exception):
    pass


class Truth:
    def __init__(self, tool, work):
        self.tool, self.work = tool, work
        self.checked = 0

    def path(self, *names):
        return os.path.join(self.work, *names)

    def compile(self, name, *flags, compiler="g++"):
        os.makedirs(self.path(name), exist_ok=True)
        # One directory for all, so that equal code has equal paths.
        run(compiler, "-O2", "-Wl,--build-id", *flags, "-c", "../program.cc", "-o", "program.o", cwd=self.path(name))
        run(compiler, *flags, "-Wl,--build-id", "program.o", "-o", "program", cwd=self.path(name))
        return self.path(name, "program")

    def answers(self, program, *more):
        start, size = text_range(program)
        return ask([self.tool, program, *more], range(start, start + size))

    def against(self, addr2line, program):
        """Lines of every frame; names are not compared, because binutils takes the symbol table's."""
        ours = self.answers(program)
        theirs = ask([addr2line, "-afi", "-e", program], ours)
        known = [a for a, frames in ours.items() if frames != [("??", "??:0")]]
        inlined = sum(len(ours[a]) > 1 for a in known)
        if len(known) < len(ours) / 2 or inlined < len(known) / 10:
            raise Failure(f"{program}: {len(known)} of {len(ours)} addresses known, {inlined} with inlined calls")
        bad = [a for a in known
               if [plain_line(l) for _, l in ours[a]] != [plain_line(l) for _, l in theirs[a]]]
        for a in bad[:5]:
            print(f"{a:#x}\n  seam      {ours[a]}\n  addr2line {theirs[a]}")
        print(f"{program}: {len(known)} addresses, {inlined} with inlined calls, {len(bad)} differ from {addr2line}")
        # Where a compiler lets ranges overlap, each reader chooses its own; they are few.
        if len(bad) > len(known) // 200:
            raise Failure(f"{program}: {len(bad)} addresses differ")
        return ours

    def same(self, what, truth, program, *more):
        ours = self.answers(program, *more)
        bad = [a for a in truth if [(f, plain_line(l)) for f, l in ours.get(a, [])] !=
               [(f, plain_line(l)) for f, l in truth[a]]]
        for a in bad[:3]:
            print(f"{a:#x}\n  plain {truth[a]}\n  {what} {ours.get(a)}")
        if bad:
            raise Failure(f"{what}: {len(bad)} of {len(truth)} addresses differ")
        print(f"{what}: the same at {len(truth)} addresses")
        self.checked += 1


def strip_to(truth, program, name, debug):
    stripped = truth.path(name, "program")
    os.makedirs(os.path.dirname(stripped), exist_ok=True)
    os.makedirs(os.path.dirname(debug), exist_ok=True)
    run("objcopy", "--only-keep-debug", program, debug)
    run("objcopy", "--strip-all", program, stripped)
    return stripped


def separate(t, program, truth):
    debug = t.path("link", ".debug", "program.dbg")
    stripped = strip_to(t, program, "link", debug)
    run("objcopy", "--remove-section=.note.gnu.build-id", stripped)
    run("objcopy", "--remove-section=.note.gnu.build-id", debug)
    run("objcopy", f"--add-gnu-debuglink={debug}", stripped)
    t.same("debuglink and CRC", truth, stripped)
    build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", program)).group(1)
    debug = t.path("dirs", ".build-id", build_id[:2], build_id[2:] + ".debug")
    stripped = strip_to(t, program, "byid", debug)
    t.same("build-id directory", truth, stripped, "-d", t.path("dirs"))
    if not shutil.which("dwz"):
        print("dwz: not installed, not tested")
        return
    for i in (1, 2):
        os.makedirs(t.path(f"dwz{i}"), exist_ok=True)
        shutil.copy(program, t.path(f"dwz{i}", "program"))
    run("dwz", "-m", "common.dwz", "-r", t.path("dwz1", "program"), t.path("dwz2", "program"), cwd=t.path("dwz1"))
    if ".gnu_debugaltlink" not in run("readelf", "-SW", t.path("dwz1", "program")):
        raise Failure("dwz moved nothing")
    t.same("dwz, beside it", truth, t.path("dwz1", "program"))
    common = re.search(r"Build ID: (\w+)", run("readelf", "-n", t.path("dwz1", "common.dwz"))).group(1)
    os.makedirs(t.path("dirs", ".build-id", common[:2]), exist_ok=True)
    os.rename(t.path("dwz1", "common.dwz"), t.path("dirs", ".build-id", common[:2], common[2:] + ".debug"))
    t.same("dwz, by build-id", truth, t.path("dwz1", "program"), "-d", t.path("dirs"))


def check(t):
    with open(t.path("program.cc"), "w") as f:
        f.write(SOURCE)
    program = t.compile("plain", "-g")
    truth = t.against("addr2line", program)
    t.against("addr2line", t.compile("dwarf4", "-gdwarf-4"))
    # binutils loses most inlined calls of clang's code.
    if shutil.which("clang++") and shutil.which("llvm-addr2line"):
        t.against("llvm-addr2line", t.compile("clang", "-g", compiler="clang++"))
    t.same("zlib", truth, t.compile("zlib", "-g", "-gz=zlib"))
    t.same("zlib-gnu", truth, t.compile("zlibgnu", "-g", "-gz=zlib-gnu"))
    shutil.copytree(t.path("plain"), t.path("zstd"))
    packed = subprocess.run(["objcopy", "--compress-debug-sections=zstd", t.path("zstd", "program")], check=False)
    if packed.returncode == 0 and "zstd" in run("readelf", "-SW", "-t", t.path("zstd", "program")).lower():
        t.same("zstd", truth, t.path("zstd", "program"))
    else:
        print("zstd: objcopy does not know it, not tested")
    split = t.compile("split", "-g", "-gsplit-dwarf")
    t.same("split DWARF", truth, split)
    t.same("split DWARF, packed", truth, t.compile("splitzlib", "-g", "-gsplit-dwarf", "-gz=zlib"))
    separate(t, program, truth)


def main():
    for tool in ("g++", "addr2line", "objcopy", "readelf"):
        if not shutil.which(tool):
            print(f"no {tool}")
            return 77
    with tempfile.TemporaryDirectory() as work:
        t = Truth(sys.argv[1], work)
        try:
            check(t)
        except (Failure, subprocess.CalledProcessError) as error:
            print(f"FAIL {error} {getattr(error, 'stderr', '')}")
            return 1
        print(f"{t.checked} packings checked")
    return 0


if __name__ == "__main__":
    sys.exit(main())
