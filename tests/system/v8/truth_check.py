# SPDX-License-Identifier: MIT
# Chains of JavaScript functions in `seam script`'s output against those that the program noted itself. Usage: truth_check.py PERCENT FILE
# NOTES: stacks of functions of that file. A stack is right if it begins as a noted chain does, and goes no other way; it is cut if functions
# are missing in it.
import re
import sys

percent, file, notes = float(sys.argv[1]), sys.argv[2], sys.argv[3]
chains = [line.rstrip("\n").split("\t")[1:] for line in open(notes)]
# what may be called anywhere: the helpers of the program
helpers = {"note", "cpu", "shape", "thrower"}
# what runs before the program waits for the first time, and behind that
chains += [["main", "waits", "later", "work"], ["main", "cpu"], ["waits"], ["(anonymous)", "main", "waits", "later", "work"]]
chains += [c[: c.index("rise")] + ["Derived"] for c in chains if "rise" in c] + [c[: c.index("made")] + ["Derived"] for c in chains if "made" in c]
frame = re.compile(r"^\s+[0-9a-f]+ js::(.*):(\S+)(?:\+0x[0-9a-f]+)? \((?:\[v8\]|inlined)\)$")
total = right = full = 0
bad = {}


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
    names = []
    for line in block.split("\n")[1:]:
        m = frame.match(line)
        if m and (m.group(2) == file or m.group(2) == "<anonymous>"):
            names.append(m.group(1))
    if not names:
        continue
    names.reverse()
    total += 1
    v = verdict(names)
    if v == "right":
        right += 1
        full += names[-1] == "work"
    else:
        bad[(v, tuple(names))] = bad.get((v, tuple(names)), 0) + 1
for (v, names), n in sorted(bad.items(), key=lambda item: -item[1])[:20]:
    print(n, v, " ".join(names))
wrong = sum(n for (v, _), n in bad.items() if v == "wrong")
cut = sum(n for (v, _), n in bad.items() if v == "cut")
print(f"{total} stacks, {right} right ({full} down to the work), {cut} cut, {wrong} wrong")
sys.exit(0 if total and wrong == 0 and right >= total * percent / 100 else 1)
