#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What an agent puts into a store behind a network, when things fail.

    run.py SEAM PUT CLICKHOUSE

The server is away, is killed and begins again, loses answers, refuses the password; the writer is killed anywhere; the spool is
full, or the server's disk. Every window that was said to be safe is in the store once, or counted as dropped. Last, two agents and a
server that is killed. Exit 77: there is no ClickHouse.
"""
import ctypes
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clickhouse"))
import engines  # noqa: E402

SEAM, PUT, CLICKHOUSE = (os.path.abspath(a) for a in sys.argv[1:4])
SPAN = ["--from", "@1789990000", "--to", "@1800000000"]
faults = 0


def fault(text):
    global faults
    faults += 1
    print("FAILED: " + text[:2000])


def put(url, first, n, rows=3, ms=0):
    """Puts windows; which of them are safe, and what was said."""
    done = subprocess.run([PUT, url, str(first), str(n), str(rows), str(ms)], capture_output=True, timeout=300, check=False)
    out = done.stdout.decode()
    if done.returncode:
        fault("put: exit %d: %s%s" % (done.returncode, out[-300:], done.stderr.decode()[-300:]))
    return {int(i) for i in re.findall(r"^put (\d+)", out, re.M)}, re.findall(r"^(?:news|failed): (.*)", out, re.M)


def until(words, url, first):
    """Puts until the store says so: however slow the machine is. Which number is the next one."""
    for i in range(first, first + 100):
        if any(words in n for n in put(url, i, 1, ms=200)[1]):
            return i + 1
    fault("it is never said: " + words)
    return first + 100


def seam(*args):
    done = subprocess.run([SEAM, *args], capture_output=True, check=False)
    if done.returncode not in (0, 3):
        fault("seam %s: %s" % (args, done.stderr.decode()))
    return done.stdout.decode()


def have(engine):
    """The windows of the store: number -> rows of counts, each once."""
    rows = engine.ask("SELECT intDiv(from_ns, 1000000000) - 1790000000, arraySum(samples), length(stacks) FROM seam_windows FINAL "
                      "WHERE type != ''").split("\n")
    got = [tuple(int(v) for v in r.split("\t")) for r in rows if r]
    if len(got) != len({g[0] for g in got}):
        fault("a window is there twice")
    return {g[0]: g[1:] for g in got}


def whole(what, engine, wanted, rows=3, may=()):
    got = have(engine)
    for i in wanted:
        if i not in got:
            fault("%s: window %d is not there" % (what, i))
    for i, (samples, n) in got.items():
        if i not in wanted and i not in may:
            fault("%s: window %d was not put" % (what, i))
        if (samples, n) != (rows * (i + 1), rows):
            fault("%s: window %d has %d samples in %d stacks" % (what, i, samples, n))
    report = json.loads(seam("report", "--json", "--store", engine.url(), *SPAN))
    if report["samples"] != sum(g[0] for g in got.values()) or report["states"].get("not_in_store"):
        fault("%s: report has %d samples" % (what, report["samples"]))


def drained(url, spool):
    for _ in range(20):
        put(url, 0, 0)
        if not [f for f in os.listdir(spool) if f.endswith((".piece", ".sent"))]:
            return
    fault("the spool is not drained: %s" % os.listdir(spool))


def empty(engine):
    for table in ("seam_windows", "seam_stacks", "seam_frames"):
        engine.ask("DROP TABLE IF EXISTS " + table)
    engine.ask("DROP TABLE IF EXISTS seam_schema")
    seam("store", "init", "--store", engine.url())


def away(engine, work):
    """The server is not there, without its tables, then well."""
    spool = os.path.join(work, "away")
    url = engine.url("/?spool=" + spool)
    safe, news = put(url, 0, 5, ms=100)
    if safe != set(range(5)) or not any("windows wait in the spool" in n for n in news) or len(news) > 2:
        fault("a server that is away: %s %s" % (safe, news))
    engine.start()
    n = until("has no tables of seam", url, 5)
    empty(engine)
    with open(os.path.join(work, "wrong"), "w", encoding="utf-8") as file:
        file.write("wrong")
    n = until("answers 4", url + "&user=seam&password-file=" + os.path.join(work, "wrong"), n)
    drained(url, spool)
    whole("after the server was away", engine, set(range(n)))
    holder = subprocess.Popen([PUT, url, "100", "1", "1", "20000"], stdout=subprocess.PIPE)
    holder.stdout.readline()
    second = subprocess.run([PUT, url, "0", "0", "1", "0"], capture_output=True, check=False)
    holder.kill()
    holder.wait()
    if second.returncode != 1 or b"another seam agent" not in second.stdout:
        fault("two on one spool: %s" % second.stdout)


def killed(engine, work):
    """The writer is killed, answers are lost, the server is killed."""
    empty(engine)
    chance = random.Random(16)
    server = engines.between(engine.port, lambda path: chance.random() < 0.2)
    spool = os.path.join(work, "killed")
    url = "clickhouse:http://127.0.0.1:%d/?spool=%s" % (server.server_address[1], spool)
    safe, kills, first = set(), 0, 0
    for turn in range(30):
        writer = subprocess.Popen([PUT, url, str(first), "30", "3", "3"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        # After some windows, however slow the machine is, and at any point behind them.
        said = b"".join(writer.stdout.readline() for _ in range(chance.randrange(8)))
        time.sleep(chance.random() * 0.03)
        writer.send_signal(signal.SIGKILL)
        said += writer.communicate()[0]
        safe |= {int(i) for i in re.findall(rb"^put (\d+)\n", said, re.M)}
        kills += writer.returncode == -signal.SIGKILL
        first = max(safe, default=-1) + 1
        if turn % 15 == 10:
            engine.stop()
            engine.start()
    server.shutdown()
    # The last one may be on the disk though nobody said so.
    drained(engine.url("/?spool=" + spool), spool)
    whole("after kills", engine, safe, may={i for i in range(max(safe) + 2)} - safe)
    print("%d kills, %d windows" % (kills, len(safe)))


def full(engine, work):
    """What does not fit pushes the oldest out, and is counted."""
    empty(engine)
    spool = os.path.join(work, "full")
    engine.stop()
    url = engine.url("/?spool-mb=1&spool=" + spool)
    safe = put(url, 0, 60, rows=1500)[0]
    size = sum(os.path.getsize(os.path.join(spool, f)) for f in os.listdir(spool) if f.endswith((".piece", ".sent")))
    if len(safe) != 60 or size > 1 << 20:
        fault("a full spool: %d windows, %d bytes" % (len(safe), size))
    engine.start()
    drained(url, spool)
    got = have(engine)
    lost = json.loads(seam("report", "--json", "--store", engine.url(), *SPAN))["lost_samples"]
    everything = sum(1500 * (i + 1) for i in safe)
    if not 0 < len(got) < 60 or sum(g[0] for g in got.values()) + lost != everything or max(got) != 59:
        fault("a full spool: %d windows came, %d samples of %d are counted as lost" % (len(got), lost, everything))


def no_room(work):
    """The server's disk is full for a while: that is said, windows wait, and each is there once when there is room again."""
    at = os.path.join(work, "small")
    os.makedirs(at)
    # Whatever is mounted from here on goes with this process.
    private = ctypes.CDLL(None, use_errno=True).unshare(0x00020000) == 0 and all(
        subprocess.run(["mount", *args], capture_output=True, check=False).returncode == 0
        for args in (["--make-rprivate", "/"], ["-t", "tmpfs", "-o", "size=48m", "none", at]))
    if not private:
        print("without a full disk: no file system can be mounted here")
        return
    engine = engines.Engine(CLICKHOUSE, "server", os.path.join(at, "engine"))
    spool = os.path.join(work, "room")
    try:
        engine.start()
        seam("store", "init", "--store", engine.url())
        url = engine.url("/?spool=" + spool)
        put(url, 0, 3)
        with open(os.path.join(at, "rest"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError:
                pass
        n = until("No space left on device", url, 3)
        os.unlink(os.path.join(at, "rest"))
        drained(url, spool)
        whole("after the server's disk was full", engine, set(range(n)))
    finally:
        engine.stop()
        subprocess.run(["umount", at], check=False)


def listing(url):
    done = subprocess.run([SEAM, "store", "ls", "--json", "--store", url], capture_output=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"windows": 0, "series": []}


def windows(url):
    return listing(url)["windows"]


def series(url):
    """Samples of each set of labels."""
    return {json.dumps(s["labels"], sort_keys=True): s["samples"] for s in listing(url)["series"]}


def agents(engine, work):
    """Two agents of one host's name, while the server is killed: it has what their own SQLite stores have."""
    stores = ["sqlite:" + os.path.join(work, "agent%d.db" % i) for i in range(2)]
    urls = [engine.url("/?spool=" + os.path.join(work, "agent%d" % i)) for i in range(2)]
    empty(engine)
    running = []
    for i in range(2):
        lock = os.path.join(work, "lock%d" % i)
        os.mkdir(lock)
        running.append(subprocess.Popen([SEAM, "agent", "--store", stores[i], "--store", urls[i], "--freq", "49", "--window", "1s"],
                                        env=dict(os.environ, RUNTIME_DIRECTORY=lock, SEAM_CONFIG=""), stderr=subprocess.PIPE))
    for count in (2, 4):
        while all(a.poll() is None for a in running) and not all(windows(s) >= count for s in stores):
            time.sleep(0.2)
        if count == 2:
            engine.stop()
    engine.start()
    for a in running:
        a.send_signal(signal.SIGTERM)
    said = [a.communicate()[1].decode() for a in running]
    if any(a.returncode for a in running):
        if all("windows with" not in text for text in said):
            print("the agents are left out: the whole machine cannot be sampled here: " + said[0].strip())
            return
        fault("agents: " + "".join(said))
    for i in range(2):
        drained(urls[i], os.path.join(work, "agent%d" % i))
    wanted = {}
    for s in stores:
        for labels, n in series(s).items():
            wanted[labels] = wanted.get(labels, 0) + n
    got = series(engine.url())
    if wanted != got:
        fault("agents: %s" % sorted(set(wanted.items()) ^ set(got.items()))[:6])
    if windows(engine.url()) != sum(windows(s) for s in stores):
        fault("agents: %d windows of %s" % (windows(engine.url()), [windows(s) for s in stores]))
    print("two agents: %d windows, %d series, %d samples" % (windows(engine.url()), len(got), sum(got.values())))


def main():
    kind = next((k for k in ("server", "library") if engines.have(CLICKHOUSE, k)), None)
    if not kind:
        print("skipped: no ClickHouse: 'scripts/clickhouse server' gets it")
        return 77
    work = tempfile.mkdtemp(prefix="seam-spool-")
    engine = engines.Engine(CLICKHOUSE, kind, os.path.join(work, "engine"))
    try:
        away(engine, work)
        killed(engine, work)
        full(engine, work)
        agents(engine, work)
        if kind == "server":
            no_room(work)
    finally:
        engine.stop()
        shutil.rmtree(work, ignore_errors=True)
    print("%d faults" % faults)
    return 1 if faults else 0


sys.exit(main())
