# SPDX-License-Identifier: MIT
"""Checks what a guest brought home: its recordings, read here by seam and by the peer.

Knows the commands of seam and perf that read a file. Makes one line for each case and one for each
fault.
"""

import json
import os
import re
import subprocess

import oracle
import truth
from cases import ANY, ENDS

HERE = os.path.dirname(os.path.realpath(__file__))
PEER = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts", "peer")
READ_SECONDS = 120
EXIT_PARTIAL = 3  # seam's: done, but the file was damaged
STATES = ("immediate", "stitched", "stitched_earlier", "kernel_only", "crossed_exec", *truth.UNANSWERED)


def holds(value, want):
    if want.startswith("<="):
        return value <= int(want[2:])
    if want.startswith(">"):
        return value > int(want[1:])
    return value == int(want)


def found_in(value, name):
    """The first number of this name in a report's JSON, wherever it stands."""
    if isinstance(value, dict):
        if isinstance(value.get(name), int):
            return value[name]
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            found = found_in(one, name)
            if found is not None:
                return found
    return None


class Guest:
    """The directory of one boot, and how its files are read."""

    def __init__(self, release, directory, kallsyms, workloads, options):
        self.release, self.directory, self.workloads = release, directory, workloads
        self.options = options
        self.seam = os.path.join(options.build, "seam")
        self.kallsyms_path, self.kallsyms = kallsyms, truth.Kallsyms(kallsyms)
        self.faults, self.notes, self.lines = [], [], []

    def run(self, command, out):
        """Runs a reader on the host; its standard output goes to the file out."""
        with open(out, "wb") as target:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=target,
                                  stderr=subprocess.PIPE, timeout=READ_SECONDS, check=False)
        return done.returncode, done.stderr.decode(errors="replace").strip()

    def quiet(self, what, command, out, complaint=""):
        """A reader that must exit 0 and say nothing on standard error, or complain and exit 3."""
        try:
            status, said = self.run(command, out)
        except subprocess.TimeoutExpired:
            self.faults.append(f"{what}: no end within {READ_SECONDS} s")
            return False
        right = status == EXIT_PARTIAL and complaint in said if complaint else not status and not said
        if not right:
            self.faults.append(f"{what}: exit {status}, standard error: {said[-600:] or '(empty)'}")
        return right

    def peer(self, directory, *arguments):
        return [PEER, "perf", *arguments, "-i", os.path.join(directory, "f.data")]

    def peer_counts(self, directory):
        """{record type: number} as the peer counts them."""
        out = os.path.join(directory, "peer-stats")
        self.quiet("peer report --stats", self.peer(directory, "report", "--stats"), out)
        with open(out, encoding="utf-8") as text:
            found = re.findall(r"^ +(\w+) events: +(\d+)", text.read(), re.M)
        return {name: int(number) for name, number in found}

    def check_peer(self, directory):
        symbols = ["--no-inline", "--kallsyms", self.kallsyms_path]
        for name, arguments in {
                "report": ["report", "--stdio", *symbols],
                "script": ["script", *symbols],
                "tasks": ["script", "--show-task-events", "--show-mmap-events", "-F", "comm,pid,tid,time"],
                "unmerged": ["script", "--no-inline", "--no-merge-callchains", "-F", "comm,pid,tid,time,ip"]}.items():
            self.quiet("peer " + " ".join(arguments[:2]), self.peer(directory, *arguments),
                       os.path.join(directory, "peer-" + name))

    def check_truth(self, script, execs, loads, case, said):
        try:
            samples = truth.parse(script, self.kallsyms)
        except ValueError as error:
            self.faults.append(str(error))
            return
        faults, seen = truth.check(samples, execs, loads, self.workloads)
        self.check_whole(samples, case, said)
        self.check_places(samples, case)
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

    def check_places(self, samples, case):
        """Samples of a state that comes from one function of the kernel alone were taken there."""
        for state, want in case.states.items():
            others = [sample for sample in samples
                      if want.startswith("in ") and sample.state == state and want[3:] not in sample.kernel]
            if others:
                self.faults.append(f"{len(others)} samples of state {state} were not taken {want}, such as\n    {others[0]}")

    def check_states(self, directory, case, samples, execs):
        out = os.path.join(directory, "seam-report.json")
        path = os.path.join(directory, "f.data")
        if not self.quiet("seam report --json", [self.seam, "report", "--json", "-i", path], out,
                          case.complaint):
            return
        with open(out, encoding="utf-8") as text:
            report = json.load(text)
        if case.unwound:
            self.check_unwound(report)
        if case.uretprobes:
            self.check_uretprobes(report["uretprobe_callers"], case.uretprobes, directory)
        states = {name: found_in(report, name) for name in STATES}
        if None in states.values():
            self.faults.append(f"seam report --json does not name all states: {states}")
            return
        self.notes.append(" ".join(f"{name} {number}" for name, number in states.items() if number))
        for name, number in states.items():
            want = case.states.get(name, None if name in ANY else "0")
            if want and not want.startswith("in ") and not holds(number, want):
                self.faults.append(f"state {name} is {number}, want {want}")
        total = sum(states.values()) + (found_in(report, "duplicate_samples") or 0)
        if samples is None:
            return  # the peer cannot read it
        if total != samples:
            self.faults.append(f"the states sum to {total}, the file has {samples} samples")
        states["unanswered"] = sum(states[name] for name in truth.UNANSWERED)
        for name, number in oracle.count(os.path.join(directory, "peer-unmerged"), execs).items():
            if states[name] != number:
                self.faults.append(f"{name} is {states[name]}, the oracle counts {number}")

    def check_uretprobes(self, counted, least, directory):
        """Samples with [uprobes] above their innermost user frame are those that say so."""
        with open(os.path.join(directory, "seam-script"), encoding="utf-8") as text:
            samples = [sample.splitlines() for sample in text.read().split("\n\n")]
        said = taken = 0
        for head, *frames in filter(None, samples):
            user = [frame for frame in frames if "[kernel.kallsyms]" not in frame]
            said += "/watched " in head
            taken += any(frame.endswith("([uprobes])") for frame in user[1:])
        self.notes.append(f"{taken} samples have a trampoline in a caller's place")
        if not taken == said == counted >= least:
            self.faults.append(f"a trampoline in a caller's place: {taken} samples, {said} say so, "
                               f"{counted} are counted, want {least}")

    def answers(self, directory, name):
        """({cookie: addresses} that the kernel answered, the same that the recorder read of sleepers)."""
        out = os.path.join(directory, "seam-dump-" + name)
        self.quiet("seam dump", [self.seam, "dump", os.path.join(directory, name)], out)
        answers = ({}, {})
        with open(out, encoding="utf-8", errors="replace") as text:
            for misc, cookie, frames in re.findall(
                    r"CALLCHAIN_DEFERRED\(IP, 0x(\w+)\): -?\d+/-?\d+: 0x(\w+)\n\.\.\. FP chain: nr:\d+\n((?:\.{5}.*\n)*)",
                    text.read()):
                answers[misc != "2"][cookie] = re.findall(r": +(\w+)", frames)
        return answers

    def check_asleep(self, directory, case):
        """What was read of sleepers is what the kernel answered to the recording that waited for them."""
        read = self.answers(directory, "f.data")[1]
        kernel = self.answers(directory, "own.data")[0]
        both = read.keys() & kernel.keys()
        other = [cookie for cookie in both if read[cookie] != kernel[cookie]]
        self.notes.append(f"{len(read)} read of sleepers, {len(both)} of them answered later, the same {len(both) - len(other)}")
        if len(both) < case.asleep:
            self.faults.append(f"{len(read)} stacks were read of sleepers, {len(both)} answered, want {case.asleep}")
        for cookie in other[:1]:
            self.faults.append(f"{cookie} was read of a sleeper as {read[cookie]}, the kernel says {kernel[cookie]}")

    def check_recorder(self, directory, case):
        said = self.said(directory)
        if case.bpf:
            self.check_ends(said, case)
        if self.options.recorder == "seam" and not re.search(case.says, said):
            self.faults.append(f"{case.says!r} is not on standard error: {said!r}")

    def check_unwound(self, report):
        """Of the walks that could be made, all but 1 % (or 3: a program's first) reached the outermost frame."""
        u = report["unwound_recording"]
        walks = u["samples"] - u["no_stack"] - u["in_exec"] - u["unreadable"] - u["late"]
        self.notes.append(f"unwound while recording: {u['complete']} of {walks} whole, {u['late']} late")
        if u["complete"] < 50 or u["complete"] < min(0.99 * walks, walks - 3):
            self.faults.append(f"stacks are not whole: {u}")

    def check_ends(self, said, case):
        """Why user stacks ended, as the programs count it."""
        found = re.search(r"user stacks ended:((?: \w+ \d+)+)", said)
        if not found:
            self.faults.append(f"stacks were not walked by BPF: {said!r}")
            return
        words = found[1].split()
        ends = dict(zip(words[::2], map(int, words[1::2])))
        for name in {*ends, *case.ends}:
            want = case.ends.get(name, None if name in ENDS else "0")
            if want and not holds(ends.get(name, 0), want):
                self.faults.append(f"{ends.get(name, 0)} stacks ended with {name}, want {want}")
        self.notes.append("ended:" + found[1])

    def check_whole(self, samples, case, said):
        # What the recorder walked from a copy, or could not be given, is counted: the emulation is slow, and a copy
        # has one stack, not the one that a handler's stack of its own interrupted.
        uncopied = sum(int(number) for number in re.findall(r"(\d+) (?:stacks are cut off|walked by the recorder)", said))
        if "watched" in case.ends:
            uncopied += int((re.search(r"watched (\d+)", said) or [0, 0])[1])
        for end, places in case.ends_in.items():
            other = [sample for sample in samples
                     if sample.end == end and not any(place in frame for frame in sample.user for place in places)]
            if other:
                self.faults.append(f"{len(other)} stacks ended with {end} elsewhere than in {places}, such as\n    {other[0]}")
        for name, (root, least) in case.whole.items():
            those = [sample for sample in samples if any(name in frame for frame in sample.user)]
            cut = [sample for sample in those if root not in (symbol for symbol, _ in sample.user)]
            self.notes.append(f"{len(those)} stacks of {name}")
            if len(those) < least:
                self.faults.append(f"only {len(those)} stacks of {name}, want {least}")
            if len(cut) > uncopied or len(cut) > len(those) / 2:
                self.faults.append(f"{len(cut)} of {len(those)} stacks of {name} do not reach {root}, such as\n    {cut[0]}")

    def said(self, directory):
        try:
            with open(os.path.join(directory, "err"), errors="replace", encoding="utf-8") as text:
                return text.read()[-3000:].strip()
        except OSError:
            return ""

    def check_recording(self, directory, case):
        self.check_recorder(directory, case)
        samples, execs, loads = None, {}, {}
        if case.peer:
            samples = self.peer_counts(directory).get("SAMPLE", 0)
            self.check_peer(directory)
            tasks = os.path.join(directory, "peer-tasks")
            execs, loads = truth.parse_execs(tasks), truth.parse_loads(tasks)
        script = os.path.join(directory, "peer-script")
        if self.options.reader == "seam":
            script = os.path.join(directory, "seam-script")
            path = os.path.join(directory, "f.data")
            self.quiet("seam script", [self.seam, "script", "-F", "+state", "-i", path], script,
                       case.complaint)
            self.check_states(directory, case, samples, execs)
        self.check_truth(script, execs, loads, case, self.said(directory))
        if case.asleep:
            self.check_asleep(directory, case)

    def check_json(self, directory):
        """seam check --json is JSON, and is not empty."""
        path = os.path.join(directory, "check.json")
        try:
            with open(path, encoding="utf-8") as text:
                if not json.load(text):
                    self.faults.append("seam check --json says nothing")
        except (OSError, ValueError) as error:
            self.faults.append(f"seam check --json: {error}")

    def check(self, name, case, results):
        """Checks one case; returns whether all is right. What to print of it is in self.lines."""
        self.faults, self.notes = [], []
        directory = os.path.join(self.directory, name)
        status, seconds = results.get(name, (None, 0))
        if status != 0:
            self.faults.append(f"exit {status} in the guest after {seconds:.0f} s: {self.said(directory)}")
        elif not case.records:
            if case.name == "check":
                self.check_json(directory)
        elif not os.path.exists(os.path.join(directory, "f.data")):
            self.faults.append(f"no file was written: {self.said(directory)}")
        else:
            self.check_recording(directory, case)
        word = "not ok" if self.faults else "ok"
        self.lines = [f"{word} {self.release} {case.name} ({seconds:.1f} s): {'; '.join(self.notes)}"]
        self.lines += [f"  # {fault}" for fault in self.faults]
        return not self.faults
