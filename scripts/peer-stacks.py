#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares stacks that other tools read from a converted recording with seam's of the original.

    peer-stacks.py perfparser SEAM_TEXT FILE    hotspot-perfparser's stream
    peer-stacks.py samply SEAM_TEXT FILE        samply's profile

SEAM_TEXT: seam script --ns -F pid,tid,time,ip. Both tools say one less than the return address for
a caller. samply says an address in a library, and perfparser the first address that it met a place
in a library at, so user addresses are compared within their page. samply's samples are paired by
thread and time; it shows none of the idle task. perfparser puts the sample's own ip in front of the
user part of every chain that begins in the kernel (as it does, too, with what perf records with
--call-graph fp). --cut N, in front of the tool: in N samples seam ends the callchain in front of a
word of data (ended_at_data of its report), which the converted file has as it was recorded: in no
more of them these tools may show something behind seam's frames. Prints how many samples are the
same; exit 1 when one differs.
"""
import collections
import gzip
import itertools
import json
import re
import struct
import sys

HEAD = re.compile(r"^\s*(-?\d+)/(-?\d+)\s+(\d+)\.(\d{9}):")
LOCATION, SAMPLE = 3, 13  # perfparser's types of message


def seam_text(path):
    samples, chain = [], None
    for line in open(path, errors="replace"):
        head = HEAD.match(line)
        if head:
            chain = []
            samples.append((int(head[3] + head[4]), int(head[2]), chain))
        elif line.strip() and chain is not None:
            chain.append(int(line.split()[0], 16))
    return samples


def perfparser(path):
    data = open(path, "rb").read()
    if not data.startswith(b"QPERFSTREAM\0"):
        sys.exit("not a stream of perfparser")
    at, where, samples = 16, {}, []
    while at < len(data):
        size, = struct.unpack_from("<I", data, at)
        message = data[at + 4:at + 4 + size]
        at += 4 + size
        if message[0] == LOCATION:
            number, address = struct.unpack_from(">iQ", message, 1)
            parent = struct.unpack_from(">i", message, size - 4)[0]
            where[number] = address
        elif message[0] == SAMPLE:
            pid, tid, time, cpu, n = struct.unpack_from(">IIQII", message, 1)
            ids = struct.unpack_from(">%di" % n, message, 25)
            samples.append((time, tid, ids))
    return [(time, tid, [where[i] for i in ids]) for time, tid, ids in samples]


def samply_threads(path):
    """(tid, nanoseconds since samply's start, innermost last) of each sample."""
    opened = gzip.open if open(path, "rb").read(2) == b"\x1f\x8b" else open
    for thread in json.load(opened(path, "rt"))["threads"]:
        table, frames, funcs = thread["stackTable"], thread["frameTable"], thread["funcTable"]
        stacks = []
        for prefix, frame in zip(table["prefix"], table["frame"]):
            address = frames["address"][frame]
            if address < 0:
                name = thread["stringArray"][funcs["name"][frames["func"][frame]]]
                address = int(name, 16) if name.startswith("0x") else None
            stacks.append(([] if prefix is None else stacks[prefix]) + [address])
        samples = thread["samples"]
        times = samples.get("time") or itertools.accumulate(samples["timeDeltas"])
        for stack, time in zip(samples["stack"], times):
            yield (int(str(thread["tid"]).split(".")[0]), round(time * 1e6),
                   [] if stack is None else stacks[stack])


def page_form(chain):
    """Innermost first; user frames that called are one less. Both forms of an address are kept."""
    return [{ip & 0xfff, (ip - 1) & 0xfff} for ip in chain]


def samply_start(seam, theirs):
    """The time at which samply's times begin, which is not in the file: most samples find their like."""
    mine = {(tid, time) for time, tid, _ in seam}
    first = min(theirs, key=lambda s: s[1])
    starts = sorted({time - first[1] for time, tid, _ in seam if tid == first[0]})[:16]
    near = lambda time, tid: any((tid, time + d) in mine for d in (-1, 0, 1))
    return max(starts, default=0, key=lambda start: sum(near(start + s[1], s[0]) for s in theirs))


class Cut:
    """How many chains may still have more than seam's."""
    left = 0

    @classmethod
    def allows(cls, ours, theirs):
        if not ours or len(theirs) <= len(ours) or not cls.left:
            return False
        cls.left -= 1
        return True


def compare_samply(seam, path):
    """Samples are paired by thread and time: events, and CPUs that a thread moved between, come in
    any order. samply shows no idle task (tid 0)."""
    theirs = list(samply_threads(path))
    seam = [s for s in seam if s[1]]
    if not theirs:
        sys.exit("samply: no samples, seam has %d" % len(seam))
    start = samply_start(seam, theirs)
    waiting = collections.defaultdict(list)
    for tid, time, chain in theirs:
        waiting[tid, start + time].append(chain[::-1])
    same = frames = wrong = 0
    for time, tid, chain in seam:
        near = [waiting[tid, time + d] for d in (0, -1, 1) if waiting.get((tid, time + d))]
        there = near[0] if near else []
        begins = [b for b in there if len(chain) <= len(b) and all(
            y is None or y & 0xfff in x for x, y in zip(page_form(chain), b))]
        like = [b for b in begins if len(chain) == len(b)]
        like = like or [b for b in begins[:1] if Cut.allows(chain, b)]
        same += bool(like)
        wrong += not like
        frames += len(chain)
        if like:
            there.remove(like[0])
        elif wrong <= 3:
            print("thread %d: seam   %s\n           samply %s" % (
                tid, [hex(x) for x in chain],
                [[y if y is None else hex(y) for y in b] for b in there]))
    left = sum(map(len, waiting.values())) - wrong
    if left > 0:
        print("samply: %d samples that seam has not" % left)
    return same, wrong + max(left, 0), frames


def mask(ip):
    return (1 << 64) - 1 if ip >> 63 else 0xfff


def with_ip(chain):
    user = next((i for i, ip in enumerate(chain) if not ip >> 63), 0)
    return chain[:user] + chain[:1] + chain[user:] if user else chain


def compare_perfparser(seam, path):
    theirs = perfparser(path)
    # A sample of a group is one per member in seam's text, and one there.
    seam = [s for i, s in enumerate(seam) if not i or s != seam[i - 1]]
    if len(seam) != len(theirs):
        sys.exit("samples: seam %d, perfparser %d" % (len(seam), len(theirs)))
    order = lambda s: (s[0], s[1])
    same = wrong = frames = 0
    for a, b in zip(sorted(seam, key=order), sorted(theirs, key=order)):
        wanted = with_ip(a[2])
        good = a[:2] == b[:2] and len(wanted) <= len(b[2]) and all(
            y & mask(x) in (x & mask(x), x - 1 & mask(x)) for x, y in zip(wanted, b[2]))
        good = good and (len(wanted) == len(b[2]) or Cut.allows(wanted, b[2]))
        same += good
        wrong += not good
        frames += len(a[2])
        if not good and wrong <= 3:
            print("seam       %s\nperfparser %s" % (
                (a[0], a[1], [hex(x) for x in a[2]]), (b[0], b[1], [hex(x) for x in b[2]])))
    return same, wrong, frames


def main():
    tool, text, path = sys.argv[-3:]
    if sys.argv[1] == "--cut":
        Cut.left = int(sys.argv[2])
    compare = {"samply": compare_samply, "perfparser": compare_perfparser}[tool]
    same, wrong, frames = compare(seam_text(text), path)
    print("%d samples, %d frames: %d the same, %d not" % (same + wrong, frames, same, wrong))
    sys.exit(1 if wrong or not same else 0)


main()
