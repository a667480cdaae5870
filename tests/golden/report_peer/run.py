#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""seam report's samples and percentages against perf 7.3.4's, key by key, on the recordings of tests/data.

run.py SEAM DATA PEER: exit 77 without the peer.

perf's `pid` tells threads apart, and its `tgid` processes: they are seam's `tid` and `pid`. Names of
functions are not compared: perf has none without the guest's files and prints addresses instead. By
comm only recordings without an exec are compared: of a sample whose stack came later perf takes the
name that the task had then (class comm of compare_peer).
"""
import collections
import csv
import io
import os
import subprocess
import sys

KEYS = [("tgid", "pid"), ("pid", "tid"), ("cpu", "cpu"), ("time", "time"), ("dso", "dso"),
        ("dso,time", "dso,time")]
NO_EXEC = ["attach_p", "uonly", "regs"]
# A group that is read at its leader's samples: perf shows its members' shares in one row.
GROUPS = {"multi_group": ["cpu-clock/freq=2000/", "page-faults"]}
FOLDERS = NO_EXEC + ["gcc_d", "hackbench_d", "sysshort_d"]


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def of_perf(peer, path, keys, member=0):
    status, text, err = run([peer, "perf", "report", "-i", path, "--stdio", "--no-children", "-g", "none",
                             "-s", keys, "-F", "overhead,sample," + keys, "-t", ";", "--percent-limit", "0"])
    if status:
        raise RuntimeError(err)
    rows = collections.Counter()
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split(";")]
        names = []
        for key, cell in zip(keys.split(","), cells[2:]):
            names.append(cell.split(":")[0].strip() if key in ("pid", "tgid") else
                         ("-" if int(cell) < 0 else str(int(cell))) if key == "cpu" else cell)
        rows[tuple(names)] += int(cells[1].split()[member])
        share[tuple(names)] += float(cells[0].split()[member].rstrip("%"))
    return rows


def of_seam(seam, path, keys, event=None):
    status, text, err = run([seam, "report", "-i", path, "--csv", "--no-children", "--no-inline", "-g", "none",
                             "--symfs", "/nonexistent", "-s", keys] + (["-e", event] if event else []))
    if status:
        raise RuntimeError(err)
    rows = collections.Counter()
    for row in csv.DictReader(io.StringIO(text)):
        if int(row["self_samples"]):
            name = tuple(os.path.basename(row[key]) if key == "dso" else row[key] for key in keys.split(","))
            rows[name] += int(row["self_samples"])
            ours[name] += float(row["self_percent"])
    return rows


seam, data, peer = sys.argv[1:4]
if not os.path.isdir(os.path.expanduser(os.environ.get("SEAM_CACHE", "~/.cache/seam-tests") + "/peer/root")):
    print("the peer is not here: scripts/peer provides it")
    sys.exit(77)
TABLES = [(folder, None, theirs, mine) for folder in FOLDERS
          for theirs, mine in KEYS + ([("comm", "comm"), ("comm,dso", "comm,dso")] if folder in NO_EXEC else [])]
TABLES += [(folder, event, theirs, mine) for folder, events in GROUPS.items() for event in events
           for theirs, mine in KEYS]
failed = compared = 0
for folder, event, theirs, mine in TABLES:
    path = os.path.join(data, folder, "perf.data")
    share, ours = collections.Counter(), collections.Counter()
    want = of_perf(peer, path, theirs, GROUPS[folder].index(event) if event else 0)
    got = of_seam(seam, path, mine, event)
    wrong = ["%s: perf %d, seam %d samples" % (name, want[name], got[name])
             for name in sorted(set(want) | set(got)) if want[name] != got[name]]
    # perf rounds to 0.01 %, once per row that it prints.
    wrong += ["%s: perf %.2f %%, seam %.4f %%" % (name, share[name], ours[name])
              for name in sorted(share) if abs(share[name] - ours[name]) > 0.011]
    if not want:
        wrong = ["perf shows nothing"]
    compared += len(want)
    print("%-4s %s %s -s %s: %d rows" % ("FAIL" if wrong else "ok", folder, event or "", mine, len(want)))
    for line in wrong[:10]:
        print("     " + line)
    failed += bool(wrong)
print("%d rows compared, %d tables differ" % (compared, failed))
sys.exit(1 if failed or not compared else 0)
