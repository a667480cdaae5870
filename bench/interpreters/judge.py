#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""judge.py SCRIPT [SHOWN]: stacks of a program of this folder, as `seam script -F comm,ip,sym,dso` says them, against what its functions' names say.

f<K> calls only functions w<K>_..., and these lead to f<K+1>, by way of the interpreter or a library. So the functions of a stack, from
the outermost on, are f0, w0_..., f1, w1_... and so on, and the stack begins where its thread does: whole. Lacking: in that order, but not
all of it. Wrong: any other order. Judged are stacks with one of these functions. The last line: WHOLE whole, LACKING lacking, WRONG wrong."""
import collections
import re
import sys

# What a stack begins with: a program's _start, or the C library, whose functions may have no names; in a fiber of PHP, that or its program.
BEGINS = re.compile(r"make_fcontext \(|php::\{main\}|_start \(|.*\((?:.*/)?(?:libc[.-]|ld-musl)[^/]*\)$")
# A function of its own, and not what stands within it: a block, a closure, a lambda, the text of an eval.
NAME = re.compile(r"(?<![\w$])(?<!closure:)(?:f(\d)|w(\d)_\w+)(?![\w$]|\.<|/<)")


def place(name):
    """Which place of the chain a frame's name has; None: it is not the program's."""
    m = NAME.search(re.split(r":/| \(", name)[0])
    if not m or " in " in name or ":(eval" in name:
        return None
    return 2 * int(m[1]) if m[1] else 2 * int(m[2]) + 1


def begins(frames):
    """Whether a stack has its outermost frame. A program's _start may have no name: what it calls is the C library's."""
    outer = frames[-2:]
    return bool(BEGINS.match(outer[-1]) or (outer[-1].startswith("[unknown] (") and BEGINS.match(outer[0])))


def judged(frames):
    """whole, lacking or wrong, of frames from the innermost on; None: it has no function of the program."""
    places = [p for p in map(place, reversed(frames)) if p is not None]
    if not places:
        return None
    if places == list(range(len(places))) and begins(frames):
        return "whole"
    return "lacking" if all(a < b for a, b in zip(places, places[1:])) else "wrong"


def stacks(lines):
    """Names of each stack's frames, the innermost first."""
    frames = []
    for line in lines:
        m = re.match(r"\s+[0-9a-f]+ (.* \(.*\))$", line)
        if m:
            frames.append(m[1])
        elif not line.strip():
            yield frames
            frames = []
    yield frames


def judge(path, shown=0):
    """What the stacks of a file are, and which functions they have."""
    counts, seen = collections.Counter(), collections.Counter()
    with open(path) as lines:
        for frames in stacks(lines):
            verdict = judged(frames)
            if not verdict:
                continue
            counts[verdict] += 1
            seen.update(m[0] for m in map(NAME.search, frames) if m)
            if verdict != "whole" and counts[verdict] <= shown:
                print(verdict + ":", *frames, sep="\n  ")
    return counts, seen


def main():
    counts, seen = judge(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2)
    print(f"{len(seen)} functions")
    print(", ".join(f"{counts[k]} {k}" for k in ("whole", "lacking", "wrong")))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
