#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stores in ClickHouse: Debian's server, and the engine of a current one, whichever scripts/clickhouse has.

    run.py SEAM DATA CLICKHOUSE PUT GATE

A report of what was imported is, to the byte, that of the same import in SQLite; import is done once, also when its answer was
lost; what is hostile, refused or broken is told in a line. Exit 77: there is no engine, or no libcurl in the build.
"""
import base64
import gzip
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

import engines

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import held  # noqa: E402
from asked import CLICKHOUSE, DATA, RECORDINGS, answers, both, imported, listing, of_version_3, same_functions  # noqa: E402
from held import EVER, NOWHERE, check, fault, seam  # noqa: E402

PUT, GATE = (os.path.abspath(a) for a in sys.argv[4:6])
HOSTILE = "a'); DROP TABLE seam_windows; --\\'\x1b[31m<b>\xff"
CA = """[ca]
default_ca = c
[c]
database = {at}/index.txt
new_certs_dir = {at}
default_md = sha256
policy = p
rand_serial = yes
x509_extensions = e
[p]
commonName = supplied
[e]
subjectAltName = IP:127.0.0.1
basicConstraints = CA:TRUE
[req]
distinguished_name = d
[d]
"""


def same_answers(engine, work):
    sqlite = "sqlite:" + os.path.join(work, engine.kind + ".db")
    seam("store", "init", "--store", engine.url())
    seam("store", "init", "--store", engine.url())  # what is there stays
    for name in RECORDINGS:
        imported(sqlite, name)
        if " 0 were there" not in imported(engine.url(), name):
            fault(name + " was there")
        if " 0 windows put" not in imported(engine.url(), name):
            fault(name + " is put twice")
    answers(engine.kind, sqlite, engine.url())
    check(engine.kind + ": ls", listing(sqlite), listing(engine.url()))
    comms = sorted({s["labels"]["comm"] for s in listing(sqlite)["series"]}, key=lambda c: -sum(
        s["samples"] for s in listing(sqlite)["series"] if s["labels"]["comm"] == c))
    first = listing(sqlite)["first_ns"] // 10**9
    whole = ["--from", "@%d" % first, "--to", "@%d" % (listing(sqlite)["last_ns"] // 10**9 + 1)]
    name = json.loads(seam("report", "--json", "--store", sqlite, *EVER, "-s", "sym")[0])["rows"]
    name = next(r["sym"] for r in name if r["sym"])
    for what, *args in (("a function's points", "store", "series", name, "--csv", "--window", "1s", *whole),
                        ("two sides", "diff", "--json", *whole, "--base", "comm=" + comms[0], "--new", "comm=" + comms[1]),
                        ("a part of the list", "store", "ls", "--where", "comm=" + comms[0], *whole),
                        ("values of a label", "store", "ls", "--by", "service"),
                        ("values of labels", "store", "ls", "--by", "service,exe,nothing,exe", *whole),
                        ("of no label", "store", "ls", "--by", "nothing", "--where", "comm=" + comms[0]),
                        ("of many labels", "store", "ls", "--by", ",".join("l%d" % i for i in range(300)))):
        a, b = (re.sub(r"[\d.]+ MB|sqlite:\S+|clickhouse:\S+", "", text) for text in both((sqlite, engine.url()), *args))
        check("%s: %s" % (engine.kind, what), a, b)
        if not a.strip():
            fault(what + ": nothing")
    span = ["--from", "@%d" % first, "--to", "@%d" % (first + 2)]
    check("a span", *both((sqlite, engine.url()), "report", *span))
    return sqlite


def drawn(page):
    """Of a flame graph's page: what is drawn, without the names of the stores."""
    data = gzip.decompress(base64.b64decode(re.findall(r'class="data" data-bytes="\d+">([^<]*)<', page.decode())[0]))
    return data[4 + int.from_bytes(data[:4], "little"):].lstrip(b"\0")  # what stands in front is aligned


def same_forms(engine, stores, work, commands, *where):
    """Commands say the same of two stores, to the byte, and end with the same status."""
    out = os.path.join(work, "form")
    for args in commands:
        got = []
        for store in stores:
            more = ["-o", out] if args[0] == "flame" else []
            span = EVER if args[:2] != ["store", "ls"] else []
            done = subprocess.run([held.SEAM, *args, *more, *span, *where, "--store", store], env=held.ENV, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            text = done.stdout
            if more:
                with open(out, "rb") as page:
                    text = drawn(page.read())
            got.append((done.returncode, re.sub(rb"[\d.]+ MB", b"", text).replace(store.encode(), b"STORE"), done.stderr.replace(store.encode(), b"STORE")))
        if got[0] != got[1]:
            fault("%s %s: %s, %s" % (engine.kind, args, *(str(g)[:300] for g in got)))
        elif not got[0][1] and not got[0][2]:
            fault("%s %s says nothing" % (engine.kind, args))
        if b"\x1b" in got[1][2] or (not more and args[0] != "export" and re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", got[1][1])):
            fault("%s %s writes control characters" % (engine.kind, args))


def both_stores(engine, work, name):
    engine.ask("CREATE DATABASE " + name)
    stores = ["sqlite:" + os.path.join(work, "%s-%s.db" % (engine.kind, name)), engine.url("/" + name)]
    seam("store", "init", "--store", stores[1])
    return stores


def every_form(engine, work):
    """Versions of a service in each form that a store is shown in."""
    stores = both_stores(engine, work, "forms")
    for store in stores:
        for version, name in (("1", "hackbench_d"), ("2", "gcc_d"), ("3", "multi_group")):
            imported(store, name, "--label", "service=s,version=" + version)
    sides = ["diff", "--base", "version=1", "--new", "version=2"]
    same_forms(engine, stores, work, (
        ["report", "-g", "none"], ["report", "--csv", "-g", "none", "-s", "sym,dso"], ["report", "--by", "version"], ["report", "-g", "caller"],
        ["report", "--by", "version", "--json", "-s", "comm"], ["report", "-s", "event,sym,state", "--by", "version,comm"], ["explain"],
        ["explain", "--json"], ["export", "-f", "pprof"], ["export", "-f", "json"], ["export", "-f", "callgrind"], ["export", "-f", "folded"],
        ["flame"], ["flame", "--by", "version"], sides, [*sides, "--children"], [*sides, "--csv"], [*sides, "--fail-if-slower", "1", "--json"],
        ["diff", "--base", "version=1", "--new", "version=4", "--fail-if-slower", "5"], ["store", "ls", "--by", "version"],
        ["report", "--where", "version=4"], ["report", "--where", "nothing=x"], ["explain", "--where", "version=4"]))


def gates(engine, work):
    """The versions of golden gate, of which it is known whether they are slower: the same gates fire."""
    stores = both_stores(engine, work, "gates")
    for store in stores:
        done = subprocess.run([GATE, store, "2"], capture_output=True, check=False)
        check("put of gates", (0, b""), (done.returncode, done.stdout))
    fired = []
    for service in ("same-1", "slower-0", "slower-1"):
        gate = ["diff", "--where", "service=" + service, "--base", "version=1", "--new", "version=2", "-s", "sym"]
        same_forms(engine, stores, work, ([*gate, "--fail-if-slower", "5", "--symbol", "f"], [*gate, "--json"], [*gate, "--children", "--fail-if-slower", "5"]))
        fired.append(seam(*gate, *EVER, "--fail-if-slower", "5", "--symbol", "f", "--store", stores[1], status=None)[2])
    check("gates of what is the same, and slower twice", [0, 4, 4], fired)


def hostile_names(engine, work):
    """All names are SQL, HTML and control characters; of golden store, where it is held what SQLite's answers say."""
    bad = "x'; DROP TABLE windows; --\x1b[2J\r\n</script><b onload=alert(1)>\"&,;=\\"
    stores = both_stores(engine, work, "hostile")
    for store in stores:
        check("put of hostile names", 0, subprocess.run([PUT, "hostile", store, bad], capture_output=True, check=False).returncode)
    service = bad.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
    same_forms(engine, stores, work, (
        ["report"], ["report", "-g", "callee", "--by", "service", "-s", "label,comm,dso,sym,state,srcline"], ["report", "--csv", "-s", "sym"],
        ["report", "--json"], ["explain"], ["export", "-f", "folded"], ["export", "-f", "pprof"], ["export", "-f", "callgrind"], ["export", "-f", "json"],
        ["flame"], ["store", "series", bad, "--json", "--window", "100y"]), "--where", "service=" + service)
    same_forms(engine, stores, work, (
        ["store", "ls"], ["store", "ls", "--by", "service"], ["diff", "--base", "comm=" + service, "--new", "host=" + service]))


def lost_answers(engine, sqlite):
    """A window whose answer was lost is sent again, and counts once."""
    before = listing(sqlite)
    for turn in range(3):
        asked = []

        def lose(path, turn=turn, asked=asked):
            if "INSERT" in path:
                asked.append(path)
            return "INSERT" in path and len(asked) == turn + 1

        server = engines.between(engine.port, lose)
        url = "clickhouse:http://127.0.0.1:%d" % server.server_address[1]
        err = seam("store", "import", "--store", url, "--label", "turn=%d" % turn, *NOWHERE,
                   os.path.join(DATA, "hackbench_d", "perf.data"), status=None)[1]
        server.shutdown()
        if "127.0.0.1" not in err:
            fault("turn %d: a lost answer is not told: %s" % (turn, err))
        seam("store", "import", "--store", engine.url(), "--label", "turn=%d" % turn, *NOWHERE,
             os.path.join(DATA, "hackbench_d", "perf.data"))
        seam("store", "import", "--store", sqlite, "--label", "turn=%d" % turn, *NOWHERE, os.path.join(DATA, "hackbench_d", "perf.data"))
    check("windows whose answers were lost count once", listing(sqlite), listing(engine.url()))
    if listing(sqlite) == before:
        fault("nothing was put")
    answers(engine.kind + " after lost answers", sqlite, engine.url())
    # Rows that are there twice, whether the server has merged them or not.
    columns = "(time, from_ns, to_ns, type, unit, service, version, host, comm, instance, label_keys, label_values, stacks, samples, "\
              "weight_each, weights, count_names, count_values)"
    engine.ask("INSERT INTO seam_windows %s SELECT %s FROM seam_windows" % (columns, columns[1:-1]))
    answers(engine.kind + " with all rows twice", sqlite, engine.url())
    check(engine.kind + ": ls with all rows twice", listing(sqlite), listing(engine.url()))


def many_counts(engine):
    """The server adds up rows of more counts than are sent as they are: a list of commands says the same as each for itself."""
    url = engine.url("/many")
    engine.ask("CREATE DATABASE many")
    seam("store", "init", "--store", url)
    imported(url, "multi_group")
    row = engine.ask("SELECT toUInt32(time), from_ns, to_ns, type, unit, service, host, instance, arrayStringConcat(arrayMap(s -> concat('toUInt64(', toString(s), ')'), "
                     "arraySlice(stacks, 1, 7)), ', ') FROM many.seam_windows WHERE type != '' ORDER BY length(stacks) DESC, type, comm LIMIT 1 FORMAT TabSeparated")
    time_s, first, last, kind, unit, service, host, instance, stacks = row.strip("\n").split("\t")
    n = stacks.count(",") + 1
    engine.ask("INSERT INTO many.seam_windows (time, from_ns, to_ns, type, unit, service, version, host, comm, instance, label_keys, label_values, stacks, "
               "samples, weight_each, weights, count_names, count_values) SELECT toDateTime(%s), toUInt64(%s), toUInt64(%s), '%s', %s, '%s', "
               "'', '%s', concat('many-', toString(number %% 3)), concat('%s', toString(number)), emptyArrayString(), emptyArrayString(), "
               "arrayMap(i -> [%s][1 + i %% %d], range(5000)), arrayMap(i -> toUInt64(1 + i %% 3), range(5000)), toUInt64(7 + number), "
               "arrayMap(i -> toUInt64(i %% 5), range(5000)), emptyArrayString(), emptyArrayUInt64() FROM numbers(900)" %
               (time_s, first, last, kind, unit, service, host, instance, stacks, n))
    folded = ["export", "-f", "folded", *EVER, "--store", url, "--where"]
    each = [seam(*folded, "comm=many-%d" % i)[0] for i in range(3)]
    check(engine.kind + ": counts that the server adds up", sorted("".join(each).split("\n")),
          sorted(seam(*folded, "comm=many-0,comm=many-1,comm=many-2")[0].split("\n")))
    if not all(text.count("\n") >= n for text in each):
        fault("no counts: " + each[0][:300])


def listed(engine, work):
    """Lists of hours that are rolled up are those of windows: of any span, when windows came in behind, and of a store of an earlier seam."""
    stores = both_stores(engine, work, "listed")
    for name, ago, *more in (("hackbench_d", 200000), ("gcc_d", 196000, "--label", "service=s,version=2"), ("pipe_z", 90000, "--label", "service=" + HOSTILE.replace("\\", "\\\\")),
                             ("multi_group", 0)):
        path = os.path.join(work, "hours-" + name)
        shutil.copyfile(os.path.join(DATA, name, "perf.data"), path)
        os.utime(path, (time.time() - ago, time.time() - ago))
        for store in stores:
            seam("store", "import", "--store", store, "--window", "1s", *NOWHERE, *more, path)
    first, last = listing(stores[0])["first_ns"] // 10**9, listing(stores[0])["last_ns"] // 10**9
    hour = first // 3600 * 3600
    spans = [["--from", "@%d" % a, "--to", "@%d" % b] for a, b in (
        (0, 4000000000), (hour, hour + 3600), (first + 1, hour + 36000), (hour + 3600, last // 3600 * 3600))]

    def same(what):
        for span in spans:
            for by in ([], ["--by", "service,exe"], ["--by", "host", "--where", "service=s"]):
                check("%s: %s, %s %s" % (engine.kind, what, span, by), *(re.sub(r"[\d.]+ MB|%s" % re.escape(store), "", "".join(seam(
                    "store", "ls", *by, *span, "--store", store, status=None)[:2])) for store in stores))

    def rolled():
        return int(seam("store", "rollup", "--store", stores[1])[0].split(" ", 1)[0])

    made = rolled()
    rows = engine.ask("SELECT count() FROM listed.seam_series FINAL WHERE whole = 0")
    check("hours whose series are put", str(made), engine.ask("SELECT count() FROM listed.seam_series FINAL WHERE whole = 1").strip())
    same("lists of hours")
    check("series are put again", 0, rolled())
    # A window of an hour that was rolled up: its series is in no row of the hour.
    for store in stores:
        seam("store", "import", "--store", store, "--window", "1s", *NOWHERE, "--label", "service=late,host=another", os.path.join(work, "hours-hackbench_d"))
    same("lists of hours to which a window came")
    if not rolled():
        fault("an hour to which a window came is not rolled up again")
    same("lists of hours that were rolled up twice")
    if engine.ask("SELECT count() FROM listed.seam_series FINAL WHERE whole = 0") == rows:
        fault("the late series is not there")
    # What the lists read is what the rows say: it is not made of windows again.
    engine.ask("INSERT INTO listed.seam_series (hour, whole, service, version, host, comm, label_keys, label_values, windows, samples, first_ns, last_ns, made) SELECT "
               "hour, 0, 'seen', '', '', '', [], [], 1, 7, first_ns, last_ns, made FROM listed.seam_series FINAL WHERE whole = 0 AND service = 'late' LIMIT 1")
    if [s["samples"] for s in listing(stores[1])["series"] if s["labels"].get("service") == "seen"] != [7]:
        fault("lists do not read what the roll-up says")
    # As an earlier seam left it.
    engine.ask("DROP TABLE listed.seam_series")
    same("lists of a store that has no such table")
    check("hours of a store that has no such table", 0, rolled())
    seam("store", "init", "--store", stores[1])
    check("hours of a store that was brought up", made, rolled())
    same("lists of a store that was brought up")


def hostile(engine, sqlite):
    for url in (sqlite, engine.url()):
        imported(url, "pipe_z", "--label", "service=" + HOSTILE.replace("\\", "\\\\") + ",k<'>=" + HOSTILE.replace("\\", "\\\\"))
    where = ["--where", "service=" + HOSTILE.replace("\\", "\\\\")]
    answers(engine.kind + " of a hostile service", sqlite, engine.url(), *where)
    out = seam("report", "--store", engine.url(), *EVER, *where, "--by", "k<'>", "-s", "comm")[0]
    if "DROP TABLE" not in out or "\x1b" in out:
        fault("a hostile label: " + out[:300])
    if "\x1b" in seam("store", "ls", "--store", engine.url())[0]:
        fault("ls writes an escape")


def refused(engine, work):
    def secret(text):
        path = os.path.join(work, "secret")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    said = seam("store", "init", "--store", engine.url(), "--cluster", "fleet", "--replicated", "--dry-run")[0]
    check("tables of a replicated cluster that all servers share", ["/clickhouse/tables/all/seam_schema', '{shard}-{replica}'"],
          re.findall(r"/clickhouse/tables/all/[^)]*'", said.replace(", made", "")))
    recording = os.path.join(DATA, "pipe_z", "perf.data")
    nobody = engines.ports(1)[0]
    dumb = socket.create_server(("127.0.0.1", 0))  # takes connections and never answers
    for words, url in (
            ("Couldn't connect", "clickhouse:http://127.0.0.1:%d" % nobody),
            ("imed out", "clickhouse:http://127.0.0.1:%d/?timeout=1" % dumb.getsockname()[1]),
            ("answers 4", engine.url("/?user=seam&password-file=" + secret("wrong\n"))),
            ("is no URL", "clickhouse:ftp://x"),
            ("holds no user", "clickhouse:http://seam:x@127.0.0.1/"),
            ("option 'pasword' is not known", engine.url("/?pasword=x")),
            ("No such file", engine.url("/?user=x&password-file=/nonexistent")),
            ("needs user", engine.url("/?password-file=/nonexistent")),
            ("is no name of a database", engine.url("/a;b")),
            ("is a number", engine.url("/?timeout=x"))):
        for args in (["report", "--store", url], ["store", "import", "--store", url, recording]):
            out, err, code = seam(*args, status=None)
            if code not in (1, 2) or words not in err or len(err.strip().split("\n")) != 1:
                fault("%s: exit %d: %s%s" % (args, code, err, out[:100]))
    dumb.close()
    if "samples" not in seam("report", "--store", engine.url("/?user=seam&password-file=" + secret("se'cret\nx")), *EVER)[0]:
        fault("the right password is refused")
    engine.ask("CREATE DATABASE other")
    if "has no tables of seam" not in seam("report", "--store", engine.url("/other"), status=1)[1]:
        fault("a server without tables is not told")
    seam("store", "init", "--store", engine.url("/other"))
    imported(engine.url("/other"), "pipe_z")
    engine.ask("INSERT INTO other.seam_schema (version, made) VALUES (99, now())")
    for args in (["report"], ["store", "ls"], ["store", "init"], ["store", "import", recording]):
        if "newer seam" not in seam(*args, "--store", engine.url("/other"), status=1)[1]:
            fault("a newer store is not refused: %s" % args)


def kept(engine):
    """--keep is for tables that are there, too; where a server cannot, nothing is done."""
    url = engine.url("/kept")
    engine.ask("CREATE DATABASE kept")
    if engine.kind == "server":
        if "--keep needs" not in seam("store", "init", "--store", url, "--keep", "30", status=1)[1]:
            fault("--keep is not refused")
        check("tables of what was refused", "", engine.ask("SHOW TABLES FROM kept"))
        return
    seam("store", "init", "--store", url)
    imported(url, "pipe_z")
    new = engine.ask("SELECT count() FROM kept.seam_windows")
    engine.ask("INSERT INTO kept.seam_windows SELECT * REPLACE (time - INTERVAL 40 DAY AS time) FROM kept.seam_windows")
    for days in ("20000", "30"):
        said = seam("store", "init", "--store", url, "--keep", days, "--dry-run")
        seam("store", "init", "--store", url, "--keep", days)
        tables = engine.ask("SELECT name, create_table_query FROM system.tables WHERE database = 'kept'")
        check("tables with a TTL", 1, tables.count("TTL time + toIntervalDay(%s)" % days))
        check("tables with a TTL by hours", 3, tables.count("TTL hour + toIntervalDay(%d)" % (int(days) + 2)))
        check("tables with a TTL by when it was seen", 1, tables.count("TTL seen + toIntervalDay(%d)" % (int(days) + 2)))
        if said[0].count("MODIFY TTL") != 5:
            fault("--dry-run says: " + said[0])
    engine.ask("OPTIMIZE TABLE kept.seam_windows FINAL")
    check("windows that are not too old", new, engine.ask("SELECT count() FROM kept.seam_windows"))


def functions_of(url, *span):
    top = json.loads(seam("store", "top", "--json", "-n", "10000", "--store", url, *span)[0])
    return [(e["event"], e["all"], sorted(tuple(f.values()) for f in e["functions"])) for e in top["events"]]


def rolled_up(engine, work):
    """Functions of the roll-up are those of the reports, whether hours are made once or again, and by service."""
    url, sqlite = engine.url("/hours"), "sqlite:" + os.path.join(work, engine.kind + "-hours.db")
    engine.ask("CREATE DATABASE hours")
    seam("store", "init", "--store", url)
    # The recordings do not say when they were made, so it is when their files were written: two of an hour that is over, one of now.
    for name, ago, *more in (("hackbench_d", 200000), ("pipe_z", 90000, "--label", "service=" + HOSTILE.replace("\\", "\\\\")), ("multi_group", 0)):
        path = os.path.join(work, "hours-" + name)
        shutil.copyfile(os.path.join(DATA, name, "perf.data"), path)
        os.utime(path, (time.time() - ago, time.time() - ago))
        for store in (url, sqlite):
            seam("store", "import", "--store", store, "--window", "1s", *NOWHERE, *more, path)
    made = re.match(r"(\d+) hours were rolled up, 0 were so before, (\d+) are not over", seam("store", "rollup", "--store", url)[0])
    if not made or int(made.group(1)) < 2 or int(made.group(2)) < 1:
        fault("rolled up: %s" % made)
    past = ["--from", "@0", "--to", "-12h"]
    for where in ([], ["--where", "service=" + HOSTILE.replace("\\", "\\\\")]):
        for turn in range(2):
            same_functions(engine.kind, url, sqlite, *past, *where)
            # All hours again, beside what is there.
            engine.ask("INSERT INTO hours.seam_hours SELECT * FROM hours.seam_hours")
    text = seam("store", "top", "--store", url, "--from", "@0", "--to", "@4000000000")[0]
    if "are rolled up; 1 have windows" not in text.replace("; 2 have", "; 1 have") or "\x1b" in text:
        fault("top: " + text)
    if not seam("store", "rollup", "--store", url)[0].startswith("0 hours were rolled up"):
        fault("hours are rolled up again")
    if "by service and version" not in seam("store", "top", "--store", url, "--where", "host=x", status=1)[1]:
        fault("top by host is not refused")
    seam("store", "rollup", "--store", sqlite)
    check("functions of both kinds of stores", *(functions_of(store, *past) for store in (url, sqlite)))
    for make in (older, before_last):
        make(engine)
        check("a report after an older store became a newer one", *both((sqlite, url), "report", *past))
        check("a list after that", listing(sqlite), listing(url))
        check("no old table is left", "", engine.ask("SELECT name FROM system.tables WHERE database = 'hours' AND name LIKE '%of_2'"))
        check("times are of one zone", "DateTime('UTC')", engine.ask(
            "SELECT type FROM system.columns WHERE database = 'hours' AND table = 'seam_windows' AND name = 'time' FORMAT TSVRaw").strip().replace("\\", ""))
        same_functions(engine.kind + ": an older store", url, sqlite, *past)
    engine.ask("DROP TABLE hours.seam_hours")  # of before there were hours
    seam("store", "init", "--store", url)
    if not seam("store", "rollup", "--store", url)[0].startswith(made.group(1) + " hours were rolled up"):
        fault("hours of a store that had none")


def older(engine):
    """The tables of the database hours become those of version 2, which had longer hashes, and stacks by service; then of now."""
    url = engine.url("/hours")
    longer = "toFixedString(concat(toFixedString(reinterpretAsString(%s), 8), 'abcdefgh'), 16)"
    engine.ask("CREATE TABLE hours.windows ENGINE = ReplacingMergeTree PARTITION BY toDate(time) ORDER BY (type, service, time, host, version, "
               "comm, instance, from_ns, unit) AS SELECT time, from_ns, to_ns, type, unit, service, version, host, comm, instance, label_keys, "
               "label_values, arrayMap(s -> " + longer % "s" + ", was) AS stacks, samples, more AS weights, count_names, count_values FROM (SELECT time, from_ns, "
               "to_ns, type, unit, service, version, host, comm, instance, label_keys, label_values, stacks AS was, samples, "
               "arrayMap((w, s, e) -> w + s * e, weights, samples, arrayResize(emptyArrayUInt64(), length(samples), weight_each)) AS more, count_names, count_values FROM hours.seam_windows) AS w")
    engine.ask("CREATE TABLE hours.stacks ENGINE = ReplacingMergeTree(seen) ORDER BY (service, stack) AS SELECT service, " + longer % "hash" +
               " AS stack, a_state AS state, a_path AS frames, toDateTime(1) AS seen FROM (SELECT service, stack AS hash, any(state) AS a_state, "
               "any(frames) AS a_path FROM hours.seam_stacks GROUP BY service, hash) AS s")
    for table in ("seam_windows", "seam_stacks", "seam_schema"):
        engine.ask("DROP TABLE hours." + table)
    engine.ask("RENAME TABLE hours.windows TO hours.seam_windows, hours.stacks TO hours.seam_stacks")
    engine.ask("CREATE TABLE hours.seam_schema (version UInt32, made DateTime) ENGINE = ReplacingMergeTree(made) ORDER BY version")
    engine.ask("INSERT INTO hours.seam_schema (version, made) VALUES (2, now())")
    for args in (["report"], ["store", "top"], ["store", "import", os.path.join(DATA, "pipe_z", "perf.data")]):
        if "an earlier seam" not in seam(*args, "--store", url, status=1)[1]:
            fault("an older store is not told: %s" % args)
    # Half-way: the old tables have other names, and the rest is to be done again.
    engine.ask("RENAME TABLE hours.seam_windows TO hours.seam_windows_of_2")
    seam("store", "init", "--store", url)


def before_last(engine):
    """The tables of the database hours become those of version 3: windows by time, which was of the server's zone; then of now."""
    of_version_3(engine.ask, "hours")
    url = engine.url("/hours")
    if "an earlier seam" not in seam("report", "--store", url, status=1)[1]:
        fault("a store of version 3 is not told")
    seam("store", "init", "--store", url)


def fnv(texts):
    number = 0xcbf29ce484222325
    for byte in "".join(texts).encode():
        number = (number ^ byte) * 0x100000001b3 % 2**64
    return number


COROOT_SAMPLES = ("SELECT StackHash AS hash, sum(Value) AS value FROM coroot.profiling_samples WHERE ServiceName IN ('%s') AND Type = "
                  "'ebpf:cpu:nanoseconds' AND Start < now() AND End > toDateTime(1) AND (empty([]) OR has([], Labels['container.id'])) AND "
                  "('' = '' OR '' = Labels['namespace']) GROUP BY StackHash HAVING value > 0 ORDER BY value DESC LIMIT 5000")
COROOT_STACKS = ("SELECT Hash AS hash, any(Stack) AS stack FROM coroot.profiling_stacks WHERE ServiceName IN ('%s') AND LastSeen > "
                 "toDateTime(1) AND Hash GLOBAL IN (SELECT hash FROM samples) GROUP BY Hash")


def coroot(engine, work):
    """Coroot's own tables: a query of its form has what the report of another store has; an answer that was lost is told."""
    engine.ask("CREATE DATABASE coroot")
    url = "coroot-" + engine.url("/coroot")
    if engine.kind == "server":
        if "DateTime64" not in seam("store", "init", "--store", url, status=1)[1]:
            fault("Coroot's tables are made on a server that cannot have them")
        return
    for _ in range(2):
        seam("store", "init", "--store", url)
    check("tables that are said", 3, seam("store", "init", "--dry-run", "--store", url)[0].count("CREATE TABLE"))
    path = os.path.join(DATA, "hackbench_d", "perf.data")
    seam("push", "--label", "zone='}<" + ",service=coroot's", *NOWHERE, path, url)
    kinds = json.loads(engine.ask("SELECT groupArray(concat(ServiceName, ' ', Type)) AS k FROM coroot.profiling_profiles FORMAT JSON"))["data"]
    check("Coroot's services and types", ["coroot's ebpf:cpu:nanoseconds"], kinds[0]["k"])
    rows = json.loads(engine.ask("WITH samples AS (%s), stacks AS (%s) SELECT toString(hash) AS hash, value, stack FROM samples ANY LEFT JOIN stacks USING (hash) FORMAT JSON"
                                 % (COROOT_SAMPLES % "coroot\\'s", COROOT_STACKS % "coroot\\'s")))["data"]
    if not rows or any(str(fnv(r["stack"])) != r["hash"] for r in rows):
        fault("stacks are not by their FNV-1a: %s" % rows[:1])
    check("a label of Coroot's rows", "'}<", engine.ask("SELECT DISTINCT Labels['zone'] FROM coroot.profiling_samples FORMAT TSVRaw").strip())
    got, wanted, sqlite = {}, {}, "sqlite:" + os.path.join(work, "coroot.db")
    imported(sqlite, "hackbench_d")
    for r in rows:
        leaf = r["stack"][0].rsplit(" ", 1)[0]
        got[leaf] = got.get(leaf, 0) + int(r["value"])
    for r in json.loads(seam("report", "--json", "--store", sqlite, *EVER, "-s", "sym,dso")[0])["rows"]:
        if r["self"]:
            leaf = r["sym"] or "[%s]" % (r["dso"] or "unknown").rsplit("/", 1)[-1].strip("[]")
            wanted[leaf] = wanted.get(leaf, 0) + r["self"]
    check("functions of Coroot's tables", wanted, got)
    server = engines.between(engine.port, lambda path: "profiling_samples" in path)
    lost = seam("push", *NOWHERE, path, "coroot-clickhouse:http://127.0.0.1:%d/coroot" % server.server_address[1], status=1)[1]
    server.shutdown()
    if "127.0.0.1" not in lost or "only pushed" not in seam("report", "--store", url, status=1)[1]:
        fault("Coroot's tables: " + lost)


def certificates(engine, work):
    """Servers by TLS: one that is trusted, one whose certificate is over, one of nobody's."""
    made = os.path.join(work, "tls")
    os.makedirs(made)
    with open(made + "/ca.conf", "w", encoding="utf-8") as file:
        file.write(CA.format(at=made))
    for name, end in (("good", "491231235959Z"), ("over", "210101000000Z")):
        for file in ("index.txt", "index.txt.attr"):
            open(made + "/" + file, "w", encoding="utf-8").close()
        done = subprocess.run("openssl req -new -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout {0}.key -out {0}.csr -config ca.conf"
                              " && openssl ca -batch -selfsign -config ca.conf -keyfile {0}.key -in {0}.csr -out {0}.pem -notext "
                              "-startdate 200101000000Z -enddate {1}".format(name, end), shell=True, cwd=made,
                              capture_output=True, check=False)
        if done.returncode:
            fault("openssl: " + done.stderr.decode()[-300:])
            return
    for name, ca, words in (("good", "good", None), ("good", None, "certificate"), ("over", "over", "expired")):
        server = engines.between(engine.port, lambda path: False)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(made + "/" + name + ".pem", made + "/" + name + ".key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        url = "clickhouse:https://127.0.0.1:%d/%s" % (server.server_address[1], "?ca-file=%s/%s.pem" % (made, ca) if ca else "")
        out, err, code = seam("store", "ls", "--store", url, status=None)
        if (words is None and code != 0) or (words and (code != 1 or words not in err or len(err.strip().split("\n")) != 1)):
            fault("TLS, %s for %s: exit %d: %s%s" % (ca, name, code, err, out[:100]))
        server.shutdown()


def main():
    kinds = [k for k in ("server", "library") if engines.have(CLICKHOUSE, k)]
    if not kinds:
        print("skipped: no ClickHouse: 'scripts/clickhouse server' and 'scripts/clickhouse library' get it")
        return 77
    if "has no libcurl" in seam("report", "--store", "clickhouse:http://127.0.0.1:1", status=None)[1]:
        print("skipped: this build has no libcurl")
        return 77
    work = tempfile.mkdtemp(prefix="seam-clickhouse-")
    try:
        for kind in kinds:
            engine = engines.Engine(CLICKHOUSE, kind, os.path.join(work, kind))
            try:
                version = engine.start()
                sqlite = same_answers(engine, work)
                every_form(engine, work)
                gates(engine, work)
                hostile_names(engine, work)
                lost_answers(engine, sqlite)
                hostile(engine, sqlite)
                many_counts(engine)
                listed(engine, work)
                rolled_up(engine, work)
                refused(engine, work)
                kept(engine)
                coroot(engine, work)
                if kind == kinds[0]:
                    certificates(engine, work)
                print("%s: ClickHouse %s" % (kind, version))
            finally:
                engine.stop()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print("%d faults" % held.faults)
    return 1 if held.faults else 0


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
sys.exit(main())
