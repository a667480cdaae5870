#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""header, evlist -v and stat against what perf 7.3.4 printed of the same recordings: identical, line
by line, but for what is named here. run.py SEAM DATA: tests/data."""
import os
import subprocess
import sys

# perf's warnings and tips are no part of its answer; the time of capture is the file's mtime.
IGNORED = ("WARNING:", "Was the ", "# Tip:", "# captured on")


def lines_of(text):
    return [line for line in text.splitlines() if not line.startswith(IGNORED)]


def seam(program, *arguments):
    p = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    return p.returncode, lines_of(p.stdout)


def peer(directory, name):
    path = os.path.join(directory, name)
    if not os.path.exists(path) or not os.path.getsize(path):
        return None
    with open(path) as f:
        return lines_of(f.read())


def without_losses(lines):
    """What perf does not tell: losses by CPU and time, compression."""
    for i, line in enumerate(lines):
        if line.startswith(("lost:", "compressed:")):
            return lines[:i]
    return lines


def compare(what, want, have, faults):
    if want is None or want == have:
        return
    faults.append(what)
    for a, b in zip(want + ["(end)"] * len(have), have + ["(end)"] * len(want)):
        if a != b:
            print("%s:\n  perf: %s\n  seam: %s" % (what, a, b))
            break


def check(program, directory, name, faults):
    data = os.path.join(directory, "perf.data")
    killed = os.path.exists(os.path.join(directory, "perf-error.txt"))
    code, header = seam(program, "header", data)
    if code != (3 if killed else 0):
        faults.append("%s: header exits %d" % (name, code))
    want = peer(directory, "perf-header.txt")
    if killed:  # perf shows the 0 that the header says; seam what is there, and why
        want = [line for line in want if not line.startswith("# data size")]
        header = [line for line in header if not line.startswith("# data size")]
    compare(name + ": header", want, header, faults)
    compare(name + ": evlist -v", peer(directory, "perf-evlist.txt"),
            seam(program, "evlist", "-v", "-i", data)[1], faults)
    compare(name + ": stat", peer(directory, "perf-report-stats.txt"),
            without_losses(seam(program, "stat", data)[1]), faults)


def main():
    program, data = sys.argv[1], sys.argv[2]
    faults, n = [], 0
    for name in sorted(os.listdir(data)):
        directory = os.path.join(data, name)
        if os.path.exists(os.path.join(directory, "perf.data")):
            check(program, directory, name, faults)
            n += 1
    print("%d recordings, %d differences" % (n, len(faults)))
    return 1 if faults or not n else 0


sys.exit(main())
