# SPDX-License-Identifier: MIT
"""Holds `seam script` of truth_program.py, on standard input, against what its names say. Prints
counts; ends with 1 if a name or the order is wrong, or if less than the share of stacks that is
given (in percent) is whole."""
import re
import sys

FRAME = re.compile(r"^\t\s*([0-9a-f]+) (.*) \(([^()]*)\)$")
NAME = re.compile(r"n(?:_\d+[a-z])+$")
MADE = re.compile(r"py::n_0d_(\d+)d(?:_(\d+)s)?:/made/(\d+)$")
MAIN = re.compile(r"py::main:.*(?:truth|churn)_program\.py$")
BY_C = "spjc"


def stacks(lines):
    """Lists of (function, object), the innermost first."""
    stack = None
    for line in lines:
        line = line.rstrip("\n")
        if line and not line[0].isspace():
            stack = []
        elif not line:
            if stack is not None:
                yield stack
            stack = None
        elif stack is not None:
            m = FRAME.match(line)
            if m:
                stack.append((re.sub(r"\+0x[0-9a-f]+$", "", m[2]), m[3]))
    if stack:
        yield stack


def check(stack, begun):
    """What is wrong with a stack: '' if nothing, None if it does not tell. begun: main() has run."""
    python = [(i, "main()" if MAIN.match(f) else f[4:].split(":")[0].split(".")[-1])
              for i, (f, o) in enumerate(stack) if o == "[python]" and f.startswith("py::")]
    own = [(i, f[:-5] if f.endswith("_sync") else f) for i, f in python]
    own = [(i, f) for i, f in own if NAME.match(f)]
    if not any(f == "main()" for _, f in python) and not own:
        loop = any(f == "_PyEval_EvalFrameDefault" for f, _ in stack)
        return "lost: no frame of Python" if begun and loop and not python else None
    for f, _ in stack:
        made = MADE.match(f)
        if (made and made[1] != made[3]) or (made and made[2] and made[2] != made[3]):
            return f"wrong: {f}"
        if not made and "n_0d_" in f and "/made/" in f:
            return f"wrong: {f}"
    if not python or python[-1][1] != "<module>":
        return "lost: the outermost is not <module>"
    if not any(f == "main()" for _, f in python):
        return "lost: no main"
    if not own:
        return ""
    for (i, callee), (k, caller) in zip(own, own[1:]):
        parent = callee.rsplit("_", 1)[0]
        if caller == callee and callee[-1] == "r":
            continue
        if caller != parent:
            return f"wrong: {callee} is called by {caller}"
        between = [o for _, o in stack[i + 1:k]]
        if callee[-1] in BY_C and not any(o != "[python]" for o in between):
            return f"wrong: no C between {callee} and {caller}"
    if own[-1][1] != "n_0d":
        return f"lost: the outermost is {own[-1][1]}"
    return ""


def main():
    whole = lost = wrong = other = 0
    begun = False
    for stack in stacks(sys.stdin):
        verdict = check(stack, begun)
        begun = begun or verdict is not None
        if verdict is None:
            other += 1
        elif not verdict:
            whole += 1
        elif verdict.startswith("wrong"):
            wrong += 1
            print(verdict)
            if wrong < 3:
                print("\n".join(f"    {f} ({o})" for f, o in stack))
        else:
            lost += 1
            if lost < 4:
                print(verdict)
                print("\n".join(f"    {f} ({o})" for f, o in stack))
    print(f"whole {whole} lost {lost} wrong {wrong}; before and after {other}")
    told = whole + lost + wrong
    return wrong or not told or whole * 100 < float(sys.argv[1]) * told


sys.exit(1 if main() else 0)
