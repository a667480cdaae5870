#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A recording pushed to other stores: stubs stand for the servers, which cannot be had.

    run.py SEAM DATA

Every sample arrives once and in the form that each takes; 429 and 500 are tried again, what may have arrived is not; keys come
from files. Go's pprof judges the bodies where it is installed, and the receiver of OpenTelemetry's collector where it was made.
"""
import base64
import gzip
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import wire  # noqa: E402

SEAM, DATA = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
RECEIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../scripts/otlp-receiver")
RECORDING = os.path.join(DATA, "hackbench_d", "perf.data")
ENV = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1", SEAM_CONFIG="", TZ="UTC")
HOSTILE = "a\"'}<b>\x1b\u00e9"
faults = 0


def fault(text):
    global faults
    faults += 1
    print("FAILED: " + text[:1500])


def check(what, wanted, got):
    if wanted != got:
        fault("%s: wanted %r, got %r" % (what, wanted, got))


def push(kind, rest="", answers=(), status=0, labels=()):
    asked, code, err = wire.by_http(SEAM, ENV, RECORDING, kind + ":http://127.0.0.1:%d" + rest.replace("%", "%%"), answers, labels)
    if status is not None and code != status:
        fault("%s: exit %d: %s" % (kind, code, err))
    return asked, err


def pprof_sums(body):
    """Samples and weights of a pprof, and whether every location has a line."""
    sums = [0, 0]
    whole = True
    for number, value in wire.fields(gzip.decompress(body)):
        if number == 2:
            for n, packed in wire.fields(value):
                if n == 2:
                    sums = [a + b for a, b in zip(sums, wire.numbers(packed))]
        if number == 4:
            whole &= any(n == 4 for n, _ in wire.fields(value))
    return sums, whole


def judge_pprof(body, weight, work):
    """Go's pprof, if it is there."""
    if not shutil.which("go"):
        return False
    path = os.path.join(work, "judged.pb.gz")
    with open(path, "wb") as file:
        file.write(body)
    done = subprocess.run(["go", "tool", "pprof", "-raw", path], capture_output=True, check=False)
    if b"No such tool" in done.stderr or b"no such tool" in done.stderr:
        return False
    lines = done.stdout.decode().split("Locations")[0].split("\n")
    got = sum(int(line.split(":")[0].split()[1]) for line in lines if line[:1] == " " and line.split(":")[0].split()[0].isdigit())
    check("Go's pprof", weight, got)
    return True


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def received(labels, grpc, work):
    """What the collector's own receiver (scripts/otlp-receiver) makes of a push: lines of receiver.go. None: it is not there."""
    have = subprocess.run([RECEIVER, "--have"], capture_output=True, check=False)
    if have.returncode:
        return None
    ports = [free_port(), free_port()]
    out = os.path.join(work, "received")
    with open(out, "wb") as file, subprocess.Popen([have.stdout.decode().strip(), *("127.0.0.1:%d" % port for port in ports)], stdout=file,
                                                   stderr=file) as receiver:
        for _ in range(600):
            with open(out, encoding="utf-8") as text:
                if "ready" in text.read() or receiver.poll() is not None:
                    break
            time.sleep(0.1)
        url = "otlp:http://127.0.0.1:%d%s" % (ports[grpc], "?protocol=grpc" if grpc else "")
        done = subprocess.run([SEAM, "push", "--symfs", "/nonexistent", *labels, RECORDING, url], env=ENV, capture_output=True, check=False)
        receiver.terminate()
    if done.returncode:
        fault("the collector's receiver: " + done.stderr.decode())
    with open(out, encoding="utf-8") as text:
        return text.read().split("\n")


def collector(report, grpc, work):
    """The collector's receiver has every sample, under the function that a report has it under, and each label."""
    lines = received(["--label", "zone=" + HOSTILE], grpc, work)
    if lines is None:
        print("without the collector's receiver: scripts/otlp-receiver makes it")
        return
    got, wanted = {}, {}
    for line in lines:
        if line.startswith("leaf "):
            weight, name = line.split(" ", 2)[1:]
            got[json.loads(name)] = got.get(json.loads(name), 0) + int(weight)
    for r in report["rows"]:
        if r["self"]:
            name = r["sym"] or "[%s]" % (r["dso"] or "unknown").rsplit("/", 1)[-1].strip("[]")
            wanted[name] = wanted.get(name, 0) + r["self"]
    check("the collector's receiver: functions", wanted, got)
    for text in ('resource "service.name" "hackbench"', 'resource "zone" "a\\"\'}<b>\\x1b\u00e9"', 'profile "cpu" "nanoseconds" '):
        if not any(line.startswith(text) for line in lines):
            fault("the collector's receiver has no %s: %s" % (text, [line for line in lines if not line.startswith("leaf")][:20]))


def all_pprof(asked, kind):
    """The pprof bodies, with the labels of each."""
    if kind == "coroot":
        return [(dict(urllib.parse.parse_qsl(urllib.parse.urlparse(path).query)), body) for path, _, body in asked]
    out = []
    for _, _, body in asked:
        for s in json.loads(body)["series"]:
            labels = s["labels"]["labels"] if kind == "parca" else s["labels"]
            out += [({l["name"]: l["value"] for l in labels}, base64.b64decode(x["rawProfile"])) for x in s["samples"]]
    return out


def main():
    work = tempfile.mkdtemp(prefix="seam-push-")
    report = json.loads(subprocess.run([SEAM, "report", "--json", "--symfs", "/nonexistent", RECORDING], env=ENV,
                                       capture_output=True, check=False).stdout)
    samples, weight = report["samples"], report["events"][0]["weight"]
    if "has no libcurl" in push("otlp", answers=[200], status=None)[1]:
        print("skipped: this build has no libcurl")
        return 77
    judged = 0
    paths = {"pyroscope": "/push.v1.PusherService/Push", "parca": "/profiles/writeraw", "coroot": "/v1/profiles",
             "otlp": "/v1development/profiles"}
    for kind, path in paths.items():
        asked, _ = push(kind, labels=["--label", "zone-1=" + HOSTILE])
        check(kind + ": path", {path}, {urllib.parse.urlparse(a[0]).path for a in asked})
        if kind == "otlp":
            continue
        parts = all_pprof(asked, kind)
        sums = [pprof_sums(body) for _, body in parts]
        check(kind + ": samples and weights", (samples, weight), (sum(s[0][0] for s in sums), sum(s[0][1] for s in sums)))
        check(kind + ": every location has a function", True, all(s[1] for s in sums))
        if kind == "coroot":
            check("Coroot's name of CPU time", True, all(b"ebpf:cpu:nanoseconds" in gzip.decompress(body) for _, body in parts))
        service, zone = ("service.name", "zone-1") if kind == "coroot" else ("service_name", "zone_1")
        check(kind + ": services", True, "hackbench" in {labels[service] for labels, _ in parts})
        check(kind + ": a hostile label", {HOSTILE}, {labels[zone] for labels, _ in parts})
        judged += all(judge_pprof(body, s[0][1], work) for (_, body), s in zip(parts, sums))
    # OpenTelemetry: the sum of all values, and what indices refer to.
    asked, _ = push("otlp")
    got, tables = 0, {}
    for number, value in wire.fields(asked[0][2]):
        for table, _ in wire.fields(value) if number == 2 else ():
            tables[table] = tables.get(table, 0) + 1
    for profile in wire.profiles(asked[0][2]):
        got += sum(sum(wire.numbers(dict(wire.fields(sample))[4])) for f, sample in wire.fields(profile) if f == 2)
    check("otlp: values", weight, got)
    check("otlp: tables", set(range(1, 8)), set(tables))
    flat = json.loads(subprocess.run([SEAM, "report", "--json", "--symfs", "/nonexistent", "-s", "sym,dso", RECORDING], env=ENV,
                                     capture_output=True, check=False).stdout)
    for grpc in False, True:
        collector(flat, grpc, work)
    # What fails.
    for kind in paths:
        asked, _ = push(kind, answers=[429, 500])
        wanted = 2 + (3 if kind == "coroot" else 1)
        check(kind + ": 429 and 500 are tried again", wanted, len(asked))
        asked, err = push(kind, answers=[0], status=1)
        check(kind + ": what may have arrived is not sent again", 1, len(asked))
        asked, err = push(kind, answers=[400], status=1)
        check(kind + ": what is refused is not tried again", (1, True), (len(asked), "answers 400" in err))
        check(kind + ": one line", 2, len(err.strip().split("\n")))
    secret = os.path.join(work, "secret")
    with open(secret, "w", encoding="utf-8") as file:
        file.write("k3y\n")
    check("a key", "k3y", push("coroot", "/?key-file=" + secret)[0][0][1].get("X-API-Key"))
    check("a token", "Bearer k3y", push("parca", "/?token-file=" + secret)[0][0][1].get("Authorization"))
    check("a tenant", "t1", push("pyroscope", "/?tenant=t1")[0][0][1].get("X-Scope-OrgID"))
    done = subprocess.run([SEAM, "report", "--store", "parca:http://127.0.0.1:1"], env=ENV, capture_output=True, check=False)
    check("reading is refused", (1, True), (done.returncode, b"only pushed" in done.stderr))
    shutil.rmtree(work)
    print("%d kinds judged by Go's pprof; %d faults" % (judged, faults))
    return 1 if faults else 0


sys.exit(main())
