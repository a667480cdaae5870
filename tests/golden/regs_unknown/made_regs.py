# SPDX-License-Identifier: MIT
"""A made-up recording whose samples have registers of an ABI that is known or not. Writes made.data here."""
import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TESTS, "golden", "broken")]

import make  # noqa: E402
from make import flags, u32, u64  # noqa: E402

REGS_USER, REGS_INTR, WEIGHT = 1 << 12, 1 << 18, 1 << 14
MASK = 3 << 7  # two registers


def sample(time, user, intr):
    """Behind the callchain: registers, a weight, registers; each an ABI and its words."""
    rest = b"".join(map(u64, user)) + u64(7) + b"".join(map(u64, intr))
    return make.record(9, make.sample(time)[8:] + rest, 2)


def main():
    attr = u32(1) + u32(128) + u64(0) + u64(1000000)
    attr += u64(make.SAMPLE_TYPE | REGS_USER | REGS_INTR | WEIGHT) + u64(0) + flags(make.SAMPLE_ID_ALL)
    attr += u32(0) * 2 + u64(0) * 2 + u64(0) + u64(MASK) + u32(0) * 2 + u64(MASK)
    attr += bytes(128 - len(attr))
    features = make.features()
    features[12] = u32(1) + u32(128) + attr + u32(2) + make.string("cpu-clock") + u64(11) + u64(12)
    records = [make.comm(1000), make.mmap2(1100),
               sample(2000, (2, 0xA, 0xB), (2, 0xC, 0xD)),
               sample(3000, (6, 1, 2, 3, 0xA, 0xB), (2, 0xC, 0xD)),  # a word of sizes in front of the values
               sample(4000, (2, 0xA, 0xB), (6, 1, 2, 3, 0xC, 0xD)),
               sample(5000, (0,), (3, 0xC))]
    with open("made.data", "wb") as f:
        f.write(make.file_with(attr=attr, features=features, records=records))


main()
