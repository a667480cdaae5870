# SPDX-License-Identifier: MIT
"""A made-up recording of callchains by frame pointer that were followed into data. Writes made.data here."""
import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TESTS, "system"), os.path.join(TESTS, "golden", "broken")]

import make  # noqa: E402
import made  # noqa: E402
from made import KERNEL, USER  # noqa: E402
from make import text, trailer, u32, u64  # noqa: E402

READ, WRITE, EXEC = 1, 2, 4
VDSO, HEAP, JIT = 0x7FFE00000000, 0x600000, 0x700000
KNOWN, UNKNOWN, HALF_READ, CHILD = 70, 71, 72, 73


def mmap2(time, pid, start, size, prot, name):
    misc = 2 if prot & EXEC else 2 | 0x2000
    return make.record(10, u32(pid) + u32(pid) + u64(start) + u64(size) + u64(0) + u32(8) + u32(1) + u64(99) + u64(0) +
                       u32(prot) + u32(2) + text(name) + trailer(time), misc)


def sample(time, pid, chain):
    r = make.sample(time, chain=chain)
    ip = next(a for a in chain if a < USER and a != KERNEL)
    return r[:4] + make.u16(1 if KERNEL in chain else 2) + r[6:16] + u64(ip) + u32(pid) + u32(pid) + r[32:]


def program(time, pid):
    yield mmap2(time, pid, 0x400000, 0x1000, READ | EXEC, "/bin/worker")
    yield mmap2(time, pid, HEAP, 0x1000, READ | WRITE, "[heap]")
    yield mmap2(time, pid, JIT, 0x1000, READ | WRITE | EXEC, "//anon")


CHAINS = (
    (USER, 0x400100, 0x400200),  # all is well
    (USER, 0x400100, 0x400200, 0x41F9000042390000),  # a word of data is the last
    (USER, 0x400100, 0x400200, 0),
    (USER, 0x400100, HEAP + 8, 0x400200),  # what stands behind one is no caller either
    (KERNEL, 0xFFFFFFFF81000010, USER, 0x400100, 5),
    (USER, 0x400100, 0x401000),  # a call is the last instruction of the mapping
    (USER, 0x400100, JIT + 16, 0x400200),
    (USER, 0x400100, VDSO + 16, 0x400200),
    (USER, 0x400100, 0xFFFFFFFFFF600010, 0x400200),
    (USER, HEAP + 32, 0x400200),  # where execution stopped is a frame, wherever it is
)


def write(records):
    with open("made.data", "wb") as f:
        f.write(made.recording(records, []))


def main():
    records = [made.kernel_mmap(0xFFFFFFFF81000000, 0x1000)]
    for pid in (KNOWN, HALF_READ):
        records += program(1100, pid)
    records.append(mmap2(1100, KNOWN, VDSO, 0x1000, READ | EXEC, "[vdso]"))
    time = 2000
    for pid in (KNOWN, UNKNOWN, HALF_READ):
        for chain in CHAINS:
            records.append(sample(time, pid, chain))
            time += 1
    # A child has its parent's mappings.
    records.append(make.record(7, u32(CHILD) + u32(KNOWN) + u32(CHILD) + u32(KNOWN) + u64(time) + trailer(time)))
    records.append(sample(time + 1, CHILD, CHAINS[1]))
    # As many words as there is room for, but not as many frames.
    records.append(sample(time + 1, KNOWN, (USER, 0x400100, 0x400200) + (HEAP + 8,) * 125))
    # The heap becomes code.
    records.append(mmap2(time + 2, KNOWN, HEAP, 0x1000, READ | EXEC, "//anon"))
    records.append(sample(time + 3, KNOWN, CHAINS[3]))
    write(records)


if __name__ == "__main__":
    main()
