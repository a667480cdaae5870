# SPDX-License-Identifier: MIT
# Chains of JavaScript functions in the output of `seam script -F +srcline` against those that the program noted itself. Usage:
# truth_check.py PERCENT FILE NOTES: stacks of functions of that file. A stack is right if it begins as a noted chain does, and goes no
# other way; it is cut if functions are missing in it. A line is right if the function calls there the one that the stack has next, as it
# noted, or begins there.
import re
import sys

percent, file, notes = float(sys.argv[1]), sys.argv[2], sys.argv[3]
program = open(file).read().split("\n")
sites = [[s.rsplit("@", 1) for s in line.rstrip("\n").split("\t")[1:]] for line in open(notes)]
chains = [[name for name, _ in chain] for chain in sites]
calls = {}  # (function, callee) -> lines
for chain in sites:
    for (name, line), (callee, _) in zip(chain, chain[1:]):
        calls.setdefault((name, callee), set()).add(int(line))
calls.setdefault(("(anonymous)", "work"), set()).add(3)  # V8 calls it eval, too: what new Function() made
# what may be called anywhere: the helpers of the program
helpers = {"note", "cpu", "shape", "thrower"}
# what runs before the program waits for the first time, and behind that
chains += [["main", "waits", "later", "work"], ["main", "cpu"], ["waits"], ["(anonymous)", "main", "waits", "later", "work"]]
chains += [c[: c.index("rise")] + ["Derived"] for c in chains if "rise" in c] + [c[: c.index("made")] + ["Derived"] for c in chains if "made" in c]
frame = re.compile(r"^\s+[0-9a-f]+ js::(.*):(\S+)(?:\+0x[0-9a-f]+)? \((?:\[v8\]|inlined)\)$")
srcline = re.compile(r"^  (\S+):(\d+)$")
total = right = full = lines = exact = unsure = unknown = 0
bad = {}
wrong_lines = {}


def begins(name):
    """The lines where a function of that name begins."""
    word = re.escape(name.removeprefix("get "))
    where = re.compile(rf"function\s*\*?\s*{word}\s*\(|^\t?(?:static |get |async )*{word}\(.*\) \{{|^class {word}\b")
    return {i for i, line in enumerate(program, 1) if (where.search(line) if name != "(anonymous)" else "=>" in line or "function (" in line or i == 1)}


first = {}


def judge_lines(names, where):
    """Lines of the frames that call the next one, if that is noted."""
    global lines, exact, unsure, unknown
    for name, callee, line in zip(names, names[1:], where):
        if name not in first:
            first[name] = begins(name)
        if (name, callee) not in calls or name in ("eval", "evil"):
            unsure += 1
        elif not line:
            unknown += 1
        elif line in calls[(name, callee)]:
            lines += 1
            exact += line not in first[name]
        elif line in first[name]:
            lines += 1
        else:
            wrong_lines[(name, callee, line)] = wrong_lines.get((name, callee, line), 0) + 1


def verdict(names):
    for chain in chains:
        if names == chain[: len(names)]:
            return "right"
    for n in range(len(names) - 1, 0, -1):
        if any(names[:n] == chain[:n] for chain in chains):
            # a helper, or what it calls, is below: not noted
            if names[n] in helpers or names[n] == "(anonymous)":
                return "right"
            break
    for chain in chains:
        rest = iter(chain)
        if all(name in rest for name in names):
            return "cut"
    return "wrong"


for block in sys.stdin.read().split("\n\n"):
    names, where = [], []
    taken = False
    for line in block.split("\n")[1:]:
        m = frame.match(line)
        at = srcline.match(line)
        if not at:
            taken = m is not None and m.group(2) in (file, "<anonymous>")
        if m and taken:
            names.append(m.group(1))
            where.append(0)
        elif at and taken:
            where[-1] = int(at.group(2))
    if not names:
        continue
    names.reverse()
    where.reverse()
    total += 1
    v = verdict(names)
    if v == "right":
        right += 1
        full += names[-1] == "work"
        judge_lines(names, where)
    else:
        bad[(v, tuple(names))] = bad.get((v, tuple(names)), 0) + 1
for (v, names), n in sorted(bad.items(), key=lambda item: -item[1])[:20]:
    print(n, v, " ".join(names))
for (name, callee, line), n in sorted(wrong_lines.items(), key=lambda item: -item[1])[:20]:
    print(n, f"times {name} calls {callee} in line {line}, which it does in {sorted(calls[(name, callee)])} and begins in {sorted(first[name])}")
wrong = sum(n for (v, _), n in bad.items() if v == "wrong")
cut = sum(n for (v, _), n in bad.items() if v == "cut")
astray = sum(wrong_lines.values())
print(f"{lines} lines right ({exact} of them not where the function begins), {astray} wrong, {unknown} not known, {unsure} not noted")
print(f"{total} stacks, {right} right ({full} down to the work), {cut} cut, {wrong} wrong")
good = total and wrong == 0 and right >= total * percent / 100 and astray == 0 and exact and unknown * 100 <= lines
sys.exit(0 if good else 1)
