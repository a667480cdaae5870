# SPDX-License-Identifier: MIT
"""Reads `seam script` of Locks.java: every stack has the callers that its methods have, and as many as are asked for are in the stubs for
locks."""
import re
import sys

CALLERS = {"inner": ["middle"], "middle": ["outer"], "outer": ["main"], "below1": ["outer"], "below2": ["below1"], "below3": ["below2", "below3"]}
stacks = [re.findall(r"java::Locks\.(\w+)", block) + ["stub"] * ("C1 Runtime monitor" in block) for block in sys.stdin.read().split("\n\n")]
stacks = [stack for stack in stacks if stack[:1] not in ([], ["stub"])]
stubs = sum(stack[-1] == "stub" for stack in stacks)
wrong = 0
for stack in stacks:
    names = [name for name in stack if name != "stub"]
    if names[-1] != "main" or any(caller not in CALLERS.get(name, []) for name, caller in zip(names, names[1:])):
        wrong += 1
        print("wrong: " + " < ".join(names))
print("%d stacks, %d in a stub, %d wrong" % (len(stacks), stubs, wrong))
sys.exit(wrong > 0 or stubs < int(sys.argv[1]))
