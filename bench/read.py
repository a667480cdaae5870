#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/read.py SEAM [MiB]: how fast a recording of 1 GiB is read, its pages cached.

The file is tests/data/gcc_d, its data section repeated. Each of these goes over all of its bytes, in
turn, five rounds; user and system CPU seconds, medians, and as ratios:
  touch          wc -l FILE: reads every byte and looks at it
  stat           seam stat FILE: every record's header, every sample's event
  check          seam stat --check FILE: every record decoded whole
  perf           perf 7.3 report --stats -i FILE, one round (scripts/peer; left out without it)
"""
import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "tests", "data", "gcc_d", "perf.data")
ROUNDS = 5


def make(path, size):
    """Header and attrs as they are, the data again and again, no features."""
    with open(SOURCE, "rb") as f:
        whole = f.read()
    at, n = struct.unpack_from("<QQ", whole, 40)
    times = max(1, size // n)
    head = bytearray(whole[:at])
    struct.pack_into("<Q", head, 48, n * times)
    head[72:104] = bytes(32)
    with open(path, "wb") as f:
        f.write(head)
        for _ in range(times):
            f.write(whole[at:at + n])


def cpu(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main():
    seam, size = sys.argv[1], int(sys.argv[2]) << 20 if len(sys.argv) > 2 else 1 << 30
    peer = os.path.join(HERE, "..", "scripts", "peer")
    with tempfile.TemporaryDirectory(prefix="seam-bench-") as work:
        path = os.path.join(work, "perf.data")
        make(path, size)
        commands = {"touch": ["wc", "-l", path], "stat": [seam, "stat", path],
                    "check": [seam, "stat", "--check", path]}
        times = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                seconds, out = cpu(command)
                times[name].append(seconds)
                if name == "check":
                    records = int(out.split(b"TOTAL events:")[1].split()[0])
        if os.access(peer, os.X_OK):
            times["perf"] = [cpu([peer, "perf", "report", "--stats", "-i", path])[0]]
        touch = statistics.median(times["touch"])
        print("%d bytes, %d records" % (os.path.getsize(path), records))
        for name, taken in times.items():
            median = statistics.median(taken)
            print("%-6s %7.3f s (%.3f to %.3f)  %6.2f of touch  %8.2f million records/s/core" % (
                name, median, min(taken), max(taken), median / touch, records / median / 1e6))


main()
