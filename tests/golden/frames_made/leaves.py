# SPDX-License-Identifier: MIT
"""leaves.py FORMAT: how much of an export of one event (standard input) belongs to which innermost frame.

json: a profile's own; speedscope, firefox, pprof: what the readers of these formats would call self.
"""
import gzip
import importlib.machinery
import importlib.util
import json
import os
import sys


def of_json():
    whole = json.load(sys.stdin)
    for row in whole["rows"]:
        # A stack is its caller's stack and a frame; 0 is empty.
        frame = whole["frames"][whole["stacks"][row["stack"]][1]]
        yield frame["symbol"] or frame["kind"], row["samples"]


def of_speedscope():
    whole = json.load(sys.stdin)
    for profile in whole["profiles"][:1]:
        for stack, weight in zip(profile["samples"], profile["weights"]):
            yield whole["shared"]["frames"][stack[-1]]["name"], weight


def of_firefox():
    whole = json.load(sys.stdin)
    shared = whole["shared"]
    for thread in whole["threads"]:
        samples = thread["samples"]
        for stack, weight in zip(samples["stack"], samples["weight"] or [1] * samples["length"]):
            function = shared["frameTable"]["func"][shared["stackTable"]["frame"][stack]]
            yield shared["stringArray"][shared["funcTable"]["name"][function]], round(weight * 1e6)


def of_pprof():
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "show_proto")
    loader = importlib.machinery.SourceFileLoader("show_proto", path)
    proto = importlib.util.module_from_spec(importlib.util.spec_from_loader("show_proto", loader))
    loader.exec_module(proto)
    fields = proto.parse(gzip.decompress(sys.stdin.buffer.read()))
    texts = [value.decode() for number, value in fields if number == 6]
    functions, locations = {}, {}
    for number, value in fields:
        one = dict(reversed(proto.parse(value))) if number in (4, 5) else {}
        if number == 5:
            functions[one[1]] = texts[one[2]]
        if number == 4:  # the first line is the innermost; without one there is an address alone
            locations[one[1]] = dict(proto.parse(one[4]))[1] if 4 in one else None
    for number, value in fields:
        if number == 2:
            sample = dict(proto.parse(value))
            leaf = locations[proto.varint(sample[1], 0)[0]]
            _, at = proto.varint(sample[2], 0)
            yield functions.get(leaf, "without a name"), proto.varint(sample[2], at)[0]


leaves = {}
for name, weight in globals()["of_" + sys.argv[1]]():
    leaves[name] = leaves.get(name, 0) + weight
for name in sorted(leaves):
    print(leaves[name], name)
