# SPDX-License-Identifier: MIT
"""perfetto.py SEAM SCHEMA NAME...: NAME.data as a Perfetto trace, decoded by protoc with Perfetto's fields (SCHEMA/perfetto.proto): none is
unknown, and samples, threads, stacks with names, counters and what is interned are what `seam export -f json` has of the same recording;
times, CPUs and tasks are those of `seam script`. Packets stand as Perfetto's reader asks: a sequence begins with one that clears its state, and
each that needs it says so, after what it needs was said; ids are not 0; every packet with a time is of the trace's own clock."""
import collections
import json
import re
import subprocess
import sys

SEAM, SCHEMA, NAMES = sys.argv[1], sys.argv[2], sys.argv[3:]
NOWHERE = ["--symfs", "/nonexistent"]
ESCAPES = {"n": 10, "t": 9, "r": 13, '"': 34, "'": 39, "\\": 92, "a": 7, "b": 8, "f": 12, "v": 11}
faults = 0


def fault(text):
    global faults
    faults += 1
    print("FAILED: " + text[:1000])


def seam(*args):
    return subprocess.run([SEAM, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout


def unescaped(text):
    """The bytes of a quoted text of protoc."""
    def one(m):
        at = m.group(1)
        return bytes([int(at, 8) if at[0:1].isdigit() else ESCAPES[at.decode()]])
    return re.sub(rb"\\([0-7]{1,3}|.)", one, text[1:-1])


def decoded(trace):
    """Messages as dicts of lists, in the order of the trace. A field that the schema does not know has a number for its name."""
    done = subprocess.run(["protoc", "--decode=perfetto.protos.Trace", "-I", SCHEMA, "perfetto.proto"], input=trace,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        fault("protoc: " + done.stderr.decode("utf-8", "replace"))
    top = collections.defaultdict(list)
    stack = [top]
    for line in done.stdout.splitlines():
        line = line.strip()
        if line == b"}":
            stack.pop()
        elif line.endswith(b" {"):
            stack.append(collections.defaultdict(list))
            stack[-2][line[:-2].decode()].append(stack[-1])
        elif line:
            name, value = line.split(b": ", 1)
            stack[-1][name.decode()].append(unescaped(value) if value[0:1] == b'"' else value.decode())
    return top


def known(message, where):
    for name, values in message.items():
        if name.isdigit():
            fault("%s: field %s is unknown" % (where, name))
        for value in values:
            if isinstance(value, dict):
                known(value, where + "." + name)


def one(message, name, otherwise=None):
    values = message.get(name, [])
    if len(values) > 1:
        fault("%s stands %d times" % (name, len(values)))
    return values[-1] if values else otherwise


class Sequence:
    """What one sequence of packets said so far: its event, and what is interned, each once."""
    KINDS = ("function_names", "frames", "callstacks", "build_ids", "mapping_paths", "source_paths", "mappings")

    def __init__(self, packet):
        defaults = one(packet, "trace_packet_defaults")
        self.event = one(one(one(defaults, "perf_sample_defaults"), "timebase"), "name").decode("utf-8", "replace")
        self.of = {kind: {} for kind in self.KINDS}
        self.counters = {}

    def intern(self, data):
        for kind, entries in data.items():
            for entry in entries:
                number = one(entry, "iid")
                if not int(number):
                    fault("%s is interned as 0, which stands for nothing" % kind)
                if number in self.of[kind]:
                    fault("%s %s is interned twice" % (kind, number))
                self.of[kind][number] = entry

    def text(self, kind, number):
        return one(self.of[kind][number], "str", b"") if number else None

    def frame(self, number):
        """(name, address, object's path, build-id, file, line)"""
        f = self.of["frames"][number]
        mapping = self.of["mappings"][one(f, "mapping_id")]
        if not int(one(mapping, "start", "0")) <= int(one(f, "rel_pc", "0")) <= int(one(mapping, "end")):
            fault("frame %s is not in its mapping" % number)
        return (self.text("function_names", one(f, "function_name_id")), int(one(f, "rel_pc", "0")), self.text("mapping_paths", one(mapping, "path_string_ids")), self.text("build_ids", one(mapping, "build_id")).hex(),
                self.text("source_paths", one(f, "source_path_iid")), int(one(f, "line_number", "0")))

    def stack(self, number):
        return tuple(self.frame(f) for f in self.of["callstacks"][number]["frame_ids"]) if number else ()


def in_order(packet, number, at):
    """Whether a reader may take a packet as it stands behind the others of its sequence."""
    flags = int(one(packet, "sequence_flags", "0"))
    if not number or not int(number):
        fault("a packet is of no sequence")
    if "trace_packet_defaults" in packet:
        if number in at or flags != CLEARED or one(one(packet, "trace_packet_defaults"), "timestamp_clock_id"):
            fault("sequence %s: its first packet is not one" % number)
    elif ("perf_sample" in packet or "interned_data" in packet) and flags != NEEDED:
        fault("sequence %s: a packet does not say that it needs what was said" % number)
    if "perf_sample" in packet and "timestamp" not in packet:
        fault("a sample has no time")
    for tree in packet.get("process_tree", []):
        if set(packet) - {"process_tree", "timestamp", "trusted_packet_sequence_id"} or number in at:
            fault("names of tasks are in another's sequence")
        if any("tgid" not in t or "tid" not in t for t in tree["threads"]):
            fault("a thread has no process")


CLEARED, NEEDED = 1, 2


def traced(trace):
    """Samples by event, process, thread, CPU and stack; how much of each event; names of threads; samples by time, thread and CPU."""
    samples, weights, threads, at, times = collections.Counter(), collections.Counter(), {}, {}, collections.Counter()
    last = {}
    for packet in trace["packet"]:
        number = one(packet, "trusted_packet_sequence_id")
        in_order(packet, number, at)
        for tree in packet.get("process_tree", []):
            for t in tree["threads"]:
                threads[int(one(t, "tid"))] = one(t, "name", b"")
        if "trace_packet_defaults" in packet:
            at[number] = Sequence(packet)
        for data in packet.get("interned_data", []):
            at[number].intern(data)
        for s in packet.get("perf_sample", []):
            cpu, count, q, time = one(s, "cpu"), int(one(s, "timebase_count")), at[number], int(one(packet, "timestamp"))
            if time < last.get(number, 0):
                fault("sequence %s goes back in time" % number)
            last[number] = time
            times[time, int(one(s, "pid", "0")), int(one(s, "tid", "0")), int(cpu or 0)] += 1
            samples[q.event, int(one(s, "pid", "0")), int(one(s, "tid", "0")), q.stack(one(s, "callstack_iid"))] += 1
            weights[q.event] += count - q.counters.get(cpu, 0)
            q.counters[cpu] = count
    return samples, weights, threads, times


def scripted(text):
    """The same samples by time, thread and CPU, as `seam script` has them; one without a CPU, or a task, has 0."""
    found = collections.Counter()
    for line in text.splitlines():
        m = re.match(rb" *(-?\d+)/(-?\d+) +(?:\[(\d+)\] +)?(\d+)\.(\d{9}):", line)
        if m:
            found[int(m[4]) * 10**9 + int(m[5]), max(0, int(m[1])), max(0, int(m[2])), int(m[3] or 0)] += 1
    return found


def called(frame, path):
    """A function without a name is called by its object."""
    base = path.rsplit("/", 1)[-1] or path
    return frame["symbol"] or (base if base[:1] == "[" else "[%s]" % base if base else "[unknown]")


def wanted(data):
    """The same of the profile as JSON."""
    paths = {-1: ()}

    def path(stack):
        if stack not in paths:
            up, f = data["stacks"][stack]
            frame = data["frames"][f]
            o = data["objects"][frame["object"]] if (frame["object"] or 0) >= 0 and frame["object"] is not None else {"path": "", "build_id": ""}
            text = o["path"] or ""
            paths[stack] = path(up) + ((called(frame, text).encode(), int(frame["address"], 0), (text[1:] if text[:1] == "/" else text).encode(), o["build_id"] or "",
                                        frame["file"].encode() if frame.get("file") else None, frame.get("line") or 0),)
        return paths[stack]
    samples, weights = collections.Counter(), collections.Counter()
    for row in data["rows"]:
        event, task = data["events"][row["event"]], data["tasks"][row["task"]]
        name = event["name"] + (" (ns)" if event["unit"] == "nanoseconds" else "")
        samples[name, task["pid"] or 0, task["tid"] or 0, path(row["stack"])] += row["samples"]
        weights[name] += row["weight"]
    return samples, weights, {t["tid"]: t["comm"].encode() for t in data["tasks"] if t["tid"]}


sys.setrecursionlimit(10000)
for name in NAMES:
    trace = decoded(seam("export", *NOWHERE, "-f", "perfetto", name + ".data"))
    known(trace, name)
    got = traced(trace)
    want = wanted(json.loads(seam("export", *NOWHERE, "-f", "json", name + ".data")))
    for what, g, w in zip(("samples", "weights"), got, want):
        if g != w:
            fault("%s: %s: %d of %d are the same; only in the trace: %s; only in JSON: %s" % (
                name, what, sum((g & w).values()), sum(w.values()), list((g - w).items())[:2], list((w - g).items())[:2]))
    wrong = {t: n for t, n in got[2].items() if want[2].get(t) != n}
    if wrong or not got[2] and want[2]:
        fault("%s: names of threads: %s" % (name, list(wrong.items())[:4]))
    names = scripted(seam("script", *NOWHERE, "-F", "pid,tid,cpu,time", "--ns", "-i", name + ".data"))
    if got[3] != names:
        fault("%s: times: %d of %d are the same; only in the trace: %s; only in the script: %s" % (
            name, sum((got[3] & names).values()), sum(names.values()), list((got[3] - names).items())[:2], list((names - got[3]).items())[:2]))
    print("%s: %d samples, %d stacks, %d events, %d threads" % (name, sum(got[0].values()), len(got[0]), len(got[1]), len(got[2])))
    if not got[0]:
        fault(name + ": no samples")
sys.exit(1 if faults else 0)
