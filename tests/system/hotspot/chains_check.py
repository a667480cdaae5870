#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""chains_check.py SOURCE <SCRIPT: stacks of Chains.java or Churn.java, as seam script -F comm,ip,sym,dso,srcline says them.

A stack in Java is whole if it ends at the start of its thread and each method of the program's class was called by one that calls
it. Only its innermost methods may be missing. Where what is inlined could not be read, the outer method stands there alone,
without a line: then the stack lacks something, and says so. All else is wrong. The last line: WHOLE whole, LACKING lacking, WRONG
wrong."""
import collections
import re
import sys

CALLERS = {
    "Chains": {
        "leaf": "c7 A.area B.area C.area V1.v V2.v V3.v rec sync2 thrower catcher lambda mono", "c2": "c1", "c3": "c2", "c4": "c3 one",
        "c5": "c4", "c6": "c5 D.area", "c7": "c6 sync2 mono reflect", "c1": "one", "A.area": "shape", "B.area": "shape",
        "C.area": "shape", "D.area": "shape", "shape": "one", "V1.v": "V.up", "V2.v": "V.up", "V3.v": "V.up", "V.up": "virt",
        "virt": "one", "rec": "rec one", "sync": "one", "sync2": "sync", "thrower": "thrown", "thrown": "catcher", "catcher": "one",
        "lambda": "lam", "lam": "one", "sorted": "one", "cmp": "sorted", "leaf2": "cmp", "copy": "one", "crc": "one", "zip": "one",
        "name": "one", "text": "one", "maps": "one", "waste": "one", "reflect": "one", "mono": "deopt", "deopt": "one", "one": "work",
        "work": "loop", "loop": "main", "cpu": "loop", "rnd": "sorted maps main", "main": "", "<clinit>": "",
        **{f"{of}.<init>": "<clinit>" for of in ("A", "B", "C", "D", "V1", "V2", "V3")}, "V.<init>": "V1.<init> V2.<init> V3.<init>"},
    "Churn": {
        "leaf": "J0.in0 J1.in1", "J0.in0": "J0.run", "J1.in1": "J1.run", "J0.run": "outer", "J1.run": "outer", "outer": "churn",
        "churn": "body", "body": "lambda", "lambda": "", "main": "", "J0.<init>": "churn", "J1.<init>": "churn"},
}
DEEPEST = 31  # calls of rec


def frames_of(lines):
    """(name, object, line or None) of each frame, the innermost first."""
    frames = []
    for line in lines:
        m = re.match(r"\s+([0-9a-f]+) (.*) \((.*)\)$", line)
        if m:
            frames.append([m[2], m[3], None])
            continue
        m = re.match(r"\s+\S+:(\d+)$", line)
        if m and frames:
            frames[-1][2] = int(m[1])
    return frames


def own(frames, program):
    """The program's own methods: (method, line)."""
    for name, _, line in frames:
        m = re.match(r"java::%s(?:\$(\w+))?\.([\w$<>]+)(?::%s\.java)?$" % (program, program), name)
        if not m or m[1] == "Own":
            continue
        method = "lambda" if m[2].startswith("lambda$") else m[2]
        yield (m[1] + "." if m[1] else "") + method, line


def fault(frames, program, source):
    callers = CALLERS[program]
    methods = list(own(frames, program))
    for method, line in methods:
        if method not in callers:
            return f"{method} is none of the program's"
        word = method.split(".")[-1]
        if line and word not in ("lambda", "<clinit>", "<init>") and not re.search(r"\b%s\(" % word, source[line - 1]):
            return f"{method} is not in line {line}"
    for (callee, _), (caller, _) in zip(methods, methods[1:]):
        if caller not in callers[callee].split():
            return f"{callee} called by {caller}"
    if methods and callers[methods[-1][0]]:
        return f"{methods[-1][0]} is the outermost"
    names = [m for m, _ in methods]
    if names[:2] == ["leaf", "rec"] and names.count("rec") != DEEPEST:
        return f"{names.count('rec')} calls of rec"
    return None


def main():
    program = re.sub(r".*/|\.java$", "", sys.argv[1])
    with open(sys.argv[1], encoding="utf-8") as f:
        source = f.read().split("\n")
    count, seen = collections.Counter(), collections.Counter()
    began = False
    for sample in sys.stdin.read().split("\n\n"):
        lines = sample.strip("\n").split("\n")
        frames = frames_of(lines[1:])
        java = any(name.startswith("java::") for name, _, _ in frames)
        began = began or java
        if not began or not (java or any(re.search(r"perf-\d+\.map|\[?anon", o) for _, o, _ in frames)):
            continue
        why = fault(frames, program, source)
        if why and any(line is None for _, line in list(own(frames, program))):
            count["lacking"] += 1
        elif why:
            count["wrong"] += 1
            print(why + "\n" + sample)
        elif not any(re.search(r"start_thread|clone3|_start$", name) for name, _, _ in frames):
            count["lacking"] += 1
            seen[" < ".join(name for name, _, _ in frames[:3])] += 1
        else:
            count["whole"] += 1
    for name, n in seen.most_common(20):
        print(n, "not whole:", name)
    print(f"{count['whole']} whole, {count['lacking']} lacking, {count['wrong']} wrong")
    sys.exit(count["wrong"] != 0 or count["whole"] == 0)


main()
