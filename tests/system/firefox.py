#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""firefox.py SEAM NPM NAME...: NAME.data, exported for the Firefox Profiler, in its own CLI.

What it shows of every thread is held against `seam export -f folded` of that thread and event: each stack with its weight, in
the event's unit; and against `-f json` for what folded has no place for: which frames are inlined, and lines. Files that are not
in order must be refused, or show other weights: else all this says nothing.
"""
import json
import math
import os
import subprocess
import sys
import time

SEAM, NPM = sys.argv[1:3]
CLI = os.path.join(NPM, "node_modules", "@firefox-devtools", "profiler-cli", "dist", "profiler-cli.js")
CLOCKS = ("cpu-clock", "task-clock", "ev-", "up-")  # the latter two are made's hostile ones
failures = 0


def judge(ok, what):
    global failures
    failures += not ok
    print(("ok: " if ok else "FAILED: ") + what.encode("unicode_escape").decode(), flush=True)


def cli(*args):
    done = subprocess.run(["node", CLI, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def load(path, session):
    """None, or what the CLI says is wrong. Its server may start slower than it waits for."""
    status, _, err = cli("load", path, "--session", session)
    for _ in range(60):
        if "did not become ready" not in err and "still loading" not in err:
            break
        time.sleep(0.5)
        status, _, err = cli("profile", "info", "--session", session)
    return err.strip() or "status %d" % status if status else None


def ask(session, *args):
    status, out, err = cli(*args, "--json", "--session", session)
    if status:
        raise SystemExit("FAILED: profiler-cli %s: %s" % (" ".join(args), err))
    return json.loads(out)


def seam(*args):
    return subprocess.run([SEAM, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def tree_stacks(tree):
    """Outermost to innermost names -> own weight."""
    stacks, todo = {}, [(c, ()) for c in tree["children"]]
    while todo:
        node, above = todo.pop()
        path = above + (node["name"],)
        if node.get("childrenTruncated"):
            raise SystemExit("FAILED: the CLI left out rows")
        if node["selfSamples"]:
            stacks[path] = stacks.get(path, 0) + node["selfSamples"]
        todo += [(c, path) for c in node["children"]]
    return stacks


class Truth:
    """-f json of a recording."""

    def __init__(self, data):
        self.all = json.loads(seam("export", "-f", "json", data))

    def frame(self, i):
        frame = self.all["frames"][i]
        if frame["symbol"] is not None:
            return frame["symbol"]
        if frame["object"] is None or frame["object"] < 0:
            return "[unknown]"
        path = self.all["objects"][frame["object"]]["path"]
        return path if path.startswith("[") else "[" + path.rpartition("/")[2] + "]"

    def path(self, stack):
        ret = []
        while stack >= 0:
            stack, frame = self.all["stacks"][stack]
            ret.append(frame)
        return ret[::-1]

    def rows(self, event, pid, tid):
        for row in self.all["rows"]:
            task = self.all["tasks"][row["task"]]
            if self.all["events"][row["event"]]["name"] == event and (task["pid"], task["tid"]) == (pid, tid):
                yield row

    def stacks(self, event, pid, tid):
        ret = {}
        for row in self.rows(event, pid, tid):
            path = tuple(map(self.frame, self.path(row["stack"])))
            if path:
                ret[path] = ret.get(path, 0) + row["weight"]
        return ret


def folded_stacks(data, event, tid):
    """What folded has of a thread; a name's own semicolon is escaped there, and a line begins with the thread's name."""
    ret = {}
    for line in seam("export", "-f", "folded", "-e", event, "--tid", str(tid), data).decode().splitlines():
        names, weight = line.rsplit(" ", 1)
        path = tuple(names.split(";")[1:])
        if path:
            ret[path] = ret.get(path, 0) + int(weight)
    return ret


def equal(a, b, scale):
    return a.keys() == b.keys() and all(math.isclose(a[k], b[k] * scale, rel_tol=1e-9, abs_tol=1e-5) for k in a)


def functions(stacks):
    own, total = {}, {}
    for path, weight in stacks.items():
        own[path[-1]] = own.get(path[-1], 0) + weight
        for name in set(path):
            total[name] = total.get(name, 0) + weight
    return own, total


def check_thread(name, data, profile, truth, i, plain):
    """One thread's call tree, as the CLI gives it: 0 where it is not ours."""
    thread = profile["threads"][i]
    handle, event = "t-%d" % i, None
    pid, tid = int(thread["pid"]), int(thread["tid"])
    events = [e for e in truth.all["events"] if any(True for _ in truth.rows(e["name"], pid, tid))]
    event = events[0] if len(events) == 1 else next(e for e in events if thread["name"].endswith("(" + e["name"] + ")"))
    got = ask(name, "thread", "samples-top-down", "--thread", handle, "--include-idle", "--max-lines", "100000000")
    stacks = tree_stacks(got["regularCallTree"])
    is_time = event["unit"] == "nanoseconds"
    scale = 1e-6 if is_time else 1
    what = "%s: %s %d/%d: " % (name, event["name"], pid, tid)
    judge(got["weightType"] == ("tracing-ms" if is_time else "samples"), what + "weights are " + got["weightType"])
    judge(equal(stacks, truth.stacks(event["name"], pid, tid), scale), what + "%d stacks, %g in all" % (len(stacks), sum(stacks.values())))
    if plain:  # names that need no escape
        folded = folded_stacks(data, event["name"], tid)
        judge(equal(stacks, folded, scale), what + "as folded has them")
        for ours, theirs, kind in zip(functions(stacks), functions(folded), ("own", "total")):
            judge(equal(ours, theirs, scale), what + "%s weight of %d functions" % (kind, len(ours)))
    return sum(stacks.values())


def check_clock(name, profile, truth):
    """CPU use is told of where the event counts it, and adds up to the weights."""
    for thread in profile["threads"]:
        deltas, samples = thread["samples"].get("threadCPUDelta"), thread["samples"]
        clock = any(e["name"].startswith(CLOCKS) and ("(" + e["name"] + ")" in thread["name"] or "(" not in thread["name"])
                    for e in truth.all["events"])
        judge((deltas is not None) == clock, "%s: %s: CPU deltas: %s" % (name, thread["name"], "yes" if deltas else "no"))
        if deltas:
            judge(math.isclose(sum(deltas) / 1e6, sum(samples["weight"]), abs_tol=1e-5), "... that are its time on the CPU")
    mains = [t["pid"] for t in profile["threads"] if t["isMainThread"]]
    judge(len(mains) == len(set(mains)), "%s: a process has one main thread" % name)


def check_inlined(name, truth):
    """Lines and inlined calls: the CLI's lines of a function are the truth's, in the file that it names."""
    profile = json.load(open(name + ".json"))
    frames, functions_ = profile["shared"]["frameTable"], profile["shared"]["funcTable"]
    texts, sources = profile["shared"]["stringArray"], profile["shared"]["sources"]
    inlined = {texts[functions_["name"][f]] for f, flags in zip(frames["func"], frames["flags"]) if flags & 1}
    wanted = {truth.frame(i) for i, f in enumerate(truth.all["frames"]) if f["kind"] == "inlined"}
    judge(inlined == wanted and {"deepest", "middle"} <= inlined,
          "%s: inlined: %s" % (name, ", ".join(sorted(inlined))))
    for function in "deepest", "middle", "two_files", "space::outer<unsigned int>":
        indices = [i for i, n in enumerate(functions_["name"]) if texts[n] == function or texts[n].endswith(" %s(unsigned int)" % function)]
        judge(len(indices) == 1, "%s: one function %s" % (name, function))
        function = texts[functions_["name"][indices[0]]]
        check_lines(name, truth, function, indices[0], texts[sources["filename"][functions_["source"][indices[0]]]])


def check_lines(name, truth, function, index, source):
    """Weight by line of the file that the function is in, of a thread; the CLI shows all lines of that file."""
    said = ask(name, "function", "annotate", "f-%d" % index, "--context", "0")
    got = said["srcAnnotation"]
    if not got:
        judge(False, "%s: %s: no lines: %s" % (name, function, said["warnings"]))
        return
    lines = {l["lineNumber"]: l["selfSamples"] for l in got["lines"] if l["selfSamples"]}
    totals = {l["lineNumber"]: l["totalSamples"] for l in got["lines"] if l["totalSamples"]}
    selected = ask(name, "thread", "info")["threadHandle"]
    thread = json.load(open(name + ".json"))["threads"][int(selected[2:])]
    own, through, of_function = {}, {}, set()
    for event in truth.all["events"]:
        for row in truth.rows(event["name"], int(thread["pid"]), int(thread["tid"])):
            ids = truth.path(row["stack"])
            path = [truth.all["frames"][i] for i in ids]
            of_function |= {f["line"] for i, f in zip(ids, path) if truth.frame(i) == function and f.get("line")}
            for line in {f["line"] for f in path if f.get("file") == source and f.get("line")}:
                through[line] = through.get(line, 0) + row["weight"]
            if path and path[-1].get("file") == source and path[-1].get("line"):
                own[path[-1]["line"]] = own.get(path[-1]["line"], 0) + row["weight"]
    judge(got["filename"] == source and equal(lines, own, 1e-6) and equal(totals, through, 1e-6) and bool(of_function),
          "%s: %s in %s: lines %s; of that file %s" % (name, function, source.rpartition("/")[2], ", ".join(map(str, sorted(of_function))),
                                                        ", ".join("%d: %.1f" % x for x in sorted(totals.items()))))


def check(name):
    data = name + ".data"
    with open(name + ".json", "wb") as f:
        f.write(seam("export", "-f", "firefox", data))
    profile = json.load(open(name + ".json"))
    truth = Truth(data)
    wrong = load(name + ".json", name)
    judge(not wrong, "%s: it is loaded%s" % (name, ": " + wrong if wrong else ""))
    judge(profile["meta"]["preprocessedProfileVersion"] == 75 and profile["meta"]["version"] == 36, "%s: its own version" % name)
    total = sum(check_thread(name, data, profile, truth, i, name != "hostile") for i in range(len(profile["threads"])))
    with_stack = {(truth.all["events"][r["event"]]["name"]): 0 for r in truth.all["rows"]}
    judge(total > 0 and with_stack, "%s: %d threads" % (name, len(profile["threads"])))
    check_clock(name, profile, truth)
    if name == "inlined":
        judge(len(profile["threads"]) >= 3, "%s: its threads" % name)
        check_inlined(name, truth)
    cli("stop", name)
    return profile


def check_broken(name, profile):
    """A file that is not in order is refused, and one with another stack shows another tree."""
    for what, change in (("newer", lambda p: p["meta"].update(preprocessedProfileVersion=76)),
                         ("without flags", lambda p: p["shared"]["funcTable"].pop("flags")),
                         ("without tables", lambda p: p.pop("shared"))):
        broken = json.loads(json.dumps(profile))
        change(broken)
        with open("broken.json", "w") as f:
            json.dump(broken, f)
        wrong = load("broken.json", "broken")
        judge(bool(wrong), "a file %s is refused: %s" % (what, (wrong or "").splitlines()[:1]))
        cli("stop", "broken")
    broken = json.loads(json.dumps(profile))
    offsets = broken["shared"]["stackTable"]["prefixOffset"]
    deepest = max(i for i, up in enumerate(offsets) if up)
    offsets[deepest] = 0
    with open("broken.json", "w") as f:
        json.dump(broken, f)
    wrong = load("broken.json", "broken")
    judge(not wrong, "a file with another stack is loaded")
    truth, same = Truth(name + ".data"), True
    for i, thread in enumerate(broken["threads"]):
        got = ask("broken", "thread", "samples-top-down", "--thread", "t-%d" % i, "--include-idle", "--max-lines", "100000000")
        event = next(e for e in truth.all["events"] if "(" not in thread["name"] or thread["name"].endswith("(" + e["name"] + ")"))
        same &= equal(tree_stacks(got["regularCallTree"]), truth.stacks(event["name"], int(thread["pid"]), int(thread["tid"])),
                      1e-6 if event["unit"] == "nanoseconds" else 1)
    judge(not same, "... and seen to be another")
    cli("stop", "broken")


profiles = {}
try:
    for each in sys.argv[3:]:
        profiles[each] = check(each)
    check_broken("units", profiles["units"])
finally:
    for each in sys.argv[3:] + ["broken"]:
        cli("stop", each)
print("%d failures" % failures)
sys.exit(failures > 0)
