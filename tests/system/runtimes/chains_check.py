#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""chains_check.py PREFIX NOTES LEAST [NATIVE] < script: holds the chains of an interpreter's functions in each sample against the
chains that the program noted itself (chains_program.*), by the function leaf_X that is in both. NATIVE is the native function
that runs them. The last line tells what was seen. Wrong is none, whole are 99.5 % of the samples in such a function, which are
LEAST at least."""
import functools
import json
import re
import sys

prefix, notes, least = sys.argv[1], sys.argv[2], int(sys.argv[3])
native = sys.argv[4] if len(sys.argv) > 4 else None
WORKS = re.compile(r"(^|[#.:])(work|used)$")
LEAF = re.compile(r"leaf_\w+")


@functools.lru_cache(maxsize=None)
def function(name):
    """Without prefix and file, whose ":" is a single one outside of brackets."""
    name = re.sub(r"\\+", r"\\", name)  # as it is shown, or, of a converted file, shown twice
    name = re.sub(r"\{(closure):[^}]*\}", r"{\1}", name[len(prefix):])
    return re.sub(r"(?<!:):(?!:).*", "", name, count=1)


@functools.lru_cache(maxsize=None)
def shown_name(text):
    """Without the object behind it."""
    return re.match(r"(.*?)(?: \(([^()]*)\))?$", text).group(1)


def shown(name):
    """As it was noted, without what stands behind a 0: the place of a class without a name."""
    return re.sub("\0.*?(?=::(leaf|churn))", "", name)


chains = {}
for line in open(notes):
    chain = [re.sub(r"\{closure:[^}]*\}", "{closure}", shown(f)) for f in json.loads(line)]
    chains.setdefault(LEAF.search(chain[0]).group(), set()).add(tuple(chain))

seen, whole, wrong, lost, told = {}, 0, 0, 0, []


def judge(frames, natives):
    global whole, wrong, lost
    names = [function(f) for f in frames]
    at = next((i for i, n in enumerate(names) if "leaf_" in n), None)
    if at is None:
        if any(WORKS.search(n) for n in names[:2]):
            lost += 1
            told.append("no leaf: %s" % names)
        elif not names and native and any(n.startswith(native) for n in natives):
            # While a thread of Perl makes an interpreter it has that one, whose functions are none yet. While Ruby moves objects their
            # pages cannot be read; how much of its time that is differs by machine.
            lost += not {"perl_clone", "mprotect"} & set(natives)
        return
    leaf = LEAF.search(names[at]).group()
    chain = tuple(names[at:])
    if chain in chains.get(leaf, ()):
        whole += 1
        seen[leaf] = seen.get(leaf, 0) + 1
    elif any(chain == c[:len(chain)] for c in chains.get(leaf, ())):
        lost += 1
        told.append("cut: %s" % (chain,))
    else:
        wrong += 1
        told.append("wrong: %s\n  noted: %s" % (chain, sorted(chains.get(leaf, ()))[:1]))


frames, natives, any_line = [], [], False
for line in sys.stdin:
    if not line.strip():
        judge(frames, natives)
        frames, natives = [], []
    elif line.startswith("\t"):
        name = shown_name(line.split(None, 1)[1].rstrip("\n"))
        (frames if name.startswith(prefix) else natives).append(name)
judge(frames, natives)
lasting = set(leaf for leaf in chains if not re.search(r"churn|again", leaf))  # the others are over in no time
missing = sorted(lasting - set(seen))
for line in told[:20]:
    print(line)
if missing:
    print("never seen:", *missing)
print("whole %d, lost %d, wrong %d, leaves %d of %d" % (whole, lost, wrong, len(seen), len(chains)))
sys.exit(wrong > 0 or whole < least or whole * 1000 < 995 * (whole + lost) or len(missing) * 5 > len(lasting))
