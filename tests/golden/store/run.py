#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stores in SQLite files.

    run.py SEAM DATA

A report of what was imported is, to the byte, the report of the recording, but for advice that needs the recorded machine's
files; import is done once, however often it is asked for; a span and a filter give their part, and all parts the whole; a
writer that is killed anywhere leaves whole windows, and goes on; what makes no sense is told. Exit 77: a build without SQLite.
"""
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import held  # noqa: E402
from held import ENV, EVER, NOWHERE, SEAM, check, fault, seam  # noqa: E402

DATA = os.path.abspath(sys.argv[2])
RECORDINGS = ["gcc_d", "hackbench_d", "multi_group", "pipe_z", "kill9_z", "regs"]


def without_advice(text):
    """Lines below a missing name that tell what would help: an answer has none of them."""
    return "\n".join(l for l in text.split("\n") if not l.startswith(" " * 11) or " would name it" not in l and
                     " tells builds apart" not in l and " names this code" not in l and " can name it" not in l and
                     " it has names" not in l)


def exports(url, recording, work):
    """Exports that need no single samples: folded stacks are the recording's, the others are made."""
    folded = [seam("export", "-f", "folded", *args)[0] for args in ([*NOWHERE, recording], ["--store", url, *EVER])]
    check(recording + ": folded", *("\n".join(sorted(f.split("\n"))) for f in folded))
    made = json.loads(seam("export", "-f", "json", "--store", url, *EVER)[0])
    wanted = json.loads(seam("export", "-f", "json", *NOWHERE, recording)[0])
    check(recording + ": json", sum(r["weight"] for r in wanted["rows"]), sum(r["weight"] for r in made["rows"]))
    for name in ("s.pb.gz", "s.html", "s.svg"):
        out = os.path.join(work, name)
        seam(*(["export", "-f", "pprof"] if name == "s.pb.gz" else ["flame"]), "--store", url, *EVER, "-o", out)
        if not os.path.exists(out) or os.path.getsize(out) < 500:
            fault("%s: no %s" % (recording, name))


def with_samples(text):
    """A store knows of no event without samples."""
    report = json.loads(text)
    report["events"] = [e for e in report["events"] if e["samples"]]
    return json.dumps(report, indent=1)


def answers(url, recording):
    for options in ([], ["-s", "sym"], ["--json"], ["--csv", "-s", "comm,dso,sym,state,event,build_id"], ["-s", "srcline"],
                    ["-g", "callee"], ["--no-children", "-n"], ["--hierarchy", "-s", "comm,dso"], ["--group", "-s", "sym"],
                    ["-t", ";", "-S", "[unknown]"]):
        if "--group" in options and "multi" not in recording:
            continue
        wanted = seam("report", *NOWHERE, *options, recording)[0]
        got = seam("report", "--store", url, *EVER, *options)[0]
        if "--json" in options:
            wanted, got = with_samples(wanted), with_samples(got)
        check("%s %s" % (recording, options), without_advice(wanted), without_advice(got))


def same_answers(work):
    for name in RECORDINGS:
        recording = os.path.join(DATA, name, "perf.data")
        url = "sqlite:" + os.path.join(work, name + ".db")
        err = seam("store", "import", "--store", url, "--window", "1s", *NOWHERE, recording)[1]
        if "has no SQLite" in err:
            print("skipped: this build has no SQLite")
            sys.exit(77)
        answers(url, recording)
        exports(url, recording, work)
        again = seam("store", "import", "--store", url, "--window", "1s", *NOWHERE, recording)[1]
        if ": 0 windows put" not in again:
            fault("%s is put twice: %s" % (name, again))
        listed = json.loads(seam("store", "ls", "--json", "--store", url)[0])
        report = json.loads(seam("report", "--json", *NOWHERE, recording)[0])
        check(name + ": samples of all series", report["samples"], sum(s["samples"] for s in listed["series"]))
        comms = {s["labels"]["comm"] for s in listed["series"]}
        parts = [json.loads(seam("report", "--json", "--store", url, *EVER, "--where",
                                 "comm=" + c.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\="))[0])["samples"]
                 for c in comms]
        check(name + ": samples by comm", report["samples"], sum(parts))
        rows = json.loads(seam("store", "ls", "--json", "--by", "comm,nothing", "--store", url)[0])["series"]
        check(name + ": ls by comm", sorted((c, sum(s["samples"] for s in listed["series"] if s["labels"]["comm"] == c),
                                             sum(s["labels"]["comm"] == c for s in listed["series"])) for c in comms),
              sorted((r["labels"]["comm"], r["samples"], r["series"]) for r in rows))
        check(name + ": the order of ls by comm", sorted((r["samples"] for r in rows), reverse=True), [r["samples"] for r in rows])
        by = json.loads(seam("report", "--json", "--store", url, *EVER, "--by", "comm", "-s", "comm")[0])
        check(name + ": the label is the comm", [], [r for r in by["rows"] if r["label"] != r["comm"]])
        middle = "@%d" % ((listed["first_ns"] + listed["last_ns"]) // 2 // 10**9)
        halves = [json.loads(seam("report", "--json", "--store", url, *s)[0])["samples"]
                  for s in (["--from", "@0", "--to", middle], ["--from", middle, "--to", "@4000000000"])]
        check(name + ": samples by time", report["samples"], sum(halves))
        if name in ("gcc_d", "multi_group"):
            compacted(name, url, recording, work)


def compacted(name, url, recording, work):
    """Longer windows give the same answers, and are known when they are put again; so are those of a store of version 1."""
    path = url[len("sqlite:"):]
    old = os.path.join(work, "old.db")
    shutil.copy(path, old)
    db = sqlite3.connect(old)
    db.executescript("DROP TRIGGER epochs_own_names; DROP INDEX epochs_names; DROP INDEX windows_merged; DROP INDEX windows_epoch_from; "
                     "ALTER TABLE epochs DROP COLUMN names; ALTER TABLE epochs DROP COLUMN step_ns; ALTER TABLE windows DROP COLUMN begins; "
                     "CREATE INDEX windows_epoch ON windows (epoch); PRAGMA user_version = 1")
    db.close()
    wanted = seam("report", "--store", url, *EVER)[0]
    os.chmod(old, 0o400)
    check(name + ": version 1 is read", wanted, seam("report", "--store", "sqlite:" + old, *EVER)[0])
    check(name + ": and listed", seam("store", "ls", "--json", "--store", url)[0].split('"series"')[1],
          seam("store", "ls", "--json", "--store", "sqlite:" + old)[0].split('"series"')[1])
    os.chmod(old, 0o600)
    for store in (old, path):
        before = windows_of(store)
        out = seam("store", "compact", "--store", "sqlite:" + store)[0]
        after = windows_of(store)
        check(name + ": windows are merged", ("%d windows became %d\n" % (before[2], after[2]), True), (out, after[2] < before[2]))
        check(name + ": the store is sound", ("ok", 0), (after[0], after[3]))
        check(name + ": once is enough", "0 windows became 0\n", seam("store", "compact", "--store", "sqlite:" + store)[0])
        again = seam("store", "import", "--store", "sqlite:" + store, "--window", "1s", *NOWHERE, recording)[1]
        if ": 0 windows put" not in again:
            fault("%s is put twice: %s" % (store, again))
        answers("sqlite:" + store, recording)


def windows_of(path):
    """What each window has, and whether the database is sound."""
    db = sqlite3.connect(path)
    sound = db.execute("PRAGMA integrity_check").fetchone()[0]
    rows = db.execute("SELECT from_ns, sum(counts.samples), count(*) FROM windows LEFT JOIN counts ON window = windows.id "
                      "GROUP BY windows.id").fetchall()
    stray = db.execute("SELECT count(*) FROM counts WHERE window NOT IN (SELECT id FROM windows)").fetchone()[0]
    db.close()
    return sound, {r[0]: r[1:] for r in rows}, len(rows), stray


def killed(work):
    """A writer is killed again and again, at any point; the next one goes on."""
    recording = os.path.join(DATA, "gcc_d", "perf.data")
    whole, path = os.path.join(work, "whole.db"), os.path.join(work, "killed.db")
    args = ["store", "import", "--window", "20ms", *NOWHERE, recording, "--store"]
    begin = time.monotonic()
    seam(*args, "sqlite:" + whole)
    took = time.monotonic() - begin
    sound, wanted, n, stray = windows_of(whole)
    check("the whole is sound", ("ok", len(wanted), 0), (sound, n, stray))
    chance = random.Random(16)
    partial = kills = 0
    for turn in range(40):
        writer = subprocess.Popen([SEAM, *args, "sqlite:" + path], env=ENV, stderr=subprocess.DEVNULL)
        time.sleep(chance.random() * took)
        writer.send_signal(signal.SIGKILL)
        kills += writer.wait() == -signal.SIGKILL
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            continue
        try:
            sound, got, n, stray = windows_of(path)
        except sqlite3.OperationalError as e:
            if "no such table" not in str(e):  # killed before the first transaction
                fault("turn %d: %s" % (turn, e))
            continue
        check("turn %d: sound, each window once" % turn, ("ok", len(got), 0), (sound, n, stray))
        check("turn %d: windows that are there are whole" % turn, {t: wanted.get(t) for t in got}, got)
        partial += 0 < len(got) < len(wanted)
        if len(got) == len(wanted):  # from the beginning once more
            for f in (path, path + "-wal", path + "-shm"):
                if os.path.exists(f):
                    os.unlink(f)
    seam(*args, "sqlite:" + path)
    check("all windows in the end", wanted, windows_of(path)[1])
    answers("sqlite:" + path, recording)
    print("%d kills, %d of them left a part of %d windows" % (kills, partial, len(wanted)))


def refusals(work):
    recording = os.path.join(DATA, "gcc_d", "perf.data")
    path = os.path.join(work, "gcc_d.db")
    url = "sqlite:" + path
    for status, words, args in (
            (2, "is no store", ["report", "--store", "x"]),
            (2, "is no store", ["report", "--store", "mysql:x"]),
            (1, "No such file", ["report", "--store", "sqlite:/nonexistent"]),
            (1, "not a database", ["report", "--store", "sqlite:" + recording]),
            (2, "needs --store", ["report", "--from", "-1h"]),
            (2, "is no time", ["report", "--store", url, "--from", "yesterdayish"]),
            (2, "not before", ["report", "--store", url, "--from", "now", "--to", "-1h"]),
            (2, "is no list", ["report", "--store", url, "--where", "service"]),
            (2, "does not keep", ["report", "--store", url, "-s", "pid"]),
            (2, "does not go with", ["report", "--store", url, recording]),
            (2, "does not go with", ["report", "--store", url, "--tid", "1"]),
            (2, "does not go with", ["report", "--store", url, "--stats"]),
            (2, "does not go with firefox", ["export", "--store", url, *EVER, "-f", "firefox"]),
            (2, "does not go with --base", ["flame", "--store", url, *EVER, "--base", recording]),
            (2, "needs --store", ["flame", "--where", "a=b", recording]),
            (0, "no window begins", ["report", "--store", url, "--from", "@1", "--to", "@2"]),
            (0, "no series", ["report", "--store", url, *EVER, "--where", "comm='; DROP TABLE windows; --"]),
            (2, "is missing", ["store"]),
            (2, "is not ls", ["store", "rm"]),
            (2, "all that is old enough", ["store", "compact", "--store", url, "--from", "@1"]),
            (1, "No such file", ["store", "compact", "--store", "sqlite:/nonexistent/x"]),
            (2, "needs one", ["store", "import"]),
            (2, "is no LABEL=VALUE", ["store", "import", "--store", url, "--label", "x", recording]),
            (2, "more than the labels", ["store", "import", "--store", url, "--label", ",".join("k%d=v" % i for i in range(999)), recording]),
            (2, "more than the labels", ["agent", "--store", url, "--label", ",".join("k%d=v" % i for i in range(999))]),
            (2, "no operand", ["store", "ls", "x"])):
        out, err, got = seam(*args, status=None)
        if got != status or words not in err or len(err.rstrip("\n").split("\n")) != 1:
            fault("%s: exit %d: %s%s" % (args, got, err, out[:100]))
    # Hostile labels are data: in a filter, in the database, on a terminal.
    bad = "a'; DROP TABLE windows; --\x1b[31m<b>"
    hostile = os.path.join(work, "hostile.db")
    seam("store", "import", "--store", "sqlite:" + hostile, *NOWHERE, "--label", "service=" + bad, recording)
    out = seam("report", "--store", "sqlite:" + hostile, *EVER, "--by", "service", "--where", "service=" + bad)[0]
    if "DROP TABLE" not in out or "\x1b" in out:
        fault("a hostile label: " + out[:300])
    if "\x1b" in seam("store", "ls", "--store", "sqlite:" + hostile)[0]:
        fault("ls writes an escape")
    # Of a newer version, of another program.
    db = sqlite3.connect(hostile)
    db.execute("PRAGMA user_version = 99")
    db.close()
    for args in (["report", "--store", "sqlite:" + hostile], ["store", "import", "--store", "sqlite:" + hostile, recording]):
        if "newer seam" not in seam(*args, status=1)[1]:
            fault("a newer store is not refused: %s" % args)
    other = os.path.join(work, "other.db")
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE mine (x)")
    db.commit()
    db.close()
    if "no store of seam" not in seam("store", "import", "--store", "sqlite:" + other, recording, status=1)[1]:
        fault("another program's database is not refused")


def series(work):
    url = "sqlite:" + os.path.join(work, "gcc_d.db")
    listed = json.loads(seam("store", "ls", "--json", "--store", url)[0])
    span = ["--from", "@%d" % (listed["first_ns"] // 10**9), "--to", "@%d" % (listed["last_ns"] // 10**9 + 1)]
    report = json.loads(seam("report", "--json", "--store", url, *span, "-s", "sym")[0])
    row = next(r for r in report["rows"] if r["sym"] and "'" not in r["sym"])
    got = json.loads(seam("store", "series", row["sym"], "--store", url, *span, "--window", "1s", "--json")[0])
    check("a function's weight over time", (row["total"], row["self"], report["events"][0]["weight"]),
          tuple(sum(p[k] for p in got["points"]) for k in ("total", "self", "all")))
    lines = seam("store", "series", row["sym"], "--store", url, *span, "--window", "1s", "--csv")[0].strip().split("\n")
    check("points as CSV", len(got["points"]) + 1, len(lines))


def main():
    work = tempfile.mkdtemp(prefix="seam-store-")
    try:
        same_answers(work)
        killed(work)
        refusals(work)
        series(work)
    finally:
        shutil.rmtree(work)
    print("%d faults" % held.faults)
    return 1 if held.faults else 0


sys.exit(main())
