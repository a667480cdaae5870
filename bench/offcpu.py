#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What time off the CPU costs a program that switches all the time, and what it costs to follow threads that are made.

    bench/offcpu.py [SEAM]      # as root; about half a minute
"""
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SEAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else HERE + "/../build/seam")
ONE = ["-e", "cpu-clock", "-F", "99"]
MANY = ["-e", ",".join(f"cpu-clock/freq={10 + i}/" for i in range(24))]
DEFER, NEVER, FP = (["--call-graph", mode] for mode in ("dwarf,defer", "dwarf,defer=never", "fp"))

SWITCHES = {
    "alone": None,
    "99 Hz": ONE + DEFER,
    "--off-cpu": ONE + ["--off-cpu"],
    "--wall": ["-F", "99", "--wall"],
    "--off-cpu=10us": ONE + ["--off-cpu=10us"],
    "--off-cpu, walked at each switch-out": ONE + ["--off-cpu"] + NEVER,
}
THREADS = {
    "alone": None,
    "1 event, inherited": ONE + FP,
    "1 event, chosen in the kernel": ONE + DEFER,
    "24 events, inherited": MANY + FP,
    "24 events, chosen in the kernel": MANY + DEFER,
}


def run(options, command):
    recorder = [SEAM, "record", "-q", "-o", "f.data", *options, "--"] if options is not None else []
    out = subprocess.run(recorder + command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return float(out.split()[0])


def rows(cases, command, rounds):
    got = {name: [] for name in cases}
    for _ in range(rounds):
        for name, options in cases.items():
            got[name].append(run(options, command))
    for name, values in got.items():
        print(f"| {name} | {statistics.median(values):.2f} |")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", "work", HERE + "/offcpu_work.c", "-pthread"], check=True)
        print("processor time per switch, us")
        rows(SWITCHES, ["taskset", "-c", "1", "./work", "pingpong", "50000"], 5)
        print("pthread_create, us")
        rows(THREADS, ["./work", "threads", "2000"], 7)


main()
