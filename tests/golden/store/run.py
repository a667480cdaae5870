#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stores in SQLite files.

    run.py SEAM DATA PUT [KILLS]

A report of what was imported is, to the byte, the report of the recording, but for advice that needs the recorded machine's
files; import is done once, however often it is asked for; a span and a filter give their part, and all parts the whole; a
writer that is killed anywhere leaves whole windows, and goes on; what makes no sense is told. Exit 77: a build without SQLite.
"""
import csv
import fcntl
import io
import json
import os
import pty
import random
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import held  # noqa: E402
import hours  # noqa: E402
import parts  # noqa: E402
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


def explained(url, recording):
    """What is said of all windows is said of the recording, but for what a store does not keep; its commands run, and print the shares."""
    said = [json.loads(seam("explain", "--json", *args)[0]) for args in ([*NOWHERE, recording], ["--store", url, *EVER])]
    check(recording + ": explain: the event", *((s["event"], s["samples"]) for s in said))
    of = [[(f["id"], f["percent"], f["text"]) for f in s["findings"] if f["section"] in ("time", "work") and
           f["id"] not in ("one_thread", "short_threads", "idle")] for s in said]
    idle = any(f["id"] == "idle" for f in said[0]["findings"])
    check(recording + ": explain: where the time goes", *(["\n".join(map(str, o)) for o in of if not idle] or ["", ""]))
    for f in said[1]["findings"]:
        if not f["command"]:
            continue
        check(recording + ": explain: what it is asked of", ["--store", url], f["command"][2:4])
        out = seam(*f["command"][1:], *(["-o", os.devnull] if f["command"][1] == "flame" else []))[0]
        if f["id"] in ("commands", "hottest_function", "passes_through") and \
                not any(abs(float(n) - f["percent"]) < 0.06 for n in re.findall(r"([\d.]+) ?%", out)):
            fault("%s: explain: %s: no %.2f %% in what '%s' prints" % (recording, f["id"], f["percent"], " ".join(f["command"])))


def of_events(url, recording):
    """-e leaves other events out, as of a recording."""
    report = json.loads(seam("report", "--json", "--store", url, *EVER)[0])
    for event in report["events"]:
        some = json.loads(seam("report", "--json", "--store", url, *EVER, "-e", event["name"])[0])
        check("%s: -e %s" % (recording, event["name"]), [r for r in report["rows"] if r["event"] == event["name"]], some["rows"])
        check("%s: samples of %s" % (recording, event["name"]), event["samples"], some["samples"])
    text = seam("report", "--store", url, *EVER, "-e", report["events"][0]["name"])[0]
    parts = [float(n) for n in re.findall(r"([\d.]+) % of the samples", text)]
    check("%s: -e %s: parts of a whole" % (recording, report["events"][0]["name"]), [], [n for n in parts if n > 100])
    for event in report["events"][1:]:
        if event["name"] in text:
            fault("%s: %s is there, which -e does not name" % (recording, event["name"]))
    check(recording + ": -e of no event", True, "is named 'nothing'" in seam("report", "--store", url, *EVER, "-e", "nothing", status=2)[1])


def with_samples(text):
    """A store knows of no event without samples."""
    report = json.loads(text)
    report["events"] = [e for e in report["events"] if e["samples"]]
    return json.dumps(report, indent=1)


def answers(url, recording):
    for options in ([], ["-s", "sym"], ["--json"], ["--csv", "-s", "comm,dso,sym,state,event,build_id"], ["-s", "srcline"],
                    ["-g", "callee"], ["--no-children", "-n"], ["--hierarchy", "-s", "comm,dso"], ["--group", "-s", "sym"],
                    ["-t", ";", "-S", "[unknown]"], ["-G", "-n"], ["-G", "-s", "sym,state"]):
        if "--group" in options and "multi" not in recording:
            continue
        wanted = seam("report", *NOWHERE, *options, recording)[0]
        got = seam("report", "--store", url, *EVER, *options)[0]
        if "--json" in options:
            wanted, got = with_samples(wanted), with_samples(got)
        check("%s %s" % (recording, options), without_advice(wanted), without_advice(got))


def same_answers(work):
    for name in RECORDINGS:
        # Of an hour ago, whenever it was checked out: its windows are old enough to be compacted. All in one minute, or they stay apart.
        recording = os.path.join(work, name + ".data")
        shutil.copy(os.path.join(DATA, name, "perf.data"), recording)
        end = (time.time() - 3600) // 60 * 60 + 45
        os.utime(recording, (end, end))
        url = "sqlite:" + os.path.join(work, name + ".db")
        err = seam("store", "import", "--store", url, "--window", "1s", *NOWHERE, recording)[1]
        if "has no SQLite" in err:
            print("skipped: this build has no SQLite")
            sys.exit(77)
        answers(url, recording)
        exports(url, recording, work)
        explained(url, recording)
        of_events(url, recording)
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
            compacted(name, url, recording)


def compacted(name, url, recording):
    """Longer windows give the same answers, and are known when they are put again."""
    path = url[len("sqlite:"):]
    wanted = seam("report", "--store", url, *EVER)[0]
    before = windows_of(path)
    out = seam("store", "compact", "--store", url)[0]
    after = windows_of(path)
    check(name + ": windows are merged", ("%d windows became %d\n" % (before, after), True), (out, after < before))
    check(name + ": once is enough", "0 windows became 0\n", seam("store", "compact", "--store", url)[0])
    again = seam("store", "import", "--store", url, "--window", "1s", *NOWHERE, recording)[1]
    if ": 0 windows put" not in again:
        fault("%s is put twice: %s" % (path, again))
    check(name + ": the same report", wanted, seam("report", "--store", url, *EVER)[0])
    answers(url, recording)


def windows_of(path):
    """How many windows there are, in a database that is sound, with no counts of others."""
    db = sqlite3.connect(path)
    check(path + ": sound", "ok", db.execute("PRAGMA integrity_check").fetchone()[0])
    check(path + ": counts without a window", (0, 0), (
        db.execute("SELECT count(*) FROM counts WHERE window NOT IN (SELECT id FROM windows)").fetchone()[0],
        db.execute("SELECT count(*) FROM counted WHERE id >> 20 NOT IN (SELECT id FROM windows)").fetchone()[0]))
    n = db.execute("SELECT count(*) FROM windows").fetchone()[0]
    db.close()
    return n


def on_any_machine(args):
    """A report, but for which kernel the machine has that its windows were made on: the stores of older versions have another one's."""
    return re.sub(r"(this machine's is) \w+", r"\1 another", seam("report", *args)[0])


def older(work):
    """Stores of older versions are read as they are, are written to, and are of this version when they were compacted."""
    recording = os.path.join(work, "perf.data")
    shutil.copyfile(os.path.join(DATA, "gcc_d", "perf.data"), recording)
    os.utime(recording, (1577880000, 1577880000))  # of when the store says it is
    fresh = "sqlite:" + os.path.join(work, "fresh.db")
    seam("store", "import", "--store", fresh, "--window", "1s", *NOWHERE, recording)
    wanted = on_any_machine(["--store", fresh, *EVER])
    for version in (3, 2, 1):
        path = os.path.join(work, "version%d.db" % version)
        shutil.copyfile(os.path.join(DATA, "gcc_d", "store-3.db"), path)
        db = sqlite3.connect(path)
        if version < 3:
            db.executescript("ALTER TABLE epochs DROP COLUMN folded; PRAGMA user_version = 2")
        if version == 1:
            db.executescript("DROP TRIGGER epochs_own_names; DROP INDEX epochs_names; DROP INDEX windows_merged; "
                             "DROP INDEX windows_epoch_from; ALTER TABLE epochs DROP COLUMN names; ALTER TABLE epochs DROP COLUMN step_ns; "
                             "ALTER TABLE windows DROP COLUMN begins; CREATE INDEX windows_epoch ON windows (epoch); PRAGMA user_version = 1")
        db.close()
        os.chmod(path, 0o400)
        url, name = "sqlite:" + path, "version %d" % version
        check(name + " is read", wanted, on_any_machine(["--store", url, *EVER]))
        check(name + " is listed", *([(s["labels"], s["windows"], s["samples"]) for s in json.loads(
            seam("store", "ls", "--json", "--store", u)[0])["series"]] for u in (fresh, url)))
        os.chmod(path, 0o600)
        # What is put into it stands beside what was there.
        more = os.path.join(DATA, "pipe_z", "perf.data")
        seam("store", "import", "--store", url, *NOWHERE, more)
        check(name + " with more in it", sum(json.loads(seam("report", "--json", *NOWHERE, r)[0])["samples"] for r in (recording, more)),
              json.loads(seam("report", "--json", "--store", url, *EVER)[0])["samples"])
        cc1 = [*EVER, "--where", "comm=cc1"]
        made_new(name, path, on_any_machine(["--store", fresh, *cc1]), cc1)


def made_new(name, path, wanted, span):
    """Compaction leaves nothing in the form of before, also of windows that do not grow longer; a seam of before cannot let go of what it
    does not see."""
    url = "sqlite:" + path
    db = sqlite3.connect(path)
    db.execute("UPDATE epochs SET step_ns = 3600000000000 WHERE id IN (SELECT epoch FROM windows JOIN counts ON window = windows.id) "
               "AND step_ns > 0")
    db.commit()
    seam("store", "compact", "--store", url)
    windows_of(path)
    check(name + ": nothing is as before", (0, 4), (db.execute("SELECT count(*) FROM counts").fetchone()[0],
                                                     db.execute("PRAGMA user_version").fetchone()[0]))
    check(name + ": the same report", wanted, on_any_machine(["--store", url, *span]))
    try:
        db.execute("DELETE FROM windows")
        fault(name + ": a seam of before may let go of windows without their counts")
    except sqlite3.IntegrityError as e:
        check(name + ": what a seam of before is told", "the store is of a newer seam: its counts are elsewhere", str(e))
    db.close()


def damaged_counts(work):
    """Counts of which a part is missing, or makes no sense, are told, and no answer has them."""
    chance = random.Random(4)
    whole, broken = (os.path.join(work, n) for n in ("whole.db", "broken.db"))
    seam("store", "import", "--store", "sqlite:" + whole, *NOWHERE, os.path.join(DATA, "hackbench_d", "perf.data"))
    wanted = seam("report", "--store", "sqlite:" + whole, *EVER)[0]
    for turn in range(40):
        shutil.copyfile(whole, broken)
        db = sqlite3.connect(broken)
        pieces = db.execute("SELECT id, data FROM counted").fetchall()
        at, data = chance.choice(pieces)
        change = ("missing", "cut", "bytes")[turn % 3]
        if change == "missing":
            db.execute("DELETE FROM counted WHERE id = ?", (at,))
        else:
            data = bytearray(data[:chance.randrange(len(data))] if change == "cut" else data)
            if data:
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            db.execute("UPDATE counted SET data = ? WHERE id = ?", (bytes(data), at))
        db.commit()
        db.close()
        for args in (["report", *EVER], ["store", "ls"], ["store", "compact"], ["store", "rollup"]):
            out, err, status = seam(*args, "--store", "sqlite:" + broken, status=None)
            if status not in (0, 1) or status and "is damaged" not in err:
                fault("%s of damaged counts (%s): %s" % (args, change, (status, err)))
            # Changed bytes may make sense; what is missing does not, unless it is all that the window has.
            if change == "missing" and len(pieces) > 1 and args[0] == "report" and status == 0 and out != wanted and at & 0xfffff:
                fault("a report of counts of which a part is missing")


def damaged_block(data, n, chance):
    """A block of n things with other bytes: as it is packed, or as any numbers that it might have unpacked."""
    if chance.randrange(2):
        data = bytearray(data[:chance.randrange(1, len(data) + 1)] if chance.randrange(3) == 0 else data)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        return bytes(data)
    most = chance.choice((2, 3, n + 2, 1 << 23))
    head = chance.choice((b"", b"\0\0", b"\0\1\0"))  # as sorted nodes begin, of version 3 and 4
    return b"\0" + head + b"".join(hours.number(chance.randrange(most)) for _ in range(3 * n))


def damaged_stacks(work):
    """Stacks and names that make no sense are told, with stacks and without; else both ways say the same of functions."""
    chance = random.Random(7)
    whole, packed, broken = (os.path.join(work, n) for n in ("stacks.db", "sorted.db", "broken.db"))
    seam("store", "import", "--store", "sqlite:" + whole, *NOWHERE, os.path.join(DATA, "hackbench_d", "perf.data"))
    shutil.copyfile(whole, packed)
    seam("store", "compact", "--store", "sqlite:" + packed)
    db = sqlite3.connect(packed)
    db.executescript("DROP TRIGGER parts_folded; DROP TABLE parts")  # from which an answer needs no stacks
    db.close()
    told = answered = 0
    for turn in range(60):
        shutil.copyfile((whole, packed)[turn % 2], broken)
        db = sqlite3.connect(broken)
        block, n, data = chance.choice(db.execute("SELECT id, n, data FROM blocks WHERE id >> 24 & 3 = ?", (3 - turn // 2 % 6 % 4,)).fetchall())
        db.execute("UPDATE blocks SET data = ? WHERE id = ?", (damaged_block(data, n, chance), block))
        db.commit()
        db.close()
        answers = []
        # For rows side by side whole stacks are made.
        for args in (["report", "--json", "-s", "dso,sym"], ["report", "--json", "-s", "dso,sym", "--group"], ["report", "-g", "none"],
                     ["report", "-s", "comm"], ["export", "-f", "folded", "-o", "-"], ["store", "series", "main"]):
            out, err, status = seam(*args, *EVER, "--store", "sqlite:" + broken, status=None)
            if status not in (0, 1) or status and "is damaged" not in err:
                fault("%s of damaged stacks: %s" % (args, (status, err)))
            answers.append("told" if status else sorted((r["dso"] or "", r["sym"] or "", r["self"], r["total"]) for r in json.loads(out)["rows"])
                           if "--json" in args else "")
        check("damaged stacks, turn %d: without stacks, and with them" % turn, answers[1], answers[0])
        told += answers[0] == "told"
        answered += answers[0] != "told"
    if not told or not answered:
        fault("of damaged stacks %d were told, %d answered" % (told, answered))


def on_terminal(work):
    """What a terminal of 80 columns shows of a list of series is no wider, and says what a pipe gets."""
    args = ["store", "ls", "--store", "sqlite:" + os.path.join(work, "gcc_d.db")]
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.execve(SEAM, ["seam", *args], dict(ENV, PAGER="cat", TERM="xterm"))
    got = b""
    try:
        while part := os.read(fd, 65536):
            got += part
    except OSError:  # its end
        pass
    os.close(fd)
    check("ls on a terminal: exit", 0, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    lines, piped = got.decode().split("\r\n"), seam(*args)[0]
    check("ls on a terminal: words", piped.split(), " ".join(lines).split())
    if max(map(len, lines)) > 80 or max(map(len, piped.split("\n"))) <= 80:
        fault("ls on a terminal: %d columns, in a pipe %d" % (max(map(len, lines)), max(map(len, piped.split("\n")))))


def cut_short(wal, chance):
    """What a lost power may leave of a log: behind the last whole transaction, anything."""
    if len(wal) < 32:
        return wal
    page, salt = struct.unpack_from(">I", wal, 8)[0], wal[16:24]
    end, at = 32, 32
    while at + 24 + page <= len(wal) and wal[at + 8:at + 16] == salt:
        at += 24 + page
        if struct.unpack_from(">I", wal, at - page - 20)[0]:  # the database's size: a transaction ends
            end = at
    tail = bytearray(wal[end:])
    for _ in range(1 + len(tail) // 500):
        if tail:
            tail[chance.randrange(len(tail))] = chance.randrange(256)
    return wal[:end] + bytes(tail[:chance.randrange(len(tail) + 1)])


def looked_at(put, path, turn):
    """The first and last window, when all that are there are whole."""
    db = sqlite3.connect(path)
    try:
        check("turn %d: sound" % turn, "ok", db.execute("PRAGMA integrity_check").fetchone()[0])
        ready = db.execute("PRAGMA user_version").fetchone()[0]
    finally:
        db.close()
    if not ready:  # before the first transaction
        return -1, -1
    done = subprocess.run([put, "check", "sqlite:" + path], capture_output=True, check=False)
    lines = done.stdout.decode().strip().split("\n")
    check("turn %d: windows that are there are whole" % turn, (0, []), (done.returncode, lines[:-1] if done.returncode == 0 else lines))
    return tuple(int(n) for n in lines[-1].split()[:2]) if done.returncode == 0 else (-1, -1)


def killed(work, put, turns):
    """A writer that puts, compacts and forgets is killed again and again, at any point; the next one goes on. What it said is
    safe is there; every other time the power is lost as well, in a copy."""
    path, torn = os.path.join(work, "killed.db"), os.path.join(work, "torn.db")
    chance = random.Random(16)
    last = least = -1
    kills = amid = 0
    for turn in range(turns):
        said = os.path.join(work, "said")
        with open(said, "wb") as out:
            writer = subprocess.Popen([put, "write", "sqlite:" + path, str(last + 1)], stdout=out)
            # At some time of its beginning, or of its work.
            lines = chance.randrange(13) if turn % 4 < 2 else 0
            while lines and writer.poll() is None and open(said, "rb").read().count(b"\n") < lines:
                time.sleep(0.001)
            time.sleep(chance.random() * (0.01 if lines else 0.06))
            if turn % 2:
                writer.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, writer.pid, os.WSTOPPED)
                parts = [open(path + end, "rb").read() if os.path.exists(path + end) else b"" for end in ("", "-wal")]
            writer.send_signal(signal.SIGKILL)
            kills += writer.wait() == -signal.SIGKILL
        for line in open(said, encoding="ascii").read().split("\n"):
            if line.startswith("put "):
                last = max(last, int(line[4:]))
            elif line.startswith("forget "):
                least = max(least, int(line[7:]))
            elif line:
                fault("turn %d: %s" % (turn, line))
        if turn % 2 and parts[0]:
            for end, content in zip(("", "-wal", "-shm"), (parts[0], cut_short(parts[1], chance), None)):
                if content is not None:
                    with open(torn + end, "wb") as out:
                        out.write(content)
                elif os.path.exists(torn + end):
                    os.unlink(torn + end)
            check("turn %d: what was safe is there without power" % turn, True, looked_at(put, torn, turn)[1] >= last)
        if not os.path.exists(path) or not os.path.getsize(path):
            continue
        first, there = looked_at(put, path, turn)
        # One more may be safe than was said.
        if not last <= there <= last + 1 or first > max(least, 0):
            fault("turn %d: windows %d to %d are there, %d was said, from %d on" % (turn, first, there, last, least))
        amid += there > last
        last = there
    print("%d kills of %d, %d of them between a window and its word; %d windows" % (kills, turns, amid, last + 1))
    if last < 100:
        fault("the writer hardly came to anything")


class Readers:
    """Readers of which one always follows on another: each begins before the one before it ends."""

    def __init__(self, path, seconds):
        self.stop, self.path, self.seconds, self.n = threading.Event(), path, seconds, 0
        self.threads = [threading.Thread(target=self.read, args=(i,)) for i in range(2)]
        for t in self.threads:
            t.start()

    def read(self, i):
        self.stop.wait(i * self.seconds / 2)
        while not self.stop.is_set():
            db = sqlite3.connect("file:%s?mode=ro" % self.path, uri=True, isolation_level=None)
            db.execute("BEGIN")
            db.execute("SELECT count(*) FROM windows").fetchone()
            self.n += 1
            self.stop.wait(self.seconds)
            db.execute("COMMIT")
            db.close()

    def end(self):
        self.stop.set()
        for t in self.threads:
            t.join()


def log_bytes(path):
    return os.path.getsize(path + "-wal") if os.path.exists(path + "-wal") else 0


def put_beside(put, path, first, megabytes, until=lambda: False):
    """A writer that puts until it has written so much; the last window."""
    with open(path + ".said", "wb") as out:
        writer = subprocess.Popen([put, "write", "sqlite:" + path, str(first)], stdout=out)
    written = 0
    while written < megabytes << 20 and not until():
        with open("/proc/%d/io" % writer.pid, encoding="ascii") as file:
            written = int(re.search(r"^wchar: (\d+)", file.read(), re.M).group(1))
        time.sleep(0.005)
    writer.kill()
    writer.wait()
    with open(path + ".said", encoding="ascii") as file:
        return max((int(l[4:]) for l in file.read().split("\n")[:-1] if l.startswith("put ")), default=first - 1)


def log_is_bounded(work, put):
    """Readers that always follow on each other, and one that stays, do not make the log grow without end, and it is small again after."""
    path = os.path.join(work, "log.db")
    last = put_beside(put, path, 0, 1)
    readers = Readers(path, 0.3)
    most, anew = 0, False

    def began_anew():
        nonlocal most, anew
        now = log_bytes(path)
        most, anew = max(most, now), anew or (most > 4 << 20 and now < most / 2)
        return anew

    # How large it becomes until then is the machine's affair. By itself it never shrinks.
    last = put_beside(put, path, last + 1, 200, began_anew)
    readers.end()
    if not anew:
        fault("the log has %d MB, and did not begin anew beside %d readers that follow on each other" % (most >> 20, readers.n))
    staying = sqlite3.connect("file:%s?mode=ro" % path, uri=True, isolation_level=None)
    staying.execute("BEGIN")
    was = staying.execute("SELECT count(*), max(id) FROM windows").fetchone()
    last = put_beside(put, path, last + 1, 60, lambda: log_bytes(path) > 12 << 20)
    check("who reads sees what was", was, staying.execute("SELECT count(*), max(id) FROM windows").fetchone())
    staying.close()
    put_beside(put, path, last + 1, 60, lambda: log_bytes(path) <= 5 << 20)
    if log_bytes(path) > 5 << 20:
        fault("the log has %d MB after a reader that stayed" % (log_bytes(path) >> 20))


def refusals(work):
    recording = os.path.join(DATA, "gcc_d", "perf.data")
    path = os.path.join(work, "gcc_d.db")
    url = "sqlite:" + path
    pipe = os.path.join(work, "pipe")
    os.mkfifo(pipe)
    for status, words, args in (
            (2, "is no store", ["report", "--store", "x"]),
            (2, "is no store", ["report", "--store", "mysql:x"]),
            (1, "No such file", ["report", "--store", "sqlite:/nonexistent"]),
            (1, "not a database", ["report", "--store", "sqlite:" + recording]),
            (1, ": Is a directory", ["report", "--store", "sqlite:" + work]),
            (1, ": is no file", ["report", "--store", "sqlite:" + pipe]),
            (1, ": is no file", ["store", "rollup", "--store", "sqlite:" + pipe]),
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
            (0, "; none has the label 'com' (is comm meant?); ", ["report", "--store", url, *EVER, "--where", "com=cc1"]),
            (0, "; none has comm 'c1' (is cc1 meant?); ", ["report", "--store", url, *EVER, "--where", "comm=c1"]),
            (0, "; none has comm 'nothing like it'; ", ["report", "--store", url, *EVER, "--where", "comm=nothing like it"]),
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


def only_read(work):
    """Who may read the file and write nothing gets the same answers, unless the last windows are in a log that is not theirs to read."""
    there = os.path.join(work, "read ?#%41 only")
    os.mkdir(there)
    path = os.path.join(there, "a.db")
    shutil.copyfile(os.path.join(work, "gcc_d.db"), path)
    url = "sqlite:" + path
    asks = (["report", *EVER], ["report", "-g", "none", *EVER], ["store", "ls"], ["store", "top", *EVER])
    wanted = [seam(*args, "--store", url)[0] for args in asks]
    seam_there = shutil.copy(SEAM, there) if os.geteuid() == 0 else SEAM  # root may write anywhere
    reader = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", seam_there] if os.geteuid() == 0 else [SEAM]

    def read(*args):
        done = subprocess.run([*reader, *args, "--store", url], env=dict(ENV, HOME="/"), stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return done.stdout.decode(), done.stderr.decode(), done.returncode

    for name, mode in ((work, 0o755), (path, 0o444), (there, 0o555)):
        os.chmod(name, mode)
    # With what a reader left who might write, and without.
    check("of who may only read", wanted, [read(*args)[0] for args in asks])
    for end in ("-shm", "-wal"):
        if os.path.exists(path + end):
            os.chmod(there, 0o755)
            os.unlink(path + end)
            os.chmod(there, 0o555)
    check("of who may only read a file alone", wanted, [read(*args)[0] for args in asks])
    if read("store", "rollup")[2] != 1:
        fault("who may only read rolls up")
    os.chmod(there, 0o755)
    with open(path + "-wal", "wb") as log:
        log.write(b"log")
    os.chmod(path + "-wal", 0o600)
    os.chmod(there, 0o555)
    if "in its log" not in read("store", "ls")[1]:
        fault("a log that is not read: %s" % (read("store", "ls"),))
    os.chmod(there, 0o755)


def hostile_names(work, put):
    """Whatever is called by a name that is SQL, HTML and control characters: names are data, in each form of answer."""
    bad = "x'; DROP TABLE windows; --\x1b[2J\r\n</script><b onload=alert(1)>\"&,;=\\"
    path = os.path.join(work, "hostile_names.db")
    url = "sqlite:" + path
    done = subprocess.run([put, "hostile", url, bad], env=ENV, capture_output=True, check=False)
    check("put of hostile names", 0, done.returncode)
    where = ["--store", url, *EVER, "--where", "service=" + bad.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")]
    texts = {}
    for args in (["report"], ["report", "-g", "callee", "--by", "service", "-s", "label,comm,dso,sym,state,srcline"], ["report", "--hierarchy"],
                 ["store", "ls", "--store", url], ["store", "ls", "--by", "service", "--store", url], ["store", "series", bad],
                 ["diff", "--base", "comm=" + where[-1][8:], "--new", "host=" + where[-1][8:]], ["export", "-f", "folded"]):
        out, err, _ = seam(*args, *(["--store", url, *EVER] if args[0] == "diff" else where if args[1:2] != ["ls"] else []))
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", out + err):
            fault("%s writes control characters: %r" % (args[:3], out[:300]))
        texts[tuple(args[:3])] = out
    check("samples of a hostile service", 5, json.loads(seam("report", "--json", *where)[0])["samples"])
    check("its label in a list", bad, json.loads(seam("store", "ls", "--json", "--store", url)[0])["series"][0]["labels"]["service"])
    points = json.loads(seam("store", "series", bad, "--json", *where)[0])["points"]
    check("its function's share", (500, 500), tuple(sum(p[k] for p in points) for k in ("total", "all")))
    rows = list(csv.DictReader(io.StringIO(seam("report", "--csv", "-s", "sym", *where)[0])))
    check("its functions in CSV", [("500", "500"), ("0", "500")], [(r["self"], r["total"]) for r in rows])
    for args, name in ((["flame"], "hostile.html"), (["flame"], "hostile.svg"), (["export", "-f", "callgrind"], "hostile.callgrind"),
                       (["export", "-f", "pprof"], "hostile.pb.gz"), (["export", "-f", "json"], "hostile.json")):
        out = os.path.join(work, name)
        seam(*args, *where, "-o", out)
        with open(out, encoding="utf-8", errors="replace") as f:
            page = f.read()
        if name.endswith((".html", ".svg")) and ("<b onload" in page or "\x1b" in page):
            fault("%s: the name is part of the page" % name)
        if name.endswith(".json"):
            check("its samples in JSON", 500, sum(r["weight"] for r in json.loads(page)["rows"]))
    db = sqlite3.connect(path)
    check("windows are still there", 1, db.execute("SELECT count(*) FROM windows").fetchone()[0])
    db.close()


def series(work):
    url = "sqlite:" + os.path.join(work, "gcc_d.db")
    listed = json.loads(seam("store", "ls", "--json", "--store", url)[0])
    span = ["--from", "@%d" % (listed["first_ns"] // 10**9), "--to", "@%d" % (listed["last_ns"] // 10**9 + 1)]
    report = json.loads(seam("report", "--json", "--store", url, *span, "-s", "sym")[0])
    named = [r for r in report["rows"] if r["sym"]]
    # Functions that samples hit, that others hit below them, and both; one that is on no stack.
    for row in [*named[:8], *named[-8:], {"sym": "on no stack", "total": 0, "self": 0}, {"sym": "", "total": 0, "self": 0}]:
        out, said = seam("store", "series", row["sym"], "--store", url, *span, "--window", "1s", "--json")[:2]
        got = json.loads(out)
        check("it is said that '%s' is on no stack" % row["sym"], not row["total"], "no stack in this span has a function" in said)
        check("weights over time of " + row["sym"], (row["total"], row["self"], report["events"][0]["weight"]),
              tuple(sum(p[k] for p in got["points"]) for k in ("total", "self", "all")))
    row = named[0]
    lines = seam("store", "series", row["sym"], "--store", url, *span, "--window", "1s", "--csv")[0].strip().split("\n")
    check("points as CSV", len(got["points"]) + 1, len(lines))


def main():
    work = tempfile.mkdtemp(prefix="seam-store-")
    try:
        same_answers(work)
        older(work)
        damaged_counts(work)
        damaged_stacks(work)
        on_terminal(work)
        # A sanitizer's writer takes several times as long, and writes the same.
        sanitized = os.environ.get("SEAM_SANITIZED") == "1"
        killed(work, os.path.abspath(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 30 if sanitized else 100)
        if not sanitized:
            log_is_bounded(work, os.path.abspath(sys.argv[3]))
        refusals(work)
        only_read(work)
        hostile_names(work, os.path.abspath(sys.argv[3]))
        series(work)
        hours.hours(work)
        parts.parts(work, os.path.abspath(sys.argv[3]))
    finally:
        shutil.rmtree(work)
    print("%d faults" % held.faults)
    return 1 if held.faults else 0


sys.exit(main())
