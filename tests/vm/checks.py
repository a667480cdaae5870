# SPDX-License-Identifier: MIT
"""Checks what a guest brought home: its recordings, read here by seam and by the peer.

Knows the commands of seam and perf that read a file. Prints one line for each check that fails and
one for each case that passes.
"""

import json
import os
import re
import subprocess

import truth
from cases import ANY

HERE = os.path.dirname(os.path.realpath(__file__))
PEER = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts", "peer")
READ_SECONDS = 120


def holds(value, want):
    if want.startswith("<="):
        return value <= int(want[2:])
    if want.startswith(">"):
        return value > int(want[1:])
    return value == int(want)


def states_in(value):
    """The object of a report's JSON that has the states as its keys, wherever it stands."""
    if isinstance(value, dict):
        if "stitched" in value and "crossed_exec" in value:
            return value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            found = states_in(one)
            if found:
                return found
    return None


class Guest:
    """The directory of one boot, and how its files are read."""

    def __init__(self, release, directory, workloads, options):
        self.release, self.directory, self.workloads = release, directory, workloads
        self.seam = os.path.join(options.build, "seam") if options.tool == "seam" else None
        self.kallsyms_path = os.path.join(directory, "0_kallsyms", "kallsyms")
        self.kallsyms = truth.Kallsyms(self.kallsyms_path)
        self.faults, self.notes = [], []

    def run(self, command, out):
        """Runs a reader on the host; its standard output goes to the file out."""
        with open(out, "wb") as target:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=target,
                                  stderr=subprocess.PIPE, timeout=READ_SECONDS, check=False)
        return done.returncode, done.stderr.decode(errors="replace").strip()

    def quiet(self, what, command, out):
        """A reader that must exit 0 and say nothing on standard error."""
        try:
            status, said = self.run(command, out)
        except subprocess.TimeoutExpired:
            self.faults.append(f"{what}: no end within {READ_SECONDS} s")
            return False
        if status or said:
            self.faults.append(f"{what}: exit {status}, standard error: {said[-600:] or '(empty)'}")
        return status == 0

    def peer(self, directory, *arguments):
        command, *rest = arguments
        return [PEER, "perf", command, "-i", os.path.join(directory, "f.data"), *rest]

    def peer_counts(self, directory):
        """{record type: number} as the peer counts them."""
        out = os.path.join(directory, "peer-stats")
        self.quiet("peer report --stats", self.peer(directory, "report", "--stats"), out)
        with open(out, encoding="utf-8") as text:
            found = re.findall(r"^ +(\w+) events: +(\d+)", text.read(), re.M)
        return {name: int(number) for name, number in found}

    def check_peer(self, directory):
        symbols = ["--kallsyms", self.kallsyms_path]
        self.quiet("peer report", self.peer(directory, "report", "--stdio", *symbols),
                   os.path.join(directory, "peer-report"))
        self.quiet("peer script", self.peer(directory, "script", *symbols),
                   os.path.join(directory, "peer-script"))

    def check_truth(self, script, case):
        try:
            samples = truth.parse(script, self.kallsyms)
        except ValueError as error:
            self.faults.append(str(error))
            return
        faults, seen = truth.check(samples, self.workloads)
        for fault, those in faults.items():
            self.faults.append(f"{len(those)} of {len(samples)} samples: {fault}, such as\n    {those[0]}")
        for family, least in case.families.items():
            if seen.get(family, 0) < least:
                self.faults.append(f"only {seen.get(family, 0)} whole chains of {family}, want {least}")
        times = [sample.time for sample in samples]
        if times != sorted(times):
            self.faults.append("the samples are not in the order of their times")
        self.notes.append(f"{len(samples)} samples, whole chains: "
                          + ", ".join(f"{name} {number}" for name, number in sorted(seen.items())))

    def check_states(self, directory, case, counts):
        out = os.path.join(directory, "seam-report.json")
        path = os.path.join(directory, "f.data")
        if not self.quiet("seam report --json", [self.seam, "report", "--json", "-i", path], out):
            return
        with open(out, encoding="utf-8") as text:
            report = json.load(text)
        states = states_in(report)
        if not states:
            self.faults.append("seam report --json names no states")
            return
        states = {name: number for name, number in states.items() if isinstance(number, int)}
        for name, number in states.items():
            want = case.states.get(name, None if name in ANY else "0")
            if want and name not in ("samples", "total") and not holds(number, want):
                self.faults.append(f"state {name} is {number}, want {want}")
        self.notes.append(" ".join(f"{name} {number}" for name, number in states.items() if number))
        total = sum(number for name, number in states.items() if name not in ("samples", "total"))
        if total != counts.get("SAMPLE"):
            self.faults.append(f"the states sum to {total}, the file has {counts.get('SAMPLE')} samples")

    def check_recorder(self, directory, case):
        with open(os.path.join(directory, "err"), encoding="utf-8", errors="replace") as text:
            said = text.read()
        if self.seam and case.kernels == "old" and "does not defer" not in said:
            self.faults.append(f"the fall-back is not named on standard error: {said!r}")

    def check(self, name, case, results):
        """Checks one case; returns 1 when something is wrong."""
        self.faults, self.notes = [], []
        directory = os.path.join(self.directory, name)
        status, seconds = results.get(name, (None, 0))
        if status is None or not os.path.exists(os.path.join(directory, "f.data")) or status:
            try:
                with open(os.path.join(directory, "err"), errors="replace", encoding="utf-8") as text:
                    said = text.read()[-1500:]
            except OSError:
                said = ""
            self.faults.append(f"exit {status} in the guest after {seconds:.0f} s: {said}")
        else:
            self.check_recorder(directory, case)
            counts = self.peer_counts(directory)
            self.check_peer(directory)
            script = os.path.join(directory, "peer-script")
            if self.seam:
                script = os.path.join(directory, "seam-script")
                self.quiet("seam script", [self.seam, "script", "-i",
                                           os.path.join(directory, "f.data")], script)
                self.check_states(directory, case, counts)
            self.check_truth(script, case)
        word = "not ok" if self.faults else "ok"
        print(f"{word} {self.release} {case.name} ({seconds:.1f} s): {'; '.join(self.notes)}")
        for fault in self.faults:
            print(f"  # {fault}")
        return 1 if self.faults else 0
