# SPDX-License-Identifier: MIT
"""A made-up recording of --call-graph lbr: user stacks are in the branch records. Writes made.data here."""
import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TESTS, "golden", "broken")]

import make  # noqa: E402
from make import flags, u16, u32, u64  # noqa: E402

KERNEL, USER = 0xFFFFFFFFFFFFFF80, 0xFFFFFFFFFFFFFE00
BRANCH_STACK = 1 << 11
CALL_STACK = 1 | 1 << 11 | 1 << 14 | 1 << 15 | 1 << 17  # of users, without cycles and flags, with hw_idx


def sample(time, ip, chain, calls, mode=2):
    r = make.sample(time, chain=chain)
    body = r[8:16] + u64(ip) + r[24:]
    body += u64(len(calls)) + u64(0) + b"".join(u64(a) + u64(b) + u64(0) for a, b in calls)
    return make.record(9, body, mode)


# The innermost first: from where, to where.
CALLS = [(0x400210, 0x400100), (0x400310, 0x400200), (0x400400, 0x400300)]
SAMPLES = [
    (0x400108, (USER, 0x400108, 0x400999), CALLS),  # frame pointers led astray
    (0xFFFFFFFF81000010, (KERNEL, 0xFFFFFFFF81000010, 0xFFFFFFFF81000020, USER, 0x400108), CALLS, 1),
    (0x400108, (USER, 0x400108, 0x400999), []),  # the CPU kept none
    (0xFFFFFFFF81000010, (KERNEL, 0xFFFFFFFF81000010), CALLS, 1),  # without a user half: a thread of the kernel
    (0x400108, (USER, 0x400108), CALLS[:1] + [(0, 0)] + CALLS[2:]),
]


def main():
    attr = u32(1) + u32(128) + u64(0) + u64(1000000) + u64(make.SAMPLE_TYPE | BRANCH_STACK) + u64(0)
    attr += flags(make.SAMPLE_ID_ALL) + u32(0) * 2 + u64(0) * 2 + u64(CALL_STACK)
    attr += bytes(128 - len(attr))
    features = make.features()
    features[12] = u32(1) + u32(128) + attr + u32(2) + make.string("cpu-clock") + u64(11) + u64(12)
    records = [make.comm(1000), make.mmap2(1100)]
    records += [sample(2000 + i, *s) for i, s in enumerate(SAMPLES)]
    with open("made.data", "wb") as f:
        f.write(make.file_with(attr=attr, features=features, records=records))


main()
