# SPDX-License-Identifier: MIT
"""Holds `seam script -F comm,tid,ip,sym,dso,srcline` of chains_program.py, on standard input, against its names and what it noted in
a directory. Usage: chains_check.py PERCENT DIR. Prints counts; ends with 1 if a name, a line or the order is wrong, or if less
than PERCENT of the stacks that were taken between a thread's first and last of its own are whole."""
import collections
import functools
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from chains_program import CALL, KINDS, LINES  # noqa: E402

FRAME = re.compile(r"^\t\s*([0-9a-f]+) (.*) \(([^()]*)\)$")
OWN = re.compile(r"k_([a-z]+)(\d*)_(\d+)$")
LINE = re.compile(r"^  (.*):(\d+)$")
BY_C = "sucpoa"
INNER = {"__call__", "note_floor", "names", "sleep", "__sleep0"}  # what an own function calls in Python

Frame = collections.namedtuple("Frame", "name file object line role tag depth")


# Of a million and a half lines some thousands differ.
@functools.lru_cache(None)
def parts(text):
    """A frame's symbol and object, if the line is one."""
    m = FRAME.match(text)
    return (re.sub(r"\+0x[0-9a-f]+$", "", m[2]), m[3]) if m else None


@functools.lru_cache(None)
def frame(symbol, obj, line):
    """Of Python: its name and file, and if it is one of the program's own which."""
    if obj != "[python]" or not symbol.startswith("py::"):
        return Frame("", "", obj, 0, None, "", 0)
    name, _, path = symbol[4:].partition(":")
    name = name.split(".")[-1]
    m = OWN.match(name)
    return Frame(name, path, obj, line, *((m[1], m[2], int(m[3])) if m else (None, "", 0)))


def stacks(lines):
    """(tid, frames), frames the innermost first."""
    tid = stack = symbol = None
    for text in lines:
        text = text.rstrip("\n")
        found = parts(text)
        if found and found[0].startswith("py::async "):
            symbol = None  # who awaits the task is not on the stack (tasks_check.py)
        elif found:
            symbol = found
            stack.append(frame(*symbol, 0))
        elif not text:
            if stack is not None:
                yield tid, stack
            stack = None
        elif not text[0].isspace():
            tid, stack = int(text.split()[-1].rstrip(":")), []
        elif symbol:
            m = LINE.match(text)
            stack[-1] = frame(*symbol, int(m[2]) if m else 0)
            symbol = None  # what follows is inlined
    if stack:
        yield tid, stack


def read_noted(directory):
    """Floors and chains of each thread, and what the runtime's own chains have in common."""
    depths, floors, chains = {}, collections.defaultdict(lambda: collections.defaultdict(list)), collections.defaultdict(list)
    for path in glob.glob(directory + "/noted-*.json"):
        with open(path) as f:
            noted = json.load(f)
        depths.update(noted["depths"])
        for tid, roles in noted["floors"].items():
            for role, of in roles.items():
                floors[int(tid)][role] += of
        for tid, of in noted["chains"].items():
            chains[int(tid)] += [c.split("/") for c in of]
    return depths, floors, chains


def judge(names, floors):
    """What is wrong with a chain of names, outermost first: '' if nothing. floors: of its thread, by role."""
    own = [(i, OWN.match(n)) for i, n in enumerate(names) if OWN.match(n)]
    if not own:
        return ""
    first, role = own[0][0], own[0][1][1]
    for (i, caller), (k, callee) in zip(own, own[1:]):
        if k != i + 1 or callee[1] != caller[1] or callee[2] != caller[2] or int(callee[3]) != int(caller[3]) + 1:
            return f"wrong: {names[i:k + 1]}"
    if role not in floors or (role in ("ev", "rl")) != bool(own[0][1][2]):
        return f"wrong: a {role} where only {list(floors)} run"
    if role == "as" and names[:-1] in floors["made"]:
        return ""
    for floor in floors[role]:
        if names[:first] == floor and own[0][1][3] == "0":
            inner = names[own[-1][0] + 1:]
            return "" if set(inner) <= INNER else f"wrong: {inner} in {names[own[-1][0]]}"
    if own[0][1][3] != "0" and not first:
        return f"lost: begins with {names[0]}"
    # What is missing at the outer end only is no wrong frame.
    if own[0][1][3] == "0" and any(names[:first] == floor[len(floor) - first:] for floor in floors[role]):
        return f"lost: begins with {names[0]}"
    return f"wrong: {names[:first + 1]}"


def check_frames(stack):
    """What is wrong with the lines of a stack's own frames, their files, or the C between them."""
    python = [(i, f) for i, f in enumerate(stack) if f.name]
    own = [(i, f) for i, f in python if f.role]
    for n, (i, f) in enumerate(own):
        if f.line and not f.depth * LINES < f.line <= f.depth * LINES + LINES:
            return f"wrong: line {f.line} in {f.name}"
        if n and own[n - 1][1].depth == f.depth + 1 and f.line != f.depth * LINES + CALL:
            return f"wrong: {f.name} calls in line {f.line}"
        if f.file != "/made/" + f.role + f.tag and not (f.role == "rl" and "/reloaded_" in f.file):
            return f"wrong: {f.name} in {f.file}"
    native = next((i for i in reversed(range(len(stack))) if stack[i].object != "[python]"), -1)  # the outermost
    for (i, callee), (k, caller) in zip(own, own[1:]):
        kind, between = KINDS[callee.depth % len(KINDS)], [f.object for f in stack[i + 1:k]]
        whole = native > k
        if caller.role != "as" and kind in BY_C and whole and not any(o != "[python]" for o in between):
            return f"wrong: no C between {callee.name} and {caller.name}"
        if caller.role != "as" and kind == "c" and whole and not any("ffi" in o for o in between):
            return f"wrong: no ffi between {callee.name} and {caller.name}"
    return ""


def check_leaf(stack, depths):
    """Only the last of a chain calls zlib: if it does, no frame inwards of the last may be missing."""
    n, f = next((i, f) for i, f in enumerate(stack) if f.name)
    calls = any("libz" in c.object or "/zlib." in c.object for c in stack[:n])
    return f"lost: {f.name} calls zlib" if calls and not (f.role and f.depth == depths[f.role]) else ""


def check(stack, floors, common, depths):
    names = [f.name for f in stack if f.name][::-1]
    if not names:
        return "lost: no frame of Python"
    if not any(f.role for f in stack):
        return "" if names[:len(common)] == common else f"lost: {names[:len(common)]}"
    return judge(names, floors) or check_frames(stack) or check_leaf(stack, depths)


def main():
    depths, floors, chains = read_noted(sys.argv[2])
    counts = collections.Counter()
    for tid, of in chains.items():
        for names in of:
            said = judge(names, floors[tid])
            counts["noted"] += 1
            # The sampler may lose its turn on the way outwards: what has ended by then has no caller.
            if said.startswith("wrong"):
                counts["noted wrong"] += 1
                print("noted by the interpreter:", said)
    threads = collections.defaultdict(list)
    for tid, stack in stacks(sys.stdin):
        threads[tid].append(stack)
    for tid, of in threads.items():
        own = [i for i, stack in enumerate(of) if any(f.role for f in stack)]
        counts["before and after"] += len(of) - (own[-1] + 1 - own[0] if own else 0)
        seen = set(map(tuple, chains[tid]))
        common = os.path.commonprefix(chains[tid])
        common = common[:next((i for i, n in enumerate(common) if OWN.match(n)), len(common))]
        for stack in of[own[0]:own[-1] + 1] if own else []:
            said = check(stack, floors[tid], common, depths)
            kind = said.split(":")[0] or "whole"
            counts[kind] += 1
            counts["seen"] += tuple(f.name for f in stack if f.name)[::-1] in seen
            if said and counts[kind] <= 6:
                print(said)
                for f in stack[:90 if kind == "wrong" else 40] if counts[kind] <= 3 else []:
                    print(f"    {f.name or '-'}:{f.line} {f.file} ({f.object})")
    told = counts["whole"] + counts["lost"] + counts["wrong"]
    print(", ".join(f"{what} {counts[what]}" for what in ("whole", "lost", "wrong", "before and after", "seen", "noted")))
    return (counts["wrong"] or counts["noted wrong"] or not told or not counts["noted"] or
            counts["whole"] * 100 < float(sys.argv[1]) * told)


sys.exit(1 if main() else 0)
