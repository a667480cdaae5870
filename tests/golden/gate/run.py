#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""seam diff --store --fail-if-slower, of versions whose difference is known.

    run.py SEAM PUT

A function that has 1.3 times the share fails the gate, and is let through by one that allows more; versions that are equal do not
fail it; intervals hold the truth as often as they say. Exit 77: a build without SQLite.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import held  # noqa: E402
from held import EVER, check, fault, seam  # noqa: E402

# Under sanitizers, where a start of seam takes the longest, the first ones alone.
SERVICES = 6 if os.environ.get("SEAM_SANITIZED") == "1" else 20
SURE = 3  # so many are asked what is no matter of chance
FACTOR = 1.3


def diff(url, service, *args, sides=("version=1", "version=2")):
    out, err, status = seam("diff", "--store", url, *EVER, "--where", "service=" + service, "--base", sides[0], "--new", sides[1],
                            "-s", "sym", *args, status=None)
    return out + err, status


def ratio(url, service, *args):
    """The interval of the ratio of "f"."""
    out, status = diff(url, service, "--json", *args)
    check(service + ": exit status", 0, status)
    rows = [r for r in json.loads(out)["rows"] if r["sym"] == "f"]
    check(service + ": rows of f", 1, len(rows))
    return rows[0]["ratio_least"], rows[0]["ratio_most"]


def main():
    work = tempfile.mkdtemp(prefix="seam-gate-")
    url = "sqlite:" + os.path.join(work, "gate.db")
    try:
        put = subprocess.run([os.path.abspath(sys.argv[2]), url], capture_output=True, check=False)
        if b"has no SQLite" in put.stdout:
            print("skipped: this build has no SQLite")
            sys.exit(77)
        check("put", (0, b""), (put.returncode, put.stdout))
        held_truth = failed = alarms = 0
        for i in range(SERVICES):
            for service, truth in (("same-%d" % i, 1), ("slower-%d" % i, FACTOR)):
                least, most = ratio(url, service)
                held_truth += least <= truth <= most
            failed += diff(url, "slower-%d" % i, "--fail-if-slower", "5", "--symbol", "f")[1] == 4
            # All functions are asked about, and none has changed.
            alarms += diff(url, "same-%d" % i, "--fail-if-slower", "0")[1] != 0
            if i >= SURE:
                continue
            # The sums are the same whether callers are asked for or not: nothing is below "f".
            check("with callees", ratio(url, "slower-%d" % i), ratio(url, "slower-%d" % i, "--children"))
            check("more is allowed", 0, diff(url, "slower-%d" % i, "--fail-if-slower", "60", "--symbol", "f")[1])
            check("faster is no failure", 0, diff(url, "slower-%d" % i, "--fail-if-slower", "0", "--symbol", "f",
                                                  sides=("version=2", "version=1"))[1])
        # One in twenty misses by chance; the draws are the same in every run.
        if held_truth < 2 * SERVICES * 0.9:
            fault("%d of %d intervals hold the truth" % (held_truth, 2 * SERVICES))
        check("gates that failed of those that should", SERVICES, failed)
        check("false alarms", 0, alarms)
        out, status = diff(url, "slower-0", "--fail-if-slower", "5", "--symbol", "g")
        check("a function that nobody has", (1, True), (status, "nothing was compared" in out))
        out, status = diff(url, "slower-0", "--fail-if-slower", "5", sides=("version=1", "version=3"))
        check("a version that nobody has", (1, True), (status, "version=3 has no samples" in out))
    finally:
        shutil.rmtree(work)
    print("%d faults" % held.faults)
    return 1 if held.faults else 0


sys.exit(main())
