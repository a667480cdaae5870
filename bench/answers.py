#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/answers.py [--seam SEAM] [--rounds N] [FILE]: what an answer costs, beside perf 7.3 on the same bytes.

Without FILE, build/bench/gen_deferred (beside SEAM) makes a recording of a million deferred samples whose stacks
repeat: -n 1000000 frames=30 chains=500 places=16 tasks=4. Each command runs N times (seam) or once (perf, through
scripts/peer; left out without it), its output thrown away. Symbols are cached by a first run that is not counted.
Printed: user and system CPU seconds (median), peak memory in MB, and perf's CPU seconds over seam's. Machine load
is printed before and after; CPU seconds grow with it, so the ratio is the figure.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PEER = os.path.join(HERE, "..", "scripts", "peer")
MAKE = ["-n", "1000000", "frames=30", "chains=500", "places=16", "tasks=4"]
# A name, seam's arguments, perf's arguments (None: it has no such command); the file stands behind.
COMMANDS = [
    ("report", ["report", "-i"], ["report", "--stdio", "--no-children", "-i"]),
    ("report -g none", ["report", "-g", "none", "-i"],
     ["report", "--stdio", "--no-children", "-g", "none", "-i"]),
    ("export --format folded", ["export", "--format", "folded", "-i"], None),
    ("script", ["script", "-i"], ["script", "-i"]),
    ("report --stats", ["report", "--stats", "-i"], ["report", "--stats", "-i"]),
    ("stat", ["stat", "-i"], None),
    ("dump", ["dump", "-i"], ["report", "-D", "-i"]),
]


def run(command):
    """CPU seconds and peak MB of a command; a failure is not a figure."""
    with open(os.devnull, "r+b") as null:
        child = subprocess.Popen(command, stdin=null, stdout=null, stderr=null)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit("%s: exit code %d" % (" ".join(command), child.returncode))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def load():
    return "load %.1f" % os.getloadavg()[0]


def row(name, seam, perf):
    seconds, peak = statistics.median(s for s, _ in seam), max(m for _, m in seam)
    text = "| %s | %.2f | %.0f |" % (name, seconds, peak)
    if perf:
        return text + " %.2f | %.0f | %.1f |" % (perf[0], perf[1], perf[0] / seconds)
    return text + " - | - | - |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seam", default=os.path.join(HERE, "..", "build", "seam"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("file", nargs="?")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="seam-bench-") as work:
        path = args.file or os.path.join(work, "perf.data")
        if not args.file:
            gen = os.path.join(os.path.dirname(args.seam), "bench", "gen_deferred")
            subprocess.run([gen, "-o", path] + MAKE, check=True)
        run([args.seam, "report", "-i", path])
        print("%d bytes, %s\n" % (os.path.getsize(path), load()))
        print("| | seam: CPU s | MB | perf: CPU s | MB | ratio |\n|---|---|---|---|---|---|")
        for name, seam, perf in COMMANDS:
            mine = [run([args.seam] + seam + [path]) for _ in range(args.rounds)]
            peer = run([PEER, "perf"] + perf + [path]) if perf and not args.no_peer else None
            print(row(name, mine, peer), flush=True)
        print("\n%s" % load())


main()
