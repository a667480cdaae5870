#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether perf reads what seam writes: peer-reads.py [--seam SEAM] [--as-is] FILE...

Each FILE (a recording, whole or damaged) is converted and recovered, and what comes out is read by `perf script` of 7.3 (scripts/peer)
and, where it is installed, by Debian 12's perf 6.1. With --as-is the files themselves are read, too. perf's exit code is not its
opinion: it ends with 0 on most failures in mid-stream, so what it says counts. A file of deferred stacks is one that perf 6.1 does
not know; seam must have said so. Exit 1: a file was refused; 77: there is no perf 7.3.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
REFUSED = re.compile(r"processing failed|failed to process|incompat|aborting|Invalid HEADER|Reserved bits|Unknown sample type|"
                     r"can't parse|can't read|not supported by this|Segmentation|stack smashing", re.I)
DEFERRED = re.compile(r"seam convert")


def perfs():
    newest = [os.path.join(HERE, "peer"), "perf"]
    if subprocess.run(newest + ["--version"], capture_output=True, check=False).returncode:
        return []
    found = [("7.3", newest)]
    old = subprocess.run(["perf", "--version"], capture_output=True, text=True, check=False).stdout
    if re.match(r"perf version 6\.1\b", old):
        found.append(("6.1", ["perf"]))
    return found


def opinion(perf, path):
    """What perf has against the file; None: nothing."""
    done = subprocess.run(perf + ["script", "-f", "-i", path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=300, check=False)
    said = done.stderr.decode(errors="replace")
    if done.returncode < 0:
        return "ended by signal %d" % -done.returncode
    bad = REFUSED.search(said)
    if bad:
        return said[max(0, bad.start() - 60):bad.end() + 60].replace("\n", " ")
    return "exit %d: %s" % (done.returncode, said[:120]) if done.returncode else None


def judge(have, path, what, deferred_said):
    faults = []
    for version, perf in have:
        against = opinion(perf, path)
        if against and not (version == "6.1" and deferred_said):
            faults.append("%s: perf %s: %s" % (what, version, against))
    return faults


def check(seam, have, path, as_is, directory):
    """The faults of one file, and how many files perf was given."""
    faults, n = [], 0
    if as_is:
        faults += judge(have, path, path, as_is == "deferred")
        n += 1
    for command in ("convert", "recover"):
        out = os.path.join(directory, "%s-%x" % (command, abs(hash(path))))
        done = subprocess.run([seam, command, path, "-o", out], capture_output=True, check=False)
        if done.returncode in (0, 3) and os.path.exists(out):
            said = DEFERRED.search(done.stderr.decode(errors="replace"))
            faults += judge(have, out, "%s %s" % (command, path), command == "recover" and said)
            os.unlink(out)
            n += 1
        elif done.returncode not in (1, 3):
            faults.append("%s %s: exit %d" % (command, path, done.returncode))
    return faults, n


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seam", default=os.path.join(HERE, "..", "build", "seam"))
    p.add_argument("--as-is", choices=["always", "deferred"], help="deferred: perf 6.1 need not read them")
    p.add_argument("files", nargs="+")
    o = p.parse_args()
    have = perfs()
    if not have:
        print("skipped: scripts/peer has no perf")
        sys.exit(77)
    total = bad = 0
    with tempfile.TemporaryDirectory(prefix="seam-peer-reads-") as directory, ThreadPoolExecutor(os.cpu_count()) as pool:
        for faults, n in pool.map(lambda f: check(os.path.abspath(o.seam), have, f, o.as_is, directory), o.files):
            total += n
            bad += len(faults)
            for fault in faults:
                print(fault)
    print("%d files read by perf %s: %d refused" % (total, " and ".join(v for v, _ in have), bad))
    sys.exit(1 if bad or not total else 0)


main()
