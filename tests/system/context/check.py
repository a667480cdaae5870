#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads seam script -F comm,tid,event,label,ip,sym: in each stack with one of the functions that say who they are, the label
`function` must say the same. Prints how many were right, wrong, and had no label although they should."""
import re
import sys

SAYS = {"alpha": "alpha", "beta": "beta", "inner": "inner", "inherited": "inherited", "nobody": None, "detached": None}
right = wrong = missing = 0
for block in sys.stdin.read().split("\n\n"):
    head, _, frames = block.partition("\n")
    label = re.search(r"\{(.*)\} ", head)
    names = [re.sub(r"^main\.", "", line.split()[-1]) for line in frames.split("\n") if line.split()]
    inside = [n for n in names if n in SAYS]
    if not label or not inside:
        continue
    said = re.search(r"(?:^| )function=(\S*)", label.group(1))
    said = said.group(1) if said else None
    if said == SAYS[inside[0]]:
        right += 1
    elif said is None:
        missing += 1
    else:
        wrong += 1
        print("# wrong:", block.replace("\n", "\n# "), file=sys.stderr)
print(right, wrong, missing)
