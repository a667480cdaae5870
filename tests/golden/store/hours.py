# SPDX-License-Identifier: MIT
"""The roll-up of an SQLite store: functions by hour are those of the reports of the same hours, whether hours were made once or again,
before and after compaction, by service and version, in stores of every version; what makes no sense is told."""
import json
import os
import random
import shutil
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from held import EVER, NOWHERE, check, fault, seam  # noqa: E402

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")
# Of one function, plain: a name and an object with control characters.
HOSTILE_NAMES = "UPDATE rolled_functions SET n = 1, data = x'00' || x'00' || x'03' || x'1b5b41' || x'03' || x'ff1b', seen = x'00' || x'01'"
HOSTILE = "a=1,\\'; DROP TABLE hours; --, 3:x"
PAST = ["--from", "@0", "--to", "-12h"]


def number(v):
    """As LEB128."""
    out = b""
    while v > 0x7f:
        out, v = out + bytes((v & 0x7f | 0x80,)), v >> 7
    return out + bytes((v,))


def quoted(value):
    return "".join("\\" + c if c in "\\,=" else c for c in value)


def brought(work, url, name, ago, *labels):
    """Imports a recording as of so many seconds ago."""
    path = os.path.join(work, "hours-" + name + ".data")
    shutil.copyfile(os.path.join(DATA, name, "perf.data"), path)
    os.utime(path, (time.time() - ago, time.time() - ago))
    seam("store", "import", "--store", url, "--window", "1s", *NOWHERE, *(w for label in labels for w in ("--label", label)), path)


def rolled(url, *span):
    """How many hours were made, and are not over."""
    words = seam("store", "rollup", "--store", url, *span)[0].split()
    return int(words[0]), int(words[9])


def same_functions(what, url, *span):
    top = json.loads(seam("store", "top", "--json", "-n", "10000", "--store", url, *span)[0])
    check(what + ": hours that are missing", 0, top["hours_missing"])
    rows = json.loads(seam("report", "--json", "--store", url, *span, "-s", "event,sym,dso")[0])["rows"]
    check(what + ": events", sorted({r["event"] for r in rows}), sorted(e["event"] for e in top["events"]))
    if not top["events"]:
        fault(what + ": no events")
    for event in top["events"]:
        wanted = sorted((r["sym"] or "", r["dso"] or "", r["self"], r["total"]) for r in rows if r["event"] == event["event"])
        got = sorted((f["function"], f["object"], f["self"], f["total"]) for f in event["functions"])
        check("%s: functions of %s %s" % (what, event["event"], span), wanted, got)
        check(what + ": all of them", sum(w[2] for w in wanted), event["all"])
        most = [f["self"] for f in event["functions"]]
        check(what + ": the most first", sorted(most, reverse=True), most)
    return top


def damaged(path):
    """What hours say is changed: an answer or an error, and nothing worse; names are escaped."""
    chance = random.Random(3)
    broken = path + "-broken"
    told = 0
    for _ in range(40):
        shutil.copyfile(path, broken)
        db = sqlite3.connect(broken)
        for hour, event, data in db.execute("SELECT hour, event, data FROM rolled_sums").fetchall():
            data = bytearray(data[:chance.randrange(1, len(data) + 1)])
            data[chance.randrange(len(data))] = chance.randrange(256)
            db.execute("UPDATE rolled_sums SET data = ? WHERE hour = ? AND event = ?", (bytes(data), hour, event))
        for first, seen, data in db.execute("SELECT id, seen, data FROM rolled_functions").fetchall():
            seen, data = bytearray(seen), bytearray(data)
            for of in chance.choice(((), (seen,), (data,), (seen, data))):
                of[chance.randrange(len(of))] = chance.randrange(256)
            db.execute("UPDATE rolled_functions SET seen = ?, data = ? WHERE id = ?", (bytes(seen), bytes(data), first))
        db.execute(chance.choice(("DELETE FROM rolled_functions", "UPDATE rolled_functions SET n = n + 1", "UPDATE rolled_functions SET id = id + 1",
                                  HOSTILE_NAMES)))
        db.commit()
        db.close()
        out, err, status = seam("store", "top", "--store", "sqlite:" + broken, *EVER, status=None)
        if status not in (0, 1) or "\x1b" in out + err:
            fault("a damaged roll-up: exit %d: %s" % (status, out + err))
        told += "the store is damaged" in err
    if not told:
        fault("no damaged roll-up was told")


def hours(work):
    path = os.path.join(work, "hours.db")
    url = "sqlite:" + path
    brought(work, url, "hackbench_d", 200000, "service=web", "version=1")
    brought(work, url, "pipe_z", 90000, "service=" + quoted(HOSTILE))
    brought(work, url, "multi_group", 0)
    text = seam("store", "top", "--store", url, *EVER)[0]
    if not text.startswith("0 hours are rolled up; ") or "'seam store rollup' adds" not in text:
        fault("before the roll-up: " + text)
    made, open_now = rolled(url)
    if made < 2 or open_now < 1:
        fault("rolled up: %d, %d are not over" % (made, open_now))
    check("once is enough", (0, open_now), rolled(url))
    for where in ([], ["--where", "service=web"], ["--where", "service=" + quoted(HOSTILE)], ["--where", "service=web,version=1"]):
        same_functions("hours", url, *PAST, *where)
    check("a version that is not there", [],
          json.loads(seam("store", "top", "--json", "--store", url, *PAST, "--where", "version=2")[0])["events"])
    if "by service and version" not in seam("store", "top", "--store", url, "--where", "host=x", status=1)[1]:
        fault("top by host is not refused")

    # Windows that come later make an hour anew; merged ones do not change it.
    brought(work, url, "gcc_d", 90000, "service=web", "version=2")
    missing = json.loads(seam("store", "top", "--json", "--store", url, *PAST)[0])["hours_missing"]
    check("hours with other windows", (True, missing), (missing > 0, rolled(url)[0]))
    before = same_functions("after more came", url, *PAST)
    seam("store", "compact", "--store", url)
    seam("store", "rollup", "--store", url)
    check("after compaction", before, same_functions("after compaction", url, *PAST))
    for only in ("1", "2"):
        same_functions("version " + only, url, *PAST, "--where", "version=" + only)

    # The roll-up of a store that had none, of an older version.
    old = os.path.join(work, "hours-old.db")
    shutil.copyfile(os.path.join(DATA, "gcc_d", "store-3.db"), old)
    # Numbers of functions that an older seam gave mean others: what has them goes.
    db = sqlite3.connect(old)
    db.executescript("CREATE TABLE hours (hour INTEGER PRIMARY KEY); INSERT INTO hours SELECT DISTINCT from_ns / 3600000000000 FROM windows;"
                     "CREATE TABLE hour_sums (hour); CREATE TABLE functions (id INTEGER PRIMARY KEY, name);"
                     "CREATE TRIGGER hours_again AFTER INSERT ON windows BEGIN DELETE FROM hours; END;")
    db.close()
    if "0 hours are rolled up" not in seam("store", "top", "--store", "sqlite:" + old, *EVER)[0]:
        fault("a store of version 3 has hours")
    made = rolled("sqlite:" + old)
    check("a store of version 3 is rolled up", True, made[0] > 0)
    same_functions("version 3", "sqlite:" + old, *PAST)
    db = sqlite3.connect(old)
    check("what an older seam rolled up", [], db.execute(
        "SELECT name FROM sqlite_master WHERE name IN ('hours', 'hour_sums', 'functions', 'hours_again')").fetchall())
    db.close()
    damaged(old)
    if "No such file" not in seam("store", "rollup", "--store", "sqlite:" + path + "-not", status=1)[1] or os.path.exists(path + "-not"):
        fault("a store that is not there is made by rollup")
