# SPDX-License-Identifier: MIT
"""tasks_check.py PROGRAM: stacks (seam script -F ip,sym) on standard input against who awaits whom in tasks_program.py. Prints how many
have all of it, none, and anything else; exit status 1: a chain is wrong, or one of the ways never whole."""
import collections
import re
import sys

source = open(sys.argv[1]).read()
awaited = eval(re.search(r"AWAITED = (\{.*?\n\})", source, re.S)[1])
NAME = re.compile(r"\s+[0-9a-f]+ py::(async )?(\S+):(\S+)")


def chain(stack):
    """The task's own function, and who awaits it, of the program's functions: the innermost first. None: it is no task's."""
    own, found = None, []
    for line in stack.split("\n"):
        m = NAME.match(line)
        if not m or "tasks_program" not in m[3]:
            continue
        if not own:
            own = m[2][2:] if m[2].startswith("t_") else None
        elif m[1]:
            found.append(m[2])
        elif found or m[2] == "<module>":
            break
        else:  # what calls it makes the coroutine, which runs later
            return None, ()
    return own, tuple(found)


counts, whole = collections.Counter(), set()
for stack in sys.stdin.read().split("\n\n"):
    own, found = chain(stack)
    if own is None:
        continue
    if own == "cycle":
        verdict = "whole" if found and set(found) == {"cycle.<locals>.stays"} and len(found) < 5 else "none" if not found else "wrong"
    else:
        verdict = "whole" if found == awaited[own] else "none" if not found else "wrong"
    counts[verdict] += 1
    if verdict == "whole":
        whole.add(own)
    elif verdict == "wrong":
        print(own, found, awaited[own])
never = set(awaited) - whole
print(", ".join(f"{counts[k]} {k}" for k in ("whole", "none", "wrong")), *sorted(never))
sys.exit(bool(counts["wrong"] or never or counts["none"] * 200 > counts["whole"]))
