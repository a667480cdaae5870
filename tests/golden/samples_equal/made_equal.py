# SPDX-License-Identifier: MIT
"""Made-up recordings with samples that are equal in every byte.

    made_equal.py decoded|twice      writes made.data here: of a trace that was decoded; by a recorder that wrote some twice
"""
import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TESTS, "golden", "broken")]

import make  # noqa: E402
from make import flags, u16, u32, u64  # noqa: E402

DEFERRED = 0xFFFFFFFFFFFFFD80
DEFER_BITS = 1 << 38 | 1 << 39


def at(time, ip, chain):
    """A sample of the user at an address."""
    r = make.sample(time, chain=chain)
    return r[:16] + u64(ip) + r[24:]


def decoded():
    """Three at one time are not one, here or there; the chain of none of them is deferred."""
    one = at(2000, 0x400100, (0xFFFFFFFFFFFFFE00, 0x400100, 0x400200))
    two = at(2000, 0x400300, (0xFFFFFFFFFFFFFE00, 0x400300, 0x400200))
    return [one, one, two, one, one, at(3000, 0x400300, (0xFFFFFFFFFFFFFE00, 0x400300))]


def answer(time, cookie, *ips):
    return make.record(22, u64(cookie) + u64(len(ips)) + b"".join(map(u64, ips)) + make.trailer(time), 2)


def twice():
    """Of three that are deferred one stands there three times, and one, in the kernel, twice."""
    one = at(2000, 0x400100, (DEFERRED, 0x100000001))
    two = at(3000, 0x400100, (DEFERRED, 0x300000001))
    kernel = at(4000, 0xFFFFFFFF81000010, (0xFFFFFFFFFFFFFF80, 0xFFFFFFFF81000010, DEFERRED, 0x500000001))
    kernel = kernel[:4] + u16(1) + kernel[6:]
    return [one, one, one, answer(2100, 0x100000001, 0x400100, 0x400200), two,
            answer(3100, 0x300000001, 0x400100, 0x400200), kernel, kernel,
            answer(4100, 0x500000001, 0x400300, 0x400200)]


def main():
    attr = u32(1) + u32(128) + u64(0) + u64(1000000) + u64(make.SAMPLE_TYPE) + u64(0)
    attr += flags(make.SAMPLE_ID_ALL | (DEFER_BITS if sys.argv[1] == "twice" else 0))
    attr += bytes(128 - len(attr))
    features = make.features()
    features[12] = u32(1) + u32(128) + attr + u32(2) + make.string("cpu-clock") + u64(11) + u64(12)
    with open("made.data", "wb") as f:
        f.write(make.file_with(attr=attr, features=features, records=[
            make.comm(1000), make.mmap2(1100)] + globals()[sys.argv[1]]()))


main()
