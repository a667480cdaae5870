# SPDX-License-Identifier: MIT
"""Compares the text of a `script` command with what the workloads really did.

Knows the text form of perf script, the kernel's own symbol list, and the truth that
workloads/truth.h states: which chains exist and which system call belongs to which of them.
"""

import bisect
import re

DEPTH = 30
KERNEL_HALF = 1 << 63

# The system calls that only one family makes.
FAMILY_OF_ENTRY = {
    "pread64": {"zero"}, "sched_setaffinity": {"hop"}, "poll": {"wait"}, "fork": {"make"},
    "exit_group": {"die"}, "io_uring_enter": {"ring"}, "execve": {"alpha", "beta"},
    "mmap": {"fault"}, "munmap": {"fault"}, "futex": {"futex"}, "epoll_pwait": {"epoll"}, "read": {"pipe"},
    "clock_nanosleep": {"nap"},
}
# Why an answer is missing: the oracle cannot tell them apart, seam does.
UNANSWERED = ("exited", "record_lost", "still_in_kernel", "no_output_event")
FAMILIES = set.union(*FAMILY_OF_ENTRY.values()) | {"spin"}

HEAD = re.compile(r"^\s*(?P<comm>\S.*?)\s+(?:(?P<pid>-?\d+)/)?(?P<tid>-?\d+)\s+(?:\[\d+\]\s+)?"
                  r"(?P<time>\d+\.\d+):\s+(?:\d+\s+)?(?:(?P<state>[a-z_]+)(?:/(?P<end>[a-z_]+))?\s+)?(?P<event>[^\s:]+(?::[^\s:]+)*):(?:\s.*)?$")
FRAME = re.compile(r"^\s+(?P<ip>[0-9a-f]+)\s+(?P<symbol>.*?)(?:\+0x[0-9a-f]+)?\s+\((?P<dso>.*)\)$")
EXEC = re.compile(r"^\s*\S.*?\s+-?\d+/(?P<tid>-?\d+)\s+(?P<time>\d+\.\d+): PERF_RECORD_COMM exec:")
MMAP = re.compile(r"^\s*\S.*?\s+(?P<pid>-?\d+)/-?\d+\s+(?P<time>\d+\.\d+): PERF_RECORD_MMAP2? .*/libc\.so")
LINK = re.compile(r"^([a-z]+)_(leaf|\d+)$")


class Kallsyms:
    """Kernel addresses to names, from the guest's own list: a host's list would name them wrongly."""

    def __init__(self, path):
        symbols = []
        with open(path, encoding="ascii", errors="replace") as lines:
            for line in lines:
                fields = line.split()
                if fields[1] in "tTwW":
                    symbols.append((int(fields[0], 16), fields[2]))
        symbols.sort()
        self.addresses = [address for address, _ in symbols]
        self.names = [name for _, name in symbols]

    def name(self, address):
        at = bisect.bisect_right(self.addresses, address) - 1
        return self.names[at] if at >= 0 else "?"


class Sample:
    def __init__(self, match):
        self.comm, self.tid, self.time = match["comm"], int(match["tid"]), float(match["time"])
        self.pid = int(match["pid"] or match["tid"])
        self.event, self.kernel, self.user = match["event"], [], []
        self.state, self.end = match["state"], match["end"]  # None in the peer's text
        self.old_program = False

    def __str__(self):
        user = " ".join(f"{symbol}({dso.rsplit('/', 1)[-1]})" for symbol, dso in self.user)
        return f"{self.comm} {self.tid} {self.time:.6f}: {' '.join(self.kernel[-4:])} | {user}"


def parse(path, kallsyms):
    """The samples of a script's text; a line that is neither head nor frame is a ValueError."""
    samples = []
    with open(path, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if not line:
                continue
            frame = FRAME.match(line)
            if frame and samples:
                ip = int(frame["ip"], 16)
                if ip >= KERNEL_HALF:
                    samples[-1].kernel.append(kallsyms.name(ip))
                else:
                    samples[-1].user.append((frame["symbol"], frame["dso"]))
                continue
            head = HEAD.match(line)
            if not head:
                raise ValueError(f"{path}:{number}: neither a sample nor a frame: {line!r}")
            samples.append(Sample(head))
    return samples


def parse_times(path, form, task):
    """{task: times of the lines of this form, in order} from perf script --show-task-events --show-mmap-events."""
    times = {}
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            found = form.match(line)
            if found:
                times.setdefault(int(found[task]), []).append(float(found["time"]))
    return {tid: sorted(those) for tid, those in times.items()}


def parse_execs(path):
    return parse_times(path, EXEC, "tid")


def parse_loads(path):
    """When each process mapped libc, which a program does for itself: it ran."""
    return parse_times(path, MMAP, "pid")


def inside_exec(sample):
    return entry_of(sample) in ("execve", "execveat")


def mark_old_programs(samples, execs, loads):
    """Marks the samples inside exec whose program was still the old one: a COMM exec comes later,
    before the task is seen outside of exec again, by a sample or at work for itself. (After it the
    task is the new program already, and the entry of its loader is a true user half.)"""
    by_task = {}
    for sample in sorted(samples, key=lambda sample: sample.time):
        by_task.setdefault(sample.tid, []).append(sample)
    for tid, those in by_task.items():
        outside = float("inf")
        for sample in reversed(those):
            if not inside_exec(sample):
                outside = sample.time
                continue
            ran = min((time for time in loads.get(sample.pid, []) if time > sample.time), default=outside)
            later = bisect.bisect_right(execs.get(tid, []), sample.time)
            times = execs.get(tid, [])[later:later + 1]
            sample.old_program = bool(times) and times[0] < min(outside, ran)


def entry_of(sample):
    """The system call that the sample is inside of, or None."""
    for symbol in reversed(sample.kernel):
        found = re.match(r"__(?:x64|do)_sys_(\w+)", symbol)
        if found:
            return found[1]
    return None


def links_of(sample):
    """[(position in the user stack, family, number)], F_leaf being number 0."""
    links = []
    for at, (symbol, _) in enumerate(sample.user):
        found = LINK.match(symbol)
        if found and found[1] in FAMILIES:
            links.append((at, found[1], 0 if found[2] == "leaf" else int(found[2])))
    return links


def fault_of_chain(sample, links, entry):
    """What is wrong with a user stack that shows frames of a family, or None."""
    if len({family for _, family, _ in links}) != 1:
        return "two families in one stack"
    numbers = [number for _, _, number in links]
    # The first instructions of a function run before it has a frame, and the last ones after: then
    # frame pointers skip one caller. In a system call of a family that cannot be.
    want = list(range(numbers[0], DEPTH + 1))
    skipped = [numbers[0], *range(numbers[0] + 2, DEPTH + 1)]
    if numbers != want and (entry or numbers != skipped):
        return "the chain has a gap or ends early"
    positions = [at for at, _, _ in links]
    if positions != list(range(len(links))):
        return "frames of others within the chain"
    if len(sample.user) == len(links):
        return "nobody called the chain"
    return None


def fault_of(sample, workloads):
    """What is wrong with a sample, or None."""
    entry, links = entry_of(sample), links_of(sample)
    if any(not symbol and not dso for symbol, dso in sample.user):
        return "a frame of nothing"
    if sample.old_program and sample.user and "/ld-" in sample.user[0][1]:
        return "a sample of the old program inside exec has the stack of the new one"
    if sample.user and not sample.user[0][1].startswith(workloads):
        return None  # libc and the loader have no frame pointers: what follows is chance
    if sample.state in UNANSWERED and not sample.kernel and len(sample.user) == 1:
        return None  # where it hit in user space; what called that died with the task, or with the recorder
    if links:
        if entry in FAMILY_OF_ENTRY and links[0][1] not in FAMILY_OF_ENTRY[entry]:
            return f"a sample inside {entry} has the stack of another entry"
        return fault_of_chain(sample, links, entry)
    if entry in FAMILY_OF_ENTRY and sample.user:
        return f"a sample inside {entry} has a stack outside of the chain that makes it"
    return None


def check(samples, execs, loads, workloads):
    """({fault: [samples]}, {family: number of samples with its whole chain})."""
    faults, seen = {}, {}
    mark_old_programs(samples, execs, loads)
    for sample in samples:
        fault = fault_of(sample, workloads)
        if fault:
            faults.setdefault(fault, []).append(sample)
            continue
        links = links_of(sample)
        if links and links[0][0] == 0:
            seen[links[0][1]] = seen.get(links[0][1], 0) + 1
    return faults, seen
