#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What recording costs by each way of taking user stacks, beside perf's ways.

	bench/live.py [--seam build/seam] [--rounds 5] [--freq 99,997,4000,20000] [--only "perf fp,seam bpf"] [--perf perf] [-- COMMAND...]

"none" is the target alone, "floor" samples without any stack; "seam bpf" is dwarf,defer, and with =always, =never and fp,defer where
they are named by --only.
Runs COMMAND (python3 at work, if none) under each recorder, interleaved, and prints for each: the
target's CPU time over that without a recorder, the recorder's own CPU time per second of the target's,
bytes per sample, samples, and samples lost. Medians. The target's CPU is its own user + sys time (wait4 in
a wrapper inside the recording); the recorder's is what wait4 of the recorder says, less that.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

WRAPPER = """
import os, resource, subprocess, sys
subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL)
c = resource.getrusage(resource.RUSAGE_CHILDREN)
s = resource.getrusage(resource.RUSAGE_SELF)
open(sys.argv[1], "w").write("%f %f" % (c.ru_utime + c.ru_stime, s.ru_utime + s.ru_stime))
"""
WORK = ["python3", "-c", "import json\nd = [{'a': i, 'b': str(i)} for i in range(1000)]\n"
        "for i in range(600): json.loads(json.dumps(d))"]


def recorders(args, freq, data):
    perf = [args.perf, "record", "-q", "-F", str(freq), "-e", "cpu-clock", "-o", data]
    seam = [args.seam, "record", "-F", str(freq), "-e", "cpu-clock", "-o", data]
    return {
        "none": None,
        "floor": perf + ["--"],
        "perf fp": perf + ["--call-graph", "fp", "--"],
        "perf dwarf": perf + ["--call-graph", "dwarf", "--"],
        "seam bpf": seam + ["--call-graph", "dwarf,defer", "--"],
        "seam always": seam + ["--call-graph", "dwarf,defer=always", "--"],
        "seam never": seam + ["--call-graph", "dwarf,defer=never", "--"],
        "seam fp,defer": seam + ["--call-graph", "fp,defer", "--"],
        "seam fp": seam + ["--call-graph", "fp", "--"],
        "seam dwarf": seam + ["--call-graph", "dwarf", "--"],
        "seam keep": seam + ["--call-graph", "dwarf", "--keep-stacks", "--"],
    }


def samples_of(args, data):
    """Samples and losses, as the file says; counted by seam for all alike."""
    text = subprocess.run([args.seam, "stat", data], capture_output=True, text=True).stdout
    m = re.search(r"\bSAMPLE events:\s+(\d+)", text)
    samples = int(m[1]) if m else 0
    text = subprocess.run([args.seam, "dump", "--json", "-t", "LOST", data], capture_output=True,
                          text=True).stdout
    lost = sum(int(n) for n in re.findall(r'"lost": ?(\d+)', text))
    return samples, lost


def run(args, command, work, data, counts):
    with tempfile.NamedTemporaryFile() as out:
        argv = (command or []) + [sys.executable, "-c", WRAPPER, out.name] + work
        child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = child.stderr.read()
        _, _, usage = os.wait4(child.pid, 0)
        target, wrapper = map(float, open(out.name).read().split())
    result = {"target": target, "recorder": usage.ru_utime + usage.ru_stime - target - wrapper}
    if command and counts:
        result["bytes"] = os.path.getsize(data)
        result["samples"], result["lost"] = samples_of(args, data)
        m = re.search(r"([\d,]+) lost", said)
        if m:
            result["lost"] = int(m[1].replace(",", ""))
        m = re.search(r"(\d+) samples not unwound", said)
        result["late"] = int(m[1]) if m else 0
        m = re.search(r"unwound, ([\d.]+) %", said)
        result["complete"] = float(m[1]) if m else None
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seam", default="build/seam")
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--freq", default="99,997,4000,20000")
    parser.add_argument("--only", default="floor,perf fp,perf dwarf,seam bpf,seam fp,seam dwarf,seam keep")
    parser.add_argument("work", nargs="*")
    args = parser.parse_args()
    work = args.work or WORK
    with tempfile.TemporaryDirectory() as tmp:
        data = os.path.join(tmp, "perf.data")
        for freq in args.freq.split(","):
            every = {name: command for name, command in recorders(args, freq, data).items()
                     if name == "none" or name in args.only.split(",")}
            got = {name: [] for name in every}
            for i in range(args.rounds):
                for name, command in every.items():
                    got[name].append(run(args, command, work, data, i == 0))
            base = statistics.median(r["target"] for r in got["none"])
            print(f"{freq} Hz; the target alone: {base:.2f} s of CPU")
            print(f"  {'':14}{'target':>8}{'recorder':>10}{'bytes/sample':>14}{'samples':>9}"
                  f"{'lost':>8}{'late':>6}{'complete':>10}")
            for name, results in got.items():
                target = statistics.median(r["target"] for r in results) / base
                recorder = statistics.median(r["recorder"] for r in results) / base
                first = results[0]
                n = first.get("samples") or 0
                size = f"{first['bytes'] / n:.0f}" if n else "-"
                whole = f"{first['complete']} %" if first.get("complete") else "-"
                print(f"  {name:14}{target:8.3f}{recorder if name != 'none' else 0:10.3f}{size:>14}"
                      f"{n:9}{first.get('lost', 0):8}{first.get('late', 0):6}{whole:>10}")
            sys.stdout.flush()


main()
