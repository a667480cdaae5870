#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares stacks: what seam shows of a recording and what another tool shows of the converted one.

    convert_stacks.py SEAM_TEXT PERF_DUMP            raw chains of perf script -D, word by word
    convert_stacks.py --text SEAM_TEXT PERF_TEXT     perf script's own lines

SEAM_TEXT: seam script --ns -F pid,tid,time,ip. PERF_TEXT: the same fields of perf script with
--no-inline. Options come in front of the files. --cut N: in N samples seam ends the callchain in front
of a word of data (ended_at_data of its report), which the converted file has as it was recorded, and
perf shows. --dump SEAM_DUMP, of a file with deferred stacks: a sample that is taken on the way back to
user space, behind its own user stack, has that stack in seam, and the bare cookie in perf. perf before
6.9 shows user addresses as offsets in their file, so with --text user addresses are compared within
their page, kernel ones whole. Prints how many samples are the same.
"""
import re
import sys

HEAD = re.compile(r"^\s*(-?\d+)/(-?\d+)\s+(\d+)\.(\d{9}):")
DUMP = re.compile(r"^(?:-?\d+ )?(\d+) 0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_SAMPLE\(.*?\): (-?\d+)/(-?\d+): (0x)?[0-9a-f]+")
DEFERRED = re.compile(r"^(?:-?\d+ )?(\d+) .* PERF_RECORD_CALLCHAIN_DEFERRED\(.*: (0x[0-9a-f]+)$")
CONTEXT = 0xfffffffffffff001


def text(path):
    samples, chain = [], None
    for line in open(path, errors="replace"):
        head = HEAD.match(line)
        if head:
            chain = []
            samples.append((int(head[3] + head[4]), int(head[1]), int(head[2]), chain))
        elif line.strip() and chain is not None:
            chain.append(int(line.split()[0], 16))
    return samples


def dump(path):
    samples, chain, left = [], None, 0
    for line in open(path, errors="replace"):
        head = DUMP.match(line)
        if head:
            chain = []
            samples.append((int(head[1]), int(head[2]), int(head[3]), chain))
        elif chain is not None and re.match(r"^\.\.\. (FP chain|chain): nr:", line):
            left = int(line.rsplit(":", 1)[1])
        elif left and line.startswith("....."):
            word = int(line.rsplit(":", 1)[1].split()[0], 16)
            left -= 1
            if word < CONTEXT:
                chain.append(word)
    return samples


def deferred(path):
    """When each cookie's user stack was recorded."""
    heads = filter(None, map(DEFERRED.match, open(path, errors="replace")))
    return {int(head[2], 16): int(head[1]) for head in heads}


def main():
    by_page = "--text" in sys.argv
    stacks = deferred(sys.argv[sys.argv.index("--dump") + 1]) if "--dump" in sys.argv else {}
    seam_path, perf_path = sys.argv[-2:]
    cut = int(sys.argv[sys.argv.index("--cut") + 1]) if "--cut" in sys.argv else 0
    seam = text(seam_path)
    perf = text(perf_path) if by_page else dump(perf_path)
    if by_page:  # perf shows a sample whose second half comes late behind those that it has meanwhile
        seam.sort(key=lambda s: s[:3])
        perf.sort(key=lambda s: s[:3])
    if not by_page:  # a line per record there; here one per member of its group
        seam = [s for i, s in enumerate(seam) if not i or s != seam[i - 1]]

    def form(sample):
        if not by_page:
            return sample
        return sample[:3] + ([ip if ip >> 63 else ip & 0xfff for ip in sample[3]],)

    if not seam or len(seam) != len(perf):
        sys.exit("samples: seam %d, perf %d" % (len(seam), len(perf)))
    wrong, behind = [], 0
    for i, (ours, theirs) in enumerate(zip(map(form, seam), map(form, perf))):
        longer = ours[3] and len(theirs[3]) > len(ours[3])
        if cut and longer and theirs[:3] + (theirs[3][:len(ours[3])],) == ours:
            cut -= 1
        elif perf[i][3] and stacks.get(perf[i][3][-1], perf[i][0]) < perf[i][0] and \
                ours[3][:len(theirs[3]) - 1] == theirs[3][:-1] and len(ours[3]) >= len(theirs[3]):
            behind += 1
        elif ours != theirs:
            wrong.append(i)
    for i in wrong[:3]:
        print("sample %d: seam %s\n          perf %s" % (i, *(
            (s[:3], [hex(ip) for ip in s[3]]) for s in (seam[i], perf[i]))))
    if cut:
        sys.exit("%d callchains fewer than reported end in front of data" % cut)
    if wrong:
        sys.exit("%d of %d samples differ" % (len(wrong), len(seam)))
    print("%d samples, %d frames: the same%s" % (len(seam), sum(len(s[3]) for s in seam),
          ", but %d behind their user stack" % behind if behind else ""))


main()
