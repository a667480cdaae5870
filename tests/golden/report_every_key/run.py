#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every sort key that help lists, by itself: a table, JSON, CSV, a hierarchy and a group have it
under its name; diff and top take what their help lists and refuse the rest. A key that is new needs
no word here."""
import json
import os
import re
import subprocess

FILE = os.path.join(os.environ["DATA"], "multi_group", "perf.data")
SHAPES = [[], ["--hierarchy"], ["--group"], ["-t", ";"]]
faults = 0


def run(*args):
    done = subprocess.run(["seam"] + list(args), text=True, capture_output=True)
    return done.returncode, done.stdout, done.stderr


def report(*args):
    status, out, err = run("report", "--symfs", "/nonexistent", "-g", "none", *args, FILE)
    return out if status == 0 else "exit %d: %s" % (status, err)


def check(key, ok, what, got=""):
    global faults
    if not ok:
        faults += 1
        print("%s: %s: %s" % (key, what, got[:300]))


def keys(command):
    text = run(command, "--help")[1]
    found = re.search(r"-s, --sort KEYS\s+((?:[a-z_]+,\s*)*[a-z_]+)\s+\(", text)
    return re.sub(r"\s", "", found.group(1)).split(",")


man = run("help", "--man", "report")[1]
lists = {command: keys(command) for command in ("report", "diff", "top")}
for number, key in enumerate(lists["report"]):
    check(key, re.search(r"^\.B %s\n[a-zA-Z]" % key, man, re.M), "the man page does not tell it")
    out = report("--json", "-s", key)
    found = json.loads(out) if out.startswith("{") else {"columns": [], "rows": []}
    check(key, found["columns"] == [key], "JSON's columns", out)
    check(key, found["rows"] and all(key in row for row in found["rows"]), "JSON's rows", out)
    lines = report("--csv", "-F", key).splitlines()
    heading = "event," if key == "event" else "event,%s," % key
    check(key, lines[0].startswith(heading + "self_percent,"), "CSV's heading", lines[0])
    check(key, len(lines) > 1, "CSV has no rows")
    # Under sanitizers, where a start of seam takes the longest, each key has one of the shapes, in turn.
    turn = [SHAPES[number % len(SHAPES)]] if os.environ.get("SEAM_SANITIZED") == "1" else SHAPES
    for shape in turn:
        out = report(*shape, "-s", key)
        check(key, re.search(r"(Self|Self 1).*[A-Z]", out), "no heading " + " ".join(shape), out)
        check(key, "samples" in out or "count" in out, "no table " + " ".join(shape), out)
    for command, args in (("diff", [FILE, FILE]), ("top", ["-n", "1"])):
        if key not in lists[command]:
            status, out, err = run(command, "-s", key, *args)
            refused = status == 2 and "-s: " in err
            check(key, refused, command + " takes it, and does not list it", out + err)
for key in lists["diff"]:
    args = ["--symfs", "/nonexistent", "-s", key, FILE, FILE]
    got = run("diff", "--csv", *args)[1].splitlines()[0]
    heading = "event," if key == "event" else "event,%s," % key
    check(key, got.startswith(heading + "base,"), "diff's CSV", got)
    rows = json.loads(run("diff", "--json", *args)[1])["rows"]
    check(key, rows and all(key in row for row in rows), "diff's JSON")
check("top", set(lists["top"]) <= set(lists["report"]), "lists a key that report has not")
if not faults and len(lists["report"]) > 10:
    print("every key is in every form")
