#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""seam explain: what it says is what the other commands say, and each command that it shows runs.

    run.py SEAM DATA
"""
import glob
import gzip
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

SEAM, DATA = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
WORKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "src", "explain", "works.def")
# Whose findings are counted again: of one event with CPU time, of several, cut short by kill -9, of whole CPUs, with copies.
FILES = ["gcc_d", "multi_group", "kill9_z", "hackbench_d", "regs", "attach_p", "park_switch"]
# Findings whose share is one that their command prints.
NOWHERE = ["--symfs", "/nonexistent"]
PRINTED = {"commands", "hottest_function", "passes_through", "one_thread", "unnamed", "end_early", "record_lost", "no_callchain"}
faults = 0


def fault(text):
    global faults
    faults += 1
    print("FAILED: " + text)


def run(*args):
    """Exit code and standard output. 3: the recording is damaged, and was read."""
    done = subprocess.run([SEAM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 3):
        fault("%s: exit %d: %s" % (shlex.join(args), done.returncode, done.stderr.decode("utf-8", "replace").strip()))
    return done.stdout.decode("utf-8", "replace")


def valid(value, schema, where):
    """Whether a value is as the schema says; of JSON Schema, what scripts/json-schema writes."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    is_a = {"object": isinstance(value, dict), "array": isinstance(value, list), "string": isinstance(value, str),
            "number": isinstance(value, (int, float)) and not isinstance(value, bool),
            "boolean": isinstance(value, bool), "null": value is None}
    if not any(is_a[kind] for kind in kinds):
        fault("%s is %r, not %s" % (where, value, kinds))
    if "const" in schema and value != schema["const"]:
        fault("%s is %r, not %r" % (where, value, schema["const"]))
    for name in schema.get("required", []):
        if name not in value:
            fault("%s has no %s" % (where, name))
    if isinstance(value, dict):
        for name, inner in value.items():
            inside = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
            if inside is None:
                fault("%s.%s is in no schema" % (where, name))
            else:
                valid(inner, inside, where + "." + name)
    if isinstance(value, list):
        for i, inner in enumerate(value):
            valid(inner, schema["items"], "%s[%d]" % (where, i))


def near(what, said, counted):
    if said is None or abs(said - counted) > 0.06:
        fault("%s: explain says %s, counted %.2f" % (what, said, counted))


def works():
    """id: (least share, pattern of the function names), as works.def has them."""
    with open(WORKS) as f:
        text = f.read()
    ret = {}
    for m in re.finditer(r'^WORK\("(\w+)", (\d+),\s*"[^"]*",\s*((?:"[^"]*"\s*)+)\)', text, re.M):
        names = "".join(re.findall(r'"([^"]*)"', m[3])).split("|")
        ret[m[1]] = (float(m[2]), re.compile("|".join(
            re.escape(n[:-1]) + ".*" if n.endswith("*") else re.escape(n) for n in names), re.S))
    return ret


def shares(path, kinds, event):
    """Percent of the weight of stacks with a function of each kind, from the stacks that export writes."""
    found, whole = dict.fromkeys(kinds, 0), 0
    for line in run("export", "-f", "folded", "-e", event, path).splitlines():
        stack, _, weight = line.rpartition(" ")
        frames = {re.sub(r"_\[k\]$", "", frame) for frame in stack.split(";")[1:]}
        whole += int(weight)
        for kind, (_, pattern) in kinds.items():
            if any(pattern.fullmatch(frame) for frame in frames):
                found[kind] += int(weight)
    return {kind: 100.0 * weight / whole for kind, weight in found.items()} if whole else found


def check_shares(name, path, said):
    """The findings against report and export of the same recording."""
    report = json.loads(run("report", "--json", "-s", "comm,dso,sym", path))
    rows = [r for r in report["rows"] if r["event"] == said["event"]]
    whole = sum(r["self"] for r in rows)
    by = {key: {} for key in ("comm", "sym")}
    for row in rows:
        for key, sums in by.items():
            sums[row[key]] = sums.get(row[key], 0) + row["self"]
    findings = {}
    for f in said["findings"]:
        findings.setdefault(f["id"], []).append(f)
    if said["samples"] != sum(r["self_samples"] for r in rows):
        fault("%s: %d samples" % (name, said["samples"]))
    for f in findings.get("commands", []):
        near(name + " commands", f["percent"], 100.0 * max(by["comm"].values()) / whole)
    for f in findings.get("hottest_function", []):
        symbol = f["command"][-1]
        near("%s %s" % (name, symbol), f["percent"], 100.0 * by["sym"][symbol] / whole)
    kinds = works()
    counted = shares(path, kinds, said["event"])
    for kind, (least, _) in kinds.items():
        told = findings.get(kind)
        if told:
            near("%s %s" % (name, kind), told[0]["percent"], counted[kind])
        elif counted[kind] > least and sum(counted[k] > counted[kind] for k in counted) < 6:
            fault("%s: %s has %.2f %% and is not told" % (name, kind, counted[kind]))
    return sum(kind in findings for kind in kinds)


def check_commands(name, path, *options):
    """Every command that is shown runs, and prints the share that its sentence has. How many there are."""
    said = json.loads(run("explain", "--json", *options, path))
    shown = set(re.findall(r"^ +\$ (seam .*)$", run("explain", *options, path), re.M))
    out = {line: run(*shlex.split(line)[1:]) for line in sorted(shown)}
    for f in said["findings"]:
        if not f["command"]:
            continue
        line = shlex.join(f["command"])
        text = next((o for l, o in out.items() if shlex.split(l) == f["command"]), None)
        if text is None:
            fault("%s: %s is not shown" % (name, line))
        elif f["id"] in PRINTED and not any(abs(float(n) - f["percent"]) < 0.06 for n in re.findall(r"([0-9.]+) ?%", text)):
            fault("%s: %s: no %.2f %% in what '%s' prints" % (name, f["id"], f["percent"], line))
    return len(out)


def recordings(scratch):
    """All that there are: name, path."""
    for path in sorted(glob.glob(os.path.join(DATA, "*", "perf.data"))):
        yield os.path.basename(os.path.dirname(path)), path
    for path in sorted(glob.glob(os.path.join(DATA, "public", "*.gz"))):
        name = os.path.basename(path)[:-len(".gz")]
        with gzip.open(path) as packed, open(os.path.join(scratch, name), "wb") as f:
            f.write(packed.read())
        yield name, f.name


def ids(*args, **how):
    """The findings by their ids, of one recording."""
    done = subprocess.run([SEAM, "explain", "--json", *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, **how)
    return {f["id"]: f for f in json.loads(done.stdout)["findings"]}


def check_left_out(scratch):
    """Nothing is concluded from what the event leaves out, from too few samples, or where only one thing can be."""
    path = os.path.join(DATA, "uonly", "perf.data")
    user = ids(path)
    if "the kernel was not sampled" not in user["objects"]["text"] or {"kernel", "record_waiting", "from_pipe"} & set(user):
        fault("cpu-clock:u: %s" % sorted(user))
    with open(path, "rb") as f:
        if "from_pipe" not in ids("-", stdin=f):
            fault("nothing is said of a pipe")
    kernel = os.path.join(scratch, "kernel.data")
    run("record", "-o", kernel, "-e", "cpu-clock:k", "-c", "100000", "--", "dd", "if=/dev/zero", "of=/dev/null", "bs=1k", "count=200000")
    said = ids(kernel)
    if "programs and libraries were not sampled" not in said["objects"]["text"] or said["objects"]["percent"] != 100 or "kernel" in said:
        fault("cpu-clock:k: %s" % said["objects"])
    switches = ids(os.path.join(DATA, "park_switch", "perf.data"))
    if {"objects", "kernel"} & set(switches):
        fault("an event of the kernel's alone: %s" % sorted(switches))
    few = ids(os.path.join(scratch, "perf.data.ctx_switch_namespaces-4.14"))
    if "too_few" not in few or {"few_samples", "one_thread"} & set(few):
        fault("two samples: %s" % sorted(few))
    none = ids(os.path.join(scratch, "perf.data.piped.corrupted.zero_size_sample-3.2"))
    if "no_samples" not in none or {"flame", "report"} & set(none):
        fault("no samples: %s" % sorted(none))


def main():
    schema = json.loads(run("explain", "--json-schema"))
    report_schema = json.loads(run("report", "--json-schema"))
    commands = told = 0
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        counted = [(f, os.path.join(DATA, f, "perf.data")) for f in FILES]
        # With the kernel's and the programs' names: of work that is known.
        made = os.path.join(scratch, "it's new.data")
        code = "import json\nfor i in range(400): json.loads(json.dumps({'a': list(range(2000))}))"
        run("record", "-o", made, "--call-graph", "fp", "-e", "cpu-clock", "-c", "200000", "--", sys.executable, "-c", code)
        counted.append(("made", made))
        for name, path in counted:
            said = json.loads(run("explain", "--json", path))
            valid(said, schema, "explain " + name)
            valid(json.loads(run("report", "--json", path)), report_schema, "report " + name)
            told += check_shares(name, path, said)
            text = run("explain", path)
            if text.count("\n") > 64 or len(said["findings"]) < 3:
                fault("%s: %d findings, %d lines" % (name, len(said["findings"]), text.count("\n")))
            for f in said["findings"]:
                if f["text"].split("\n")[0] not in text:
                    fault("%s: '%s' is only in JSON" % (name, f["text"]))
        # Under sanitizers, where a start of seam takes the longest, of every third recording.
        every = 3 if os.environ.get("SEAM_SANITIZED") == "1" else 1
        for name, path in list(recordings(scratch))[::every] + [("made", made)]:
            commands += check_commands(name, path)
        check_left_out(scratch)
        # A part of the samples: the commands are about the same part.
        commands += check_commands("a time", made, "--time", "20%-60%", "--no-demangle")
        commands += check_commands("an event", os.path.join(DATA, "multi_group", "perf.data"), "-e", "page-faults", *NOWHERE)
    print("%d commands ran, %d kinds of work told" % (commands, told))
    if not commands or not told:
        fault("nothing to look at")
    return 1 if faults else 0


sys.exit(main())
