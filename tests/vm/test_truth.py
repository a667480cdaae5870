#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The judge is judged: each kind of wrong stack must be found, and a right one must pass."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import oracle  # noqa: E402
import truth  # noqa: E402

SYMBOLS = """ffffffff81000000 T __x64_sys_pread64
ffffffff81000100 T __x64_sys_execve
ffffffff81000200 T entry_SYSCALL_64_after_hwframe
"""
PREAD, EXECVE, ENTRY = "ffffffff81000010", "ffffffff81000110", "ffffffff81000210"


def chain(family, first=0, skip=()):
    names = ["leaf", *map(str, range(1, truth.DEPTH + 1))]
    return [f"{family}_{name}" for at, name in enumerate(names) if at >= first and at not in skip]


def text(kernel, user, dso="/wl/deep", comm="deep", time=1.5):
    lines = [f"{comm}     7/7 [001]     {time:.6f}:     500000 cpu-clock: "]
    lines += [f"\t{ip} whatever+0x10 ([kernel.kallsyms])" for ip in kernel]
    lines += [f"\t    55bc82fa9448 {name}+0x1 ({dso})" for name in user]
    return "\n".join(lines) + "\n\n"


class Files(unittest.TestCase):
    def setUp(self):
        handle = tempfile.TemporaryDirectory()
        self.addCleanup(handle.cleanup)
        self.directory = handle.name

    def path(self, name, content):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(content)
        return path


class Truth(Files):
    def faults(self, content, execs=None, loads=None):
        kallsyms = truth.Kallsyms(self.path("kallsyms", SYMBOLS))
        samples = truth.parse(self.path("script", content), kallsyms)
        return list(truth.check(samples, execs or {}, loads or {}, "/wl")[0])

    def test_right_chains(self):
        for kernel, user in (([PREAD, ENTRY], chain("zero")), ([], chain("spin")),
                             ([], chain("spin", first=4)), ([], chain("zero", skip=[1])),
                             ([PREAD, ENTRY], [])):
            self.assertEqual(self.faults(text(kernel, [*user, "main"] if user else [])), [])

    def test_wrong_chains(self):
        for kernel, user in (([PREAD, ENTRY], chain("spin")), ([PREAD, ENTRY], chain("zero", skip=[1])),
                             ([PREAD, ENTRY], []), ([], chain("zero", skip=[7])),
                             ([], chain("zero")[:20]), ([], chain("zero")[:9] + chain("spin")[9:]),
                             ([], ["main", *chain("zero")])):
            self.assertEqual(len(self.faults(text(kernel, [*user, "main"]))), 1, user[:3])
        self.assertEqual(len(self.faults(text([], chain("zero")))), 1)  # without a caller

    def test_unanswered(self):
        def faults(state, kernel, user):
            return self.faults(text(kernel, user).replace(" cpu-clock", f" {state} cpu-clock"))

        self.assertEqual(faults("exited", [], ["spin_4"]), [])
        self.assertEqual(len(faults("stitched", [], ["spin_4"])), 1)
        self.assertEqual(len(faults("immediate/no_rule", [], ["spin_4"])), 1)
        self.assertEqual(len(faults("exited", [], ["spin_4", "spin_5"])), 1)
        self.assertEqual(len(faults("exited", [PREAD, ENTRY], ["zero_leaf"])), 1)

    def test_exec(self):
        inside = text([EXECVE, ENTRY], ["_start"], "/usr/lib/ld-linux-x86-64.so.2", time=1.5)
        self.assertEqual(len(self.faults(inside, {7: [1.6]})), 1)
        self.assertEqual(self.faults(inside, {7: [1.4]}), [])
        outside = text([], [*chain("zero"), "main"], time=1.55)
        self.assertEqual(self.faults(inside + outside, {7: [1.6]}), [])
        self.assertEqual(self.faults(inside, {7: [1.6]}, {7: [1.55]}), [])  # it ran before the next exec
        self.assertEqual(len(self.faults(inside, {7: [1.6]}, {7: [1.45, 1.7]})), 1)

    def test_foreign_lines(self):
        with self.assertRaises(ValueError):
            self.faults("neither this nor that\n")


class Oracle(Files):
    def test_outcomes(self):
        sample = "deep     7/7         {:.6f}: \n\tffffffff81000010\n\t    {:x}\n\n"
        answer = "deep     7/7         {:.6f}: DEFERRED CALLCHAIN [cookie: {:x}]\n\t    55bc82fa9448\n\n"
        cookies = [(2 * n + 1) << 32 | 2 for n in range(4)]
        content = (sample.format(1.0, cookies[0]) + answer.format(1.1, cookies[0])
                   + sample.format(1.2, cookies[0]) + sample.format(2.0, cookies[1])
                   + answer.format(2.2, cookies[1]) + sample.format(3.0, cookies[2])
                   + sample.format(3.1, 0x55bc82fa9448))
        counts = oracle.count(self.path("unmerged", content), {7: [2.1]})
        self.assertEqual(counts, {"stitched": 1, "stitched_earlier": 1, "crossed_exec": 1,
                                  "unanswered": 1})


if __name__ == "__main__":
    unittest.main()
