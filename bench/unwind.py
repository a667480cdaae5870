#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unwinding recordings with stack copies, beside perf, in one run.

	bench/unwind.py [-n ROUNDS] [--perf COMMAND] [--seam PROGRAM] SHORT LONG

SHORT and LONG are two recordings of one program (perf record --call-graph dwarf), the second much longer, so that
their difference leaves start-up aside. Commands are interleaved, each file is read just before; of each the least CPU
time (user and system) and the least real time count. Output goes to /dev/null. COMMAND defaults to "scripts/peer perf".
"""
import argparse
import os
import resource
import shlex
import subprocess
import sys
import time

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    real = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, real


def warm(path):
    """Into the page cache, of which a machine may have taken it out while the command before ran."""
    with open(path, "rb", buffering=0) as f:
        while f.read(1 << 24):
            pass


def samples(seam, path):
    text = subprocess.run([seam, "stat", path], capture_output=True, text=True).stdout
    return int(next(line.split()[2] for line in text.splitlines() if "SAMPLE events:" in line))


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("-n", type=int, default=5)
    p.add_argument("--perf", default=os.path.join(root, "scripts/peer") + " perf")
    p.add_argument("--seam", default=os.path.join(root, "build/seam"))
    p.add_argument("short")
    p.add_argument("long")
    a = p.parse_args()
    commands = {
        "perf script": lambda f: shlex.split(a.perf) + ["script", "-i", f],
        "perf report --no-children": lambda f: shlex.split(a.perf) + ["report", "--stdio", "--no-children", "-i", f],
        "seam script": lambda f: [a.seam, "script", f],
        "seam report": lambda f: [a.seam, "report", f],
        "seam export --format folded": lambda f: [a.seam, "export", "--format", "folded", f],
    }
    best = {}
    for _ in range(a.n):
        for name, command in commands.items():
            for f in (a.short, a.long):
                warm(f)
                now = run(command(f))
                had = best.get((name, f), now)
                best[name, f] = tuple(min(x, y) for x, y in zip(now, had))
    n = samples(a.seam, a.long) - samples(a.seam, a.short)
    print(f"{n} samples more in {a.long}; load {os.getloadavg()[0]:.1f}, {os.cpu_count()} CPUs")
    rate = {name: [n / (y - x) for x, y in zip(best[name, a.short], best[name, a.long])]
            for name in commands}
    for name, (cpu, real) in rate.items():
        c, w = best[name, a.long]
        print(f"{name:28} {c:7.3f} CPU s {w:7.3f} real s  {cpu:9.0f} samples/CPU s "
              f"{cpu / rate['perf script'][0]:6.1f}  {real:9.0f} samples/real s "
              f"{real / rate['perf script'][1]:6.1f}")


sys.exit(main())
