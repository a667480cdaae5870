# SPDX-License-Identifier: MIT
"""Reads `seam script -F comm,ip,sym,state` of Locks.java: every stack that does not say what it lacks has the callers that its methods
have, down to the start of its thread; at most one in 200 lacks something; and as many as are asked for are in the stubs for locks."""
import re
import sys

CALLERS = {"inner": ["middle"], "middle": ["outer"], "outer": ["main"], "below1": ["outer"], "below2": ["below1"], "below3": ["below2", "below3"]}
STARTS = ["main", "lambda$main$0"]  # of the first thread, and of the one that waits for the lock
stacks = stubs = lacking = wrong = 0
for block in sys.stdin.read().split("\n\n"):
    names = re.findall(r"java::Locks\.([\w$]+)", block)
    if not names:
        continue
    stacks += 1
    stubs += "C1 Runtime monitor" in block
    if re.match(r".* \w+/\w+ *\n", block):  # the state of a sample whose stack is not whole: immediate/no_rule
        lacking += 1
    elif names[-1] not in STARTS or any(caller not in CALLERS.get(name, []) for name, caller in zip(names, names[1:])):
        wrong += 1
        print("wrong: " + " < ".join(names))
        print(block)
print("%d stacks, %d in a stub, %d lacking, %d wrong" % (stacks, stubs, lacking, wrong))
sys.exit(wrong > 0 or lacking * 200 > stacks or stubs < int(sys.argv[1]))
