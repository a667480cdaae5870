# SPDX-License-Identifier: MIT
"""Counts what must have become of each sample, without seam: from the peer's unmerged text.

Knows how perf prints a deferred sample (its cookie as the last address) and a deferred record. What
cannot be known from outside, why an answer is missing, is one number here: unanswered.
"""

import re
from dataclasses import dataclass

HEAD = re.compile(r"^\s*\S.*?\s+(?P<pid>-?\d+)/(?P<tid>-?\d+)\s+(?P<time>\d+\.\d+):"
                  r"(?P<answer> DEFERRED CALLCHAIN \[cookie: (?P<cookie>[0-9a-f]+)\])?\s*$")
KERNEL_HALF = 1 << 63
CPUS = 2  # of a guest


@dataclass
class Record:
    tid: int
    time: float
    cookie: int
    user: list


def read(path):
    """(samples, {cookie: answer}) of perf script -F comm,pid,tid,time,ip --no-merge-callchains."""
    samples, answers = [], {}
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            head = HEAD.match(line)
            if head:
                cookie = int(head["cookie"], 16) if head["answer"] else 0
                record = Record(int(head["tid"]), float(head["time"]), cookie, [])
                if head["answer"]:
                    answers[cookie] = record
                else:
                    samples.append(record)
            elif line.strip() and int(line, 16) < KERNEL_HALF:
                record.user.append(int(line, 16))
    return samples, answers


def cookie_of(sample):
    """The only address that is not the kernel's. Its low half is the CPU plus 1, its high half odd: no
    code lies in the first bytes of such a range."""
    if len(sample.user) != 1:
        return 0
    only = sample.user[0]
    return only if 0 < only & 0xffffffff <= CPUS and only >> 32 & 1 else 0


def count(path, execs):
    """{"stitched", "stitched_earlier", "crossed_exec", "unanswered": number of samples}."""
    samples, answers = read(path)
    counts = dict.fromkeys(("stitched", "stitched_earlier", "crossed_exec", "unanswered"), 0)
    for sample in samples:
        cookie = cookie_of(sample)
        if not cookie:
            continue
        answer = answers.get(cookie)
        if not answer or answer.tid != sample.tid:
            counts["unanswered"] += 1
        elif answer.time < sample.time:
            counts["stitched_earlier"] += 1
        elif any(sample.time < time <= answer.time for time in execs.get(sample.tid, [])):
            counts["crossed_exec"] += 1
        else:
            counts["stitched"] += 1
    return counts
