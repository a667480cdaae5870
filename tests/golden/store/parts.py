# SPDX-License-Identifier: MIT
"""Sums by frame in an SQLite store, of parts of its time and beside new windows: an answer that takes what it can from them is, to the
byte, the one that reads all stacks; of whole hours, and of new windows, it reads none; what makes no sense is told."""
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import hours  # noqa: E402
from held import EVER, check, fault, seam  # noqa: E402

FORMS = (["-g", "none"], ["-g", "none", "-s", "sym"], ["-g", "none", "-s", "dso"], ["-g", "none", "-s", "comm"], ["--no-children", "-g", "none"],
         ["-g", "none", "-s", "comm,state,event"], ["-g", "none", "-s", "build_id,sym", "-F", "overhead,sample,period"], ["--json"],
         ["--csv", "-s", "dso,build_id,sym,state"], ["-g", "none", "--by", "service,version"], ["-g", "none", "-s", "srcline"],
         ["-g", "none", "-s", "time,sym", "--time-quantum", "10m"], ["-g", "none", "-n", "--percent-limit", "3"])


def without_parts(path):
    """The same store, from which all stacks are read."""
    plain = path + "-plain"
    shutil.copyfile(path, plain)
    db = sqlite3.connect(plain)
    n = db.execute("SELECT count(*) FROM parts").fetchone()[0]
    db.executescript("DROP TRIGGER parts_folded; DROP TABLE parts")
    if db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'beside'").fetchone()[0]:
        db.executescript("DROP TRIGGER beside_windows; DROP TABLE beside")
    db.close()
    return plain, n


def same(what, path, spans, wheres):
    plain, n = without_parts(path)
    if not n:
        fault(what + ": no parts")
    for span in spans:
        for where in wheres:
            for form in FORMS:
                args = ["report", *form, *span, *where]
                wanted, got = ([s.replace(p, "PATH") if isinstance(s, str) else s for s in seam(*args, "--store", "sqlite:" + p, status=None)]
                               for p in (plain, path))
                check("%s: %s" % (what, args), wanted, got)
    return plain


def spans_of(path):
    """Everything, the time of some windows to odd ends, and whole hours around them."""
    db = sqlite3.connect(path)
    begins = [r[0] // 10**9 for r in db.execute("SELECT from_ns FROM windows ORDER BY from_ns").fetchall()]
    db.close()
    yield EVER
    for at in (begins[0], begins[len(begins) // 2], begins[-1]):
        yield ["--from", "@%d" % (at // 3600 * 3600), "--to", "@%d" % (at // 3600 * 3600 + 3600)]
        yield ["--from", "@%d" % (at - 1801), "--to", "@%d" % (at + 3)]


def kept_small(path, put, first):
    """What is too much goes, the oldest first, although it is not old. Of other rules it is no use to readers."""
    db = sqlite3.connect(path)
    large = [r[0] for r in db.execute("SELECT id FROM beside ORDER BY from_ns LIMIT 6 OFFSET 30")]
    check("there are as many", 6, len(large))
    db.executemany("UPDATE beside SET data = zeroblob(1 << 20) WHERE id = ?", [(i,) for i in large])
    db.commit()
    db.close()
    subprocess.run([put, "some", "sqlite:" + path, str(first), "25"], check=True, stdout=subprocess.DEVNULL)
    db = sqlite3.connect(path)
    there, size = db.execute("SELECT count(*), sum(length(data)) FROM beside").fetchone()
    db.execute("DELETE FROM beside WHERE length(data) = 1 << 20")
    db.commit()
    db.close()
    check("at most so much is kept: %d bytes of %d windows" % (size, there), True, size <= 4 << 20 and there >= 50)


def beside(work, put):
    """Windows as an agent puts them, each with its sums: what is asked of them reads no stacks."""
    path, said = os.path.join(work, "beside.db"), os.path.join(work, "beside-said")
    with open(said, "wb") as out:
        writer = subprocess.Popen([put, "write", "sqlite:" + path, "0"], stdout=out)
        while writer.poll() is None and open(said, "rb").read().count(b"put ") < 330:
            time.sleep(0.01)
        writer.kill()
        writer.wait()
    kept_small(path, put, max(int(line[4:]) for line in open(said, encoding="ascii") if line.startswith("put ")) + 2)
    same("beside windows", path, list(spans_of(path)), ([], ["--where", "service=b"]))
    db = sqlite3.connect(path)
    at = [r[0] // 10**9 for r in db.execute("SELECT windows.from_ns FROM beside JOIN windows USING (id) ORDER BY windows.from_ns")]
    of_windows, gone = db.execute("SELECT count(*), (SELECT count(*) FROM beside WHERE id NOT IN (SELECT id FROM windows)) FROM windows").fetchone()
    if not at or len(at) >= of_windows or gone:
        fault("%d windows of %d have sums beside them, and %d that are gone" % (len(at), of_windows, gone))
    spans = [["--from", "@%d" % a, "--to", "@%d" % (a + 1)] for a in (at[0], at[len(at) // 2], at[-1])]
    ask = [["report", *form, *span, "--store", "sqlite:" + path] for form in FORMS[:6] for span in spans]
    wanted = [seam(*a)[0] for a in ask]
    db.execute("DELETE FROM blocks WHERE id >> 24 & 3 = 3")
    db.commit()
    check("new windows without any stack", wanted, [seam(*a)[0] for a in ask])
    # Sums that make no sense are told, those of other rules left aside.
    told = 0
    for data in (b"", b"\0", b"\7", b"\0\1\1", b"\0\2", b"\0\2\x7f", b"\0\2\1", b"\0\2" + b"\xff" * 30, b"\0\2\x1f\0" + b"\xff" * 30 + b"\0"):
        db.execute("UPDATE beside SET data = ?", (data,))
        db.commit()
        out, err, status = seam("report", "-g", "none", *spans[1], "--store", "sqlite:" + path, status=None)
        if status not in (0, 1) or status and "is damaged" not in err:
            fault("damaged sums beside a window: exit %s: %s" % (status, err))
        told += status
    if not told:
        fault("no damaged sums beside a window were told")
    db.close()


def damaged(path):
    chance = random.Random(5)
    broken = path + "-broken"
    told = 0
    for turn in range(40):
        shutil.copyfile(path, broken)
        db = sqlite3.connect(broken)
        for part, data in db.execute("SELECT id, data FROM parts").fetchall():
            if turn % 2:  # as any numbers that it might have unpacked
                head, frames = (b"\0" + b"".join(hours.number(chance.randrange(chance.choice((2, 40, 1 << 23)))) for _ in range(90)) for _ in range(2))
                data = b"\0\2" + hours.number(len(head)) + head + frames
            data = bytearray(data[:chance.randrange(1, len(data) + 1)] if turn % 3 else data)
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            db.execute("UPDATE parts SET data = ? WHERE id = ?", (bytes(data), part))
        db.commit()
        db.close()
        for args in (["report", "-g", "none", *EVER], ["report", "-g", "none", "-s", "comm", *EVER], ["store", "rollup"]):
            out, err, status = seam(*args, "--store", "sqlite:" + broken, status=None)
            if status not in (0, 1) or status and "is damaged" not in err or "\x1b" in out + err:
                fault("%s of damaged parts: exit %s: %s" % (args, status, err))
            told += status
    if not told:
        fault("no damaged part was told")


def older_rules(path, forms, wanted, end):
    """Parts of other rules are none to readers, and are made anew, also those of a seam that did not say by which it made them."""
    for how in ("UPDATE parts SET rules = rules - 1, data = x'0001'", "ALTER TABLE parts DROP COLUMN rules"):
        db = sqlite3.connect(path)
        n = db.execute("SELECT count(*) FROM parts").fetchone()[0]
        db.execute(how)
        db.commit()
        ask = ["report", *forms[0], *end, "--store", "sqlite:" + path]
        check("parts of other rules are none: " + how, wanted[0], seam(*ask)[0])
        seam("store", "rollup", "--store", "sqlite:" + path)
        check("all were made anew: " + how, n, db.execute("SELECT count(*) FROM parts WHERE rules = (SELECT max(rules) FROM parts) AND rules > 1 "
                                                         "AND length(data) > 9").fetchone()[0])
        check("as they were: " + how, wanted, [seam("report", *form, *end, "--store", "sqlite:" + path)[0] for form in forms])
        db.close()


def parts(work, put):
    beside(work, put)
    path = os.path.join(work, "parts.db")
    url = "sqlite:" + path
    wheres = ([], ["--where", "service=web"], ["--where", "service=none"], ["--where", "version!=1"])
    hours.brought(work, url, "hackbench_d", 90000, "service=web", "version=1")
    hours.brought(work, url, "pipe_z", 90000, "service=" + hours.quoted(hours.HOSTILE))
    hours.brought(work, url, "multi_group", 5000)
    hours.brought(work, url, "gcc_d", 1800, "service=web", "version=2")
    seam("store", "rollup", "--store", url)
    same("as it was put", path, list(spans_of(path)), wheres)
    seam("store", "compact", "--store", url)
    plain = same("compacted", path, [EVER], wheres[:2])
    # Windows that come later.
    hours.brought(work, url, "kill9_z", 90000, "service=web", "version=3")
    same("more came", path, [EVER, *list(spans_of(path))[1:3]], wheres[:2])
    seam("store", "rollup", "--store", url)
    same("and were summed up", path, [EVER], wheres[:2])
    # Of whole hours no stack is read.
    end = ["--from", "@0", "--to", "@%d" % ((int(time.time()) - 43200) // 3600 * 3600)]
    wanted = [seam("report", *form, *end, "--store", url)[0] for form in FORMS[:6]]
    older_rules(path, FORMS[:6], wanted, end)
    db = sqlite3.connect(path)
    db.execute("DELETE FROM blocks WHERE id >> 24 & 3 = 3")
    db.commit()
    db.close()
    check("without any stack", wanted, [seam("report", *form, *end, "--store", url)[0] for form in FORMS[:6]])
    damaged(path)
    # A store that an older seam folds has no parts of that time any more.
    shutil.copyfile(path, plain)
    db = sqlite3.connect(plain)
    db.execute("UPDATE epochs SET folded = 1")
    check("parts of stacks that were folded", 0, db.execute("SELECT count(*) FROM parts").fetchone()[0])
    db.close()
