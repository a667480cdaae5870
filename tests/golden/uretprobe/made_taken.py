# SPDX-License-Identifier: MIT
"""A made-up recording with a uretprobe's trampoline in a caller's place. Writes made.data here."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data_words"))

import made_words as words  # noqa: E402
from made import KERNEL, USER  # noqa: E402

TRAMPOLINE, OTHER, PID = 0x7FFFFFFFE000, 0x7FFFFFFFC000, 70
words.CHAINS = (
    (USER, 0x400100, TRAMPOLINE, 0x400200),  # two callers were taken
    (USER, 0x400100, TRAMPOLINE, TRAMPOLINE, 0x400200),
    (KERNEL, 0xFFFFFFFF81000010, USER, TRAMPOLINE, 0x400200),  # execution stopped in it
    (KERNEL, 0xFFFFFFFF81000010, USER, 0x400100, TRAMPOLINE),
    (USER, 0x400100, 0x400200),
    (USER, 0x400100, OTHER + 16, 0x400200),  # where a probe is called is a caller as any
)


def main():
    records = [words.made.kernel_mmap(0xFFFFFFFF81000000, 0x1000), *words.program(1100, PID)]
    for name, start in (("[uprobes]", TRAMPOLINE), ("[uprobes-trampoline]", OTHER)):
        records.append(words.mmap2(1100, PID, start, 0x1000, words.EXEC, name))
    for i, chain in enumerate(words.CHAINS):
        records.append(words.sample(2000 + i, PID, chain))
    words.write(records)


main()
