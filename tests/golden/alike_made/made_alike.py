# SPDX-License-Identifier: MIT
"""A made-up recording of processes that have the same files at other addresses, and other files at the same.

    made_alike.py           writes made.data, made.kallsyms and runs.data here
    made_alike.py truth     the stacks that are in it, by files
    made_alike.py seen      those of the JSON of seam export
    made_alike.py first     the file of a pprof profile's first mapping, from show_proto
"""
import json
import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TESTS, "system"), os.path.join(TESTS, "golden", "broken")]

import made  # noqa: E402
from made import KERNEL, USER  # noqa: E402
from make import record, text, trailer, u32, u64  # noqa: E402

ENTRY = 0xFFFFFFFF81000010


def comm(pid, time):
    return record(3, u32(pid) + u32(pid) + text("many") + trailer(time), 0x2000)


def mapping(pid, start, path, inode, time, pgoff=0):
    return record(10, u32(pid) + u32(pid) + u64(start) + u64(0x10000) + u64(pgoff) + u32(8) + u32(1) +
                  u64(inode) + u64(0) + u32(5) + u32(2) + text(path) + trailer(time), 2)


def sample(pid, time, chain, ip, kernel=False):
    return record(9, u64(11) + u64(ip) + u32(pid) + u32(pid) + u64(time) + u32(0) + u32(0) + u64(1) +
                  u64(len(chain)) + b"".join(map(u64, chain)), 1 if kernel else 2)


def stacks(program, library):
    """(ip, chain, whether the kernel was hit): a stack of the user's; one below the kernel; one whose sample hit elsewhere;
    one with a call that ends where the library begins; and the program alone."""
    inner, outer = library + 0x100, program + 0x200
    yield inner, (USER, inner, outer), False
    yield ENTRY, (KERNEL, ENTRY, USER, inner, outer), True
    yield inner + 0x40, (USER, inner, outer), False
    yield inner, (USER, inner, library), False
    yield outer, (USER, outer), False


# Where the program is, its file and the part of it, and where the library is.
PROCESSES = {
    71: (0x400000, "/bin/one", 1, 0, 0x7F0000000000, "/lib/two", 2),
    72: (0x500000, "/bin/one", 1, 0, 0x7E0000000000, "/lib/two", 2),  # the same elsewhere
    73: (0x400000, "/bin/other", 3, 0, 0x7F0000000000, "/lib/two", 2),  # another at the same addresses
    74: (0x400000, "/bin/one", 1, 0x10000, 0x7F0000000000, "/lib/two", 2),  # another part of it
    75: (0x400000, "/bin/one", 1, 0, 0x7F0000000000, "//anon", 0),  # a JIT's code
    76: (0x600000, "/bin/one", 4, 0, 0x7D0000000000, "/lib/two", 2),  # the path, but not the file
    77: (0x510000, "/bin/one", 1, 0x10000, 0x7C0000000000, "/lib/two", 2),  # as 74, elsewhere
}


def runs():
    """One process that runs two programs, one after the other. What both are seen in is a library's, at other addresses."""
    records, time = [comm(70, 1000), comm(79, 1001), mapping(70, 0x400000, "/bin/a", 9, 1002), mapping(79, 0x400000, "/bin/z", 8, 1003)], 1010
    for library, program in (0x7F0000000000, None), (0x7E0000000000, "/bin/one"):
        if program:
            records += [record(3, u32(79) + u32(79) + text("many") + trailer(time), 0x2002), mapping(79, 0x500000, program, 1, time + 1)]
        records += [mapping(79, library, "/lib/two", 2, time + 2), sample(79, time + 3, (USER, library + 0x100, library + 0x200), library + 0x100)]
        time += 10
    return records


def write():
    with open("runs.data", "wb") as f:
        f.write(made.recording(runs(), []))
    records, time = [made.kernel_mmap(ENTRY - 0x10, 0x1000)], 1000
    for pid, (program, path, inode, pgoff, library, other, other_inode) in PROCESSES.items():
        records += [comm(pid, time), mapping(pid, program, path, inode, time + 1, pgoff), mapping(pid, library, other, other_inode, time + 2)]
        time += 3
    # Twice, with others' between them.
    for _ in range(2):
        for pid, (program, _, _, _, library, _, _) in PROCESSES.items():
            for ip, chain, kernel in stacks(program, library):
                records.append(sample(pid, time, chain, ip, kernel))
                time += 1
    with open("made.data", "wb") as f:
        f.write(made.recording(records, []))
    with open("made.kallsyms", "w", encoding="utf-8") as f:
        f.write("%016x t entry\n" % (ENTRY - 0x10))


def count(lines):
    """Lines with how often each is there, sorted."""
    lines = list(lines)
    return "".join("%s %d\n" % (line, lines.count(line)) for line in sorted(set(lines)))


def truth():
    """What stacks are, by the files that each process has."""
    for program, path, _, pgoff, library, other, _ in PROCESSES.values():
        for ip, chain, _ in stacks(program, library):
            line = []
            for at in reversed([ip] * (ip not in chain) + [a for a in chain if a < KERNEL - 4096]):
                if at >= ENTRY:
                    line.append("entry")
                elif at - program < 0x10000:
                    line.append("%s+%#x" % (path, at - program + pgoff))
                else:
                    line.append("%s+%#x" % (other, at - library) if other != "//anon" else "jit+%#x" % (at - library))
            yield from [";".join(line)] * 2


def seen():
    """The same of seam export --format json."""
    profile = json.load(sys.stdin)
    for row in profile["rows"]:
        line, stack = [], row["stack"]
        while stack >= 0:
            stack, frame = profile["stacks"][stack]
            f = profile["frames"][frame]
            path = profile["objects"][f["object"]]["path"]
            line.insert(0, f["symbol"] or "%s+%s" % ("jit" if "perf-" in path else path, f["address"]))
        yield from [";".join(line)] * row["samples"]


def first():
    """By number of its path: the first string is number 0."""
    lines = sys.stdin.read().split("\n")
    strings = [line[3:] for line in lines if line.startswith("6: ") or line == "6:"]
    mapping = lines[lines.index("3:") + 1:]
    return "%s\n" % strings[int(next(line for line in mapping if line.startswith("  5: "))[5:])]


if len(sys.argv) == 1:
    write()
elif sys.argv[1] == "first":
    sys.stdout.write(first())
else:
    sys.stdout.write(count(globals()[sys.argv[1]]()))
