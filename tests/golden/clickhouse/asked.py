# SPDX-License-Identifier: MIT
"""What tests of ClickHouse share: recordings are imported into two stores, which are asked the same."""
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from held import EVER, NOWHERE, check, fault, seam  # noqa: E402

DATA, CLICKHOUSE = (os.path.abspath(a) for a in sys.argv[2:4])
RECORDINGS = ["hackbench_d", "multi_group", "pipe_z"]


def of_version_3(ask, database, local=""):
    """Tables of now become those of version 3: windows by time, which was of the server's zone. local: how a cluster's own are called."""
    windows = "%s.seam_windows%s" % (database, local)
    columns = ("from_ns, to_ns, type, unit, service, version, host, comm, instance, label_keys, label_values, stacks, samples, weight_each, weights, "
               "count_names, count_values")
    ask("CREATE TABLE %s.windows ENGINE = ReplacingMergeTree PARTITION BY toDate(time) ORDER BY (type, service, time, host, version, comm, instance, "
        "from_ns, unit, label_keys, label_values) AS SELECT toDateTime(toUInt32(was)) AS time, %s FROM (SELECT time AS was, %s FROM %s) AS w" %
        (database, columns, columns, windows))
    ask("DROP TABLE " + windows)
    ask("DROP TABLE %s.seam_schema" % database)
    ask("RENAME TABLE %s.windows TO %s" % (database, windows))
    ask("CREATE TABLE %s.seam_schema (version UInt32, made DateTime) ENGINE = ReplacingMergeTree(made) ORDER BY version" % database)
    ask("INSERT INTO %s.seam_schema (version, made) VALUES (3, now())" % database)


def imported(url, name, *more):
    return seam("store", "import", "--store", url, "--window", "1s", *NOWHERE, *more, os.path.join(DATA, name, "perf.data"))[1]


def both(stores, *args):
    """What two stores answer, asked at the same time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return [answer[0] for answer in pool.map(lambda u: seam(*args, "--store", u), stores)]


def answers(what, wanted, got, *where):
    """The same report of two stores."""
    for options in ([], ["--json"], ["-s", "srcline,state"], ["--by", "service,exe,nothing", "-s", "comm"], ["--where", "comm=cc1,comm=hackbench,comm=perf", "-s", "sym"]):
        a, b = both((wanted, got), "report", *EVER, *options, *where)
        check("%s %s" % (what, options), a, b)
    a, b = (sorted(text.split("\n")) for text in both((wanted, got), "export", "-f", "folded", *EVER, *where))
    check(what + ": folded", a, b)


def listing(url):
    listed = json.loads(seam("store", "ls", "--json", "--store", url)[0])
    del listed["bytes"]
    return listed


def same_functions(what, url, sqlite, *span):
    top = json.loads(seam("store", "top", "--json", "-n", "10000", "--store", url, *span)[0])
    check(what + ": hours that are missing", 0, top["hours_missing"])
    if not top["events"]:
        fault(what + ": no events")
    rows = json.loads(seam("report", "--json", "--store", sqlite, *span, "-s", "event,sym,dso")[0])["rows"]
    for event in top["events"]:
        wanted = sorted((r["sym"] or "", r["dso"] or "", r["self"], r["total"]) for r in rows if r["event"] == event["event"])
        got = sorted((f["function"], f["object"], f["self"], f["total"]) for f in event["functions"])
        check("%s: functions of %s %s" % (what, event["event"], span), wanted, got)
        check(what + ": all of them", sum(w[2] for w in wanted), event["all"])
