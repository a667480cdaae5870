#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Other projects' recordings (tests/data/public): every command opens each, and counts what was counted.

    run.py SEAM PUBLIC

The table of their README says, for each file, how many samples an independent walk of its records found.
seam stat, script and dump must find as many, from the file and from a pipe; header and evlist must open
it. A file whose README names damage (walk:badrec, walk:truncrec) must be told as partial (exit 3), all
others as whole (exit 0).
"""
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROW = re.compile(r"^\| (\S+) \|[^|]*\|[^|]*\| (\d+) / \S+ \| (.*) \|$")


def run(seam, *args, stdin=None):
    done = subprocess.run([seam, *args], stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def samples_of_stat(out):
    return sum(int(n) for n in re.findall(r"^ +SAMPLE events: +(\d+)  \(", out, re.M))


def check(seam, path, samples, damaged):
    faults = []
    wanted = 3 if damaged else 0
    for name, args, count in (
            ("stat", ["stat", "--check", path], samples_of_stat),
            ("dump", ["dump", path], lambda out: len(re.findall(r"PERF_RECORD_SAMPLE\(", out))),
            ("dump --json", ["dump", "--json", "-t", "SAMPLE", path], lambda out: out.count("\n")),
            ("script", ["script", "-F", "tid", "-i", path], lambda out: len(out.split("\n")) - 1),
            ("header", ["header", path], lambda out: samples),
            ("evlist", ["evlist", path], lambda out: samples if out else -1)):
        code, out, err = run(seam, *args)
        if code != wanted and not (damaged and name in ("header", "evlist") and code == 0):
            faults.append("%s: exit %d, not %d: %s" % (name, code, wanted, err.strip()[:200]))
        if count(out) != samples:
            faults.append("%s: %d samples, not %d" % (name, count(out), samples))
    with open(path, "rb") as f, subprocess.Popen(["cat"], stdin=f, stdout=subprocess.PIPE) as cat:
        code, out, err = run(seam, "stat", "-", stdin=cat.stdout)
    if code != wanted or samples_of_stat(out) != samples:
        faults.append("stat -: exit %d, %d samples: %s" % (code, samples_of_stat(out), err.strip()[:200]))
    return faults


def main():
    seam, public = os.path.abspath(sys.argv[1]), sys.argv[2]
    with open(os.path.join(public, "README.md")) as f:
        rows = [m.groups() for m in map(ROW.match, f) if m]
    bad = 0
    with tempfile.TemporaryDirectory(prefix="seam-public-") as work:
        for name, samples, what in rows:
            path = os.path.join(work, name)
            with gzip.open(os.path.join(public, name + ".gz")) as packed, open(path, "wb") as plain:
                shutil.copyfileobj(packed, plain)
            faults = check(seam, path, int(samples), "walk:" in what)
            bad += bool(faults)
            print("%s %s: %s samples" % ("FAIL" if faults else "ok  ", name, samples))
            for fault in faults:
                print("     " + fault)
    print("%d files, %d faults" % (len(rows), bad))
    sys.exit(1 if bad or not rows else 0)


main()
