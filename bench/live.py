#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What recording costs by each way of taking user stacks, beside perf's ways: one run, one table for each frequency.

    bench/live.py [--quick] [--rounds 5] [--freq 99,997,4000,20000] [--only "perf fp,seam bpf"] [--seam build/seam]
                  [--perf perf] [--markdown] [-- COMMAND...]

Without COMMAND the target is live_work.cc, built here: C++, -O2, no frame pointers, about 0.8 s. --perf "scripts/peer perf" is perf 7.

"alone" is the target without a recorder, "floor" samples without any stack; "seam bpf" is dwarf,defer ("seam always", "seam never",
"seam fp,defer" and "seam keep" where --only names them), "seam dwarf" unwinds stack copies while it records. Every round runs every
recorder at every frequency, so what else the machine does falls on all alike; the target runs on one CPU, the recorder where it likes.

  target     the target's CPU time (wait4 of it, so not the recorder's) over that of the same round's run alone: median of the rounds,
             and least and most. "best": its least time of all rounds over the least alone, which noise hardly reaches.
  recorder   the recorder's own CPU time per second of the target's; it includes what it does once
  bytes      of the file per sample; "more" per further sample: what two frequencies differ by, so without what a file has once
  lost       samples that the file or the recorder says were lost; late: not unwound in time
  frames     user frames of a stack, as seam script finds them (perf dwarf: it unwinds the copies); whole: of the stacks with a user part
             those that end in _start
"""
import argparse
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT = "floor,perf fp,perf dwarf,seam fp,seam bpf,seam dwarf"


def recorders(args, freq, data):
    perf = shlex.split(args.perf) + ["record", "-q", "-F", str(freq), "-e", "cpu-clock", "-o", data]
    seam = [args.seam, "record", "-F", str(freq), "-e", "cpu-clock", "-o", data]
    every = {
        "alone": [],
        "floor": perf + ["--"],
        "perf fp": perf + ["--call-graph", "fp", "--"],
        "perf dwarf": perf + ["--call-graph", "dwarf", "--"],
        "seam none": seam + ["--call-graph", "none", "--"],
        "seam fp": seam + ["--call-graph", "fp", "--"],
        "seam bpf": seam + ["--call-graph", "dwarf,defer", "--"],
        "seam always": seam + ["--call-graph", "dwarf,defer=always", "--"],
        "seam never": seam + ["--call-graph", "dwarf,defer=never", "--"],
        "seam fp,defer": seam + ["--call-graph", "fp,defer", "--"],
        "seam dwarf": seam + ["--call-graph", "dwarf", "--"],
        "seam keep": seam + ["--call-graph", "dwarf", "--keep-stacks", "--"],
    }
    unknown = [name for name in args.only.split(",") if name not in every]
    if unknown:
        sys.exit(f"live.py: no recorder {unknown[0]!r}; there are: {', '.join(every)}")
    return {name: c for name, c in every.items() if name == "alone" or name in args.only.split(",")}


def text_of(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout


def stacks_of(args, data):
    """User frames per stack, and the share of stacks that end in _start."""
    script = subprocess.Popen([args.seam, "script", "--no-inline", "-F", "ip,sym", data], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    stacks = frames = whole = n = 0
    last = ""
    for line in script.stdout:
        word = line.split(None, 1)
        if word:
            if len(word[0]) < 16:  # a user address
                n += 1
                last = word[1].strip() if len(word) > 1 else ""
        elif n:
            stacks += 1
            frames += n
            whole += last == "_start"
            n = 0
    script.wait()
    return (frames / stacks, 100 * whole / stacks) if stacks else (None, None)


def file_of(args, data, said):
    """What the file holds; counted by seam for all alike."""
    m = re.search(r"\bSAMPLE events:\s+(\d+)", text_of(args.seam, "stat", data))
    lost = sum(map(int, re.findall(r'"lost": ?(\d+)', text_of(args.seam, "dump", "--json", "-t", "LOST", data))))
    result = {"bytes": os.path.getsize(data), "samples": int(m[1]) if m else 0}
    m = re.search(r"([\d,]+) lost", said)
    result["lost"] = int(m[1].replace(",", "")) if m else lost
    m = re.search(r"(\d+) samples not unwound", said)
    result["late"] = int(m[1]) if m else 0
    result["frames"], result["whole"] = stacks_of(args, data)
    return result


def run(args, name, command, data):
    with tempfile.NamedTemporaryFile(mode="r") as out:
        argv = command + [args.runner, out.name, args.cpu] + args.work
        child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status  # it was waited for here
        text = out.read()
    if not text or status:
        sys.exit(f"live.py: {name}: {shlex.join(argv)}: {said}")
    target = float(text)
    return {"target": target, "recorder": usage.ru_utime + usage.ru_stime - target}, said


def measure(args, data):
    """{freq: {recorder: [a result for each round]}}, {(freq, recorder): of the file}"""
    freqs = [int(f) for f in args.freq.split(",")]
    got = {f: {name: [] for name in recorders(args, f, data)} for f in freqs}
    files = {}
    begin = time.monotonic()
    for i in range(args.rounds):
        for freq in freqs:
            for name, command in recorders(args, freq, data).items():
                result, said = run(args, name, command, data)
                got[freq][name].append(result)
                if command and i == 0:
                    files[freq, name] = file_of(args, data, said)
        print(f"round {i + 1} of {args.rounds}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return got, files


def further_bytes(files, freq, name):
    """Bytes that each sample more costs, from this frequency and the least one."""
    least = min(f for f, _ in files)
    a, b = files[least, name], files[freq, name]
    more = b["samples"] - a["samples"]
    return f"{(b['bytes'] - a['bytes']) / more:.0f}" if freq != least and more > 0 else "-"


def row(got, files, freq, name):
    alone = got[freq]["alone"]
    ratios = [r["target"] / a["target"] for r, a in zip(got[freq][name], alone)]
    best = min(r["target"] for r in got[freq][name]) / min(a["target"] for by in got.values() for a in by["alone"])
    f = files[freq, name]
    n = f["samples"]
    return [name, f"{statistics.median(ratios):.3f}", f"{min(ratios):.3f}-{max(ratios):.3f}", f"{best:.3f}",
            f"{statistics.median(r['recorder'] / r['target'] for r in got[freq][name]):.3f}",
            f"{f['bytes'] / n:.0f}" if n else "-", further_bytes(files, freq, name), str(n), str(f["lost"]), str(f["late"]),
            f"{f['frames']:.1f}" if f["frames"] else "-", f"{f['whole']:.1f} %" if f["frames"] else "-"]


def show(args, got, files):
    head = ["target", "range", "best", "recorder", "bytes", "more", "samples", "lost", "late", "frames", "whole"]
    alone = sorted(r["target"] for by in got.values() for r in by["alone"])
    print(f"alone: {statistics.median(alone):.3f} s of CPU, {alone[0]:.3f} to {alone[-1]:.3f} in {len(alone)} runs; "
          f"load at the end {os.getloadavg()[0]:.1f}; {os.cpu_count()} CPUs; {text_of(*shlex.split(args.perf), '--version').strip()}")
    for freq in got:
        rows = [[f"{freq} Hz", *head]] + [row(got, files, freq, name) for name in got[freq] if name != "alone"]
        print()
        if args.markdown:
            rows.insert(1, ["---"] * len(rows[0]))
            print("\n".join("| " + " | ".join(r) + " |" for r in rows))
            continue
        widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
        for r in rows:
            print("  ".join([r[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(r[1:], widths[1:])]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seam", default=HERE + "/../build/seam")
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--freq", default="99,997,4000,20000")
    parser.add_argument("--only", default=DEFAULT)
    parser.add_argument("--quick", action="store_true", help="two rounds, 997 and 20,000 Hz")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("work", nargs="*")
    args = parser.parse_args()
    if args.quick:
        args.rounds, args.freq = 2, "997,20000"
    with tempfile.TemporaryDirectory() as tmp:
        args.runner, work = tmp + "/live_run", tmp + "/live_work"
        subprocess.run(["cc", "-O2", "-o", args.runner, HERE + "/live_run.c"], check=True)
        subprocess.run(["c++", "-O2", "-fomit-frame-pointer", "-o", work, HERE + "/live_work.cc"], check=True)
        args.work = args.work or [work, "60"]
        args.cpu = str(max(os.sched_getaffinity(0)))
        show(args, *measure(args, tmp + "/perf.data"))


main()
