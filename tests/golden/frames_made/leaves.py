# SPDX-License-Identifier: MIT
"""How many samples of a seam export --format json (standard input) have which innermost frame."""
import json
import sys

whole = json.load(sys.stdin)
leaves = {}
for row in whole["rows"]:
    # A stack is its caller's stack and a frame; 0 is empty.
    frame = whole["frames"][whole["stacks"][row["stack"]][1]]
    name = frame["symbol"] or frame["kind"]
    leaves[name] = leaves.get(name, 0) + row["samples"]
for name in sorted(leaves):
    print(leaves[name], name)
