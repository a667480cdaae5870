#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scenes.py: every sample of a recording of scenes.c against the stacks that the program can have.

	scenes.py FILE    the output of `seam script -F comm,pid,tid,time,ip,sym,dso` or perf's

Prints what it counted; exit 1 when any stack is one that cannot be. A stack may end early (that is the
recorder's to count), but what it shows must be true.
"""
import collections
import re
import sys

AFTER = {  # a leaf -> its callers, outwards; [...]: one of
    "spin_dl": [["inner_a", "inner_b"], "plug", "call_plug", "scenes", "main"],
    "spin_jit": ["?", "call_jit", "scenes", "main"],
    "spin_exec": ["scene_exec", "main"],
    "spin_thread": ["scene_thread"],
    "spin_fork": ["scene_fork", "scenes", "main"],
}


def stacks(text):
    for block in text.split("\n\n"):
        lines = [line.strip() for line in block.strip("\n").split("\n")]
        names, objects = [], []
        for line in lines[1:]:
            m = re.match(r"([0-9a-f]+) (\S+?)(?:\+0x[0-9a-f]+)? \((.*)\)$", line)
            if m and not m[1].startswith("ffffffff"):
                names.append(m[2].lstrip("?"))
                objects.append(m[3])
        if names:
            yield lines[0], names, objects


def wrong(names, objects):
    for i, name in enumerate(names):
        for k, want in enumerate(AFTER.get(name, [])):
            at = i + 1 + k
            if at >= len(names):
                return None  # ended early
            if want == "?":
                if "unknown" not in names[at]:
                    return f"{names[at]} after {name}: code made at run time has no name"
            elif names[at] not in (want if isinstance(want, list) else [want]):
                return f"{names[at]} after {names[at - 1]}"
    for i, name in enumerate(names[:-1]):
        if name in ("inner_a", "inner_b") and not objects[i].endswith(f"plug_{name[-1]}.so"):
            return f"{name} in {objects[i]}"
        if name in ("inner_a", "inner_b") and objects[i] != objects[i + 1]:
            return f"plug of {objects[i + 1]} calls {name} of {objects[i]}"
    return None


def main():
    seen, bad, whole = collections.Counter(), 0, collections.Counter()
    for head, names, objects in stacks(open(sys.argv[1]).read()):
        fault = wrong(names, objects)
        if fault:
            bad += 1
            if bad <= 5:
                print(f"{head}\n  {fault}\n  {' '.join(names)}")
        for leaf in set(names) & set(AFTER):
            seen[leaf] += 1
            whole[leaf] += names[-1] in ("_start", "__clone3", "clone3", "__clone", "clone", "_dl_start_user",
                                         "_start_user")
    for leaf in AFTER:
        print(f"{leaf}: {seen[leaf]} stacks, {whole[leaf]} to the start")
    print(f"wrong: {bad}")
    sys.exit(1 if bad or any(not seen[leaf] for leaf in AFTER) else 0)


main()
