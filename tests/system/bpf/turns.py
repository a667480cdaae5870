# SPDX-License-Identifier: MIT
"""turns.py: seam script --fields +state of turns.c -> "STACKS WHOLE CUT WRONG".

A stack counts that is in a part or in code called by made code. It is whole when its frames are exactly those that
turns.c has, cut when it is the first of them and the state says that it ended early, else wrong. The first wrong ones are shown.
"""
import sys

ABOVE = ["turns_run", "main"]
LIBRARY = ["part_%s_leaf", "part_%s_middle", "part_enter", "turns_call", "turns_library"] + ABOVE
OVER = LIBRARY[:4] + ["turns_over"] + ABOVE
MADE = ["turns_spin", "[unknown]", "turns_call", "turns_made"] + ABOVE


def frames_of(lines):
    """The user frames: those below the kernel's, without offsets and guess marks."""
    found = []
    for line in lines:
        words = line.split()
        if len(words[0]) == 16 and words[0].startswith("ffff"):
            continue
        name = words[1] if words[1] != "?" else words[2]
        found.append(name.lstrip("?").split("+")[0])
    return found


def judge(head, frames):
    inside = [i for i, f in enumerate(frames) if f.startswith("part_") or f == "turns_spin"]
    if not inside:
        return None
    frames = frames[inside[0]:]
    if frames[0] == "turns_spin":
        expected = MADE
    else:
        part = frames[0].split("_")[1]
        named = OVER if "turns_over" in frames else LIBRARY
        expected = [f % part if "%" in f else f for f in named]
        if frames[0] not in expected:
            return "wrong"
        expected = expected[expected.index(frames[0]):]
    n = min(len(frames), len(expected))
    if frames[:n] != expected[:n]:
        return "wrong"
    if n == len(expected):
        return "whole"
    said = "/" in head.split(" cpu-clock")[0].rsplit(" ", 1)[1] and "/complete" not in head
    return "cut" if said else "wrong"


def main():
    counts = {"whole": 0, "cut": 0, "wrong": 0}
    shown = 0
    for record in open(sys.argv[1]).read().split("\n\n"):
        lines = record.strip("\n").split("\n")
        if len(lines) < 2:
            continue
        verdict = judge(lines[0], frames_of(lines[1:]))
        if not verdict:
            continue
        counts[verdict] += 1
        if verdict == "wrong" and shown < 5:
            shown += 1
            print(record.strip("\n"), file=sys.stderr)
    print(sum(counts.values()), counts["whole"], counts["cut"], counts["wrong"])


main()
