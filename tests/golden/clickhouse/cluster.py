#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two of Debian's servers as a cluster: divided by service, as copies, and with tables of an earlier seam.

    cluster.py SEAM DATA CLICKHOUSE

Whichever server is asked answers as an SQLite store does. Exit 77: there is no server (copies need ZooKeeper, too), or no libcurl in the build.
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import engines

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import held  # noqa: E402
from asked import CLICKHOUSE, DATA, RECORDINGS, answers, imported, listing, of_version_3, same_functions  # noqa: E402
from held import NOWHERE, check, fault, seam  # noqa: E402


def two(work, name):
    numbers = engines.ports(4)
    return [engines.Engine(CLICKHOUSE, "server", os.path.join(work, name + str(i)), numbers[2 * i], numbers[2 * i + 1], numbers[1::2]) for i in range(2)]


def divided(work):
    """Two servers, each with a part of the services."""
    servers = two(work, "shard")
    sqlite = "sqlite:" + os.path.join(work, "cluster.db")
    try:
        for e in servers:
            e.start()
            seam("store", "init", "--store", e.url(), "--cluster", "fleet")
        # By their names all services of RECORDINGS lie on the second server. gcc_d's cc1 lies on the first.
        for i, name in enumerate(RECORDINGS + ["gcc_d"]):
            imported(sqlite, name)
            imported(servers[i % 2].url(), name)
            if " 0 windows put" not in imported(servers[1 - i % 2].url(), name):
                fault("cluster: %s is put twice" % name)
        for e in servers:
            answers("cluster", sqlite, e.url())
            check("cluster: ls", listing(sqlite), listing(e.url()))
        parts = [set(e.ask("SELECT DISTINCT service FROM seam_windows_local WHERE type != ''").split()) for e in servers]
        if not all(parts) or parts[0] & parts[1]:
            fault("cluster: services are not divided: %s" % parts)
        past = "sqlite:" + os.path.join(work, "cluster-hours.db")
        for name in ("hackbench_d", "gcc_d"):
            path = os.path.join(work, "hours-" + name)
            shutil.copyfile(os.path.join(DATA, name, "perf.data"), path)
            os.utime(path, (time.time() - 100000, time.time() - 100000))
            for store in (servers[0].url(), past):
                seam("store", "import", "--store", store, "--window", "1s", *NOWHERE, path)
        seam("store", "rollup", "--store", servers[0].url())
        for e in servers:
            same_functions("cluster", e.url(), past, "--from", "@0", "--to", "-12h")
    finally:
        for e in servers:
            e.stop()


def older(work):
    """Tables of version 3 on two servers: each server's init brings its own rows to this version, and commands wait for both."""
    servers = two(work, "older")
    sqlite = "sqlite:" + os.path.join(work, "older.db")
    try:
        for e in servers:
            e.start()
            seam("store", "init", "--store", e.url(), "--cluster", "fleet")
        for name in RECORDINGS + ["gcc_d"]:
            imported(sqlite, name)
            imported(servers[0].url(), name)
        for e in servers:
            of_version_3(e.ask, "default", "_local")
        if "--cluster NAME" not in seam("store", "init", "--store", servers[0].url(), status=1)[1]:
            fault("a cluster's older tables are brought to this form without its name")
        for e in servers:
            if "an earlier seam" not in seam("report", "--store", e.url(), status=1)[1]:
                fault("a cluster's older tables are not told")
            seam("store", "init", "--store", e.url(), "--cluster", "fleet")
        for e in servers:
            answers("an older cluster", sqlite, e.url())
            check("an older cluster: tables", "", e.ask("SELECT name FROM system.tables WHERE name LIKE '%of_2%'"))
    finally:
        for e in servers:
            e.stop()


class Keeper:
    """ZooKeeper."""

    def __init__(self, at, port):
        os.makedirs(at)
        with open(os.path.join(at, "zoo.cfg"), "w", encoding="utf-8") as file:
            file.write("tickTime=500\ndataDir=%s/data\nclientPort=%d\nclientPortAddress=127.0.0.1\n" % (at, port))
        with open(os.path.join(at, "log"), "ab") as log:
            self.process = subprocess.Popen([engines.have(CLICKHOUSE, "keeper"), os.path.join(at, "zoo.cfg")], cwd=at,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for _ in range(600):  # a server that finds none ends
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=2) as s:
                    s.sendall(b"srvr")
                    if b"Mode: standalone" in s.makefile("rb").read():
                        return
            except OSError:
                pass
            time.sleep(0.1)
        raise RuntimeError("ZooKeeper does not begin")

    def stop(self):
        self.process.kill()
        self.process.wait()


def copies(work, shards):
    """Two servers that are copies of one shard, or one of each of two: init is said once."""
    numbers = engines.ports(7)
    replica = "<replica><host>127.0.0.1</host><port>%d</port></replica>"
    shard = "<shard><internal_replication>true</internal_replication>%s</shard>"
    all_of = [replica % numbers[2 * i + 1] for i in range(2)]
    layout = "".join(shard % r for r in all_of) if shards == 2 else shard % "".join(all_of)
    at = os.path.join(work, "copies%d" % shards)
    keeper = Keeper(os.path.join(at, "keeper"), numbers[6])
    servers = [engines.Engine(CLICKHOUSE, "server", os.path.join(at, "server%d" % i), numbers[2 * i], numbers[2 * i + 1], layout, engines.COPIES.format(
        keeper=numbers[6], shard=i % shards, replica=i, port=numbers[4 + i])) for i in range(2)]
    sqlite = "sqlite:" + os.path.join(at, "copies.db")
    init = ["store", "init", "--cluster", "fleet", "--replicated"]
    what = "two copies" if shards == 1 else "two shards"
    try:
        for e in servers:
            e.start()
        said = seam(*init, "--dry-run", "--store", servers[0].url())[0]
        check(what + ": statements", [6, 5, 11, 6], [said.count(w) for w in ("Replicated", "Distributed(fleet", "ON CLUSTER fleet", "'/clickhouse/tables/")])
        check(what + ": nothing was made", "", servers[0].ask("SHOW TABLES"))
        for _ in range(2):
            seam(*init, "--store", servers[0].url())
        for i, name in enumerate(RECORDINGS + ["gcc_d"]):
            imported(sqlite, name)
            imported(servers[i % 2].url(), name)
            # What is put into one is there for the other, and counts once.
            for table in ("seam_windows", "seam_stacks", "seam_frames"):
                servers[1 - i % 2].ask("SYSTEM SYNC REPLICA %s_local" % table)
            if " 0 windows put" not in imported(servers[1 - i % 2].url(), name):
                fault("%s: %s is put twice" % (what, name))
        for e in servers:
            answers(what, sqlite, e.url())
            check(what + ": ls", listing(sqlite), listing(e.url()))
        has = [int(e.ask("SELECT count() FROM seam_windows_local WHERE type != ''")) for e in servers]
        check(what + ": rows of the servers", True, has[0] == has[1] if shards == 1 else min(has) > 0)
        if shards == 1:
            away(servers, sqlite)
    finally:
        for e in servers:
            e.stop()
        keeper.stop()


def away(servers, sqlite):
    """A copy is killed, misses what is put, and has it when it is back."""
    servers[1].stop()
    for url in (sqlite, servers[0].url()):
        imported(url, "hackbench_d", "--label", "service=alone")
    answers("a copy alone", sqlite, servers[0].url())
    servers[1].start()
    for table in ("seam_windows", "seam_stacks", "seam_frames"):
        for _ in range(600):
            try:
                servers[1].ask("SYSTEM SYNC REPLICA %s_local" % table)
                break
            except RuntimeError:
                time.sleep(0.1)
    answers("the other copy", sqlite, servers[1].url())
    servers[0].stop()
    answers("the other copy, alone", sqlite, servers[1].url())


def main():
    if not engines.have(CLICKHOUSE, "server"):
        print("skipped: no ClickHouse: 'scripts/clickhouse server' gets it")
        return 77
    if "has no libcurl" in seam("report", "--store", "clickhouse:http://127.0.0.1:1", status=None)[1]:
        print("skipped: this build has no libcurl")
        return 77
    work = tempfile.mkdtemp(prefix="seam-cluster-")
    try:
        divided(work)
        older(work)
        if engines.have(CLICKHOUSE, "keeper"):
            for shards in (1, 2):
                copies(work, shards)
        else:
            print("without copies: 'scripts/clickhouse keeper' gets ZooKeeper")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print("%d faults" % held.faults)
    return 1 if held.faults else 0


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
sys.exit(main())
