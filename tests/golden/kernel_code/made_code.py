# SPDX-License-Identifier: MIT
"""Two BPF programs that lie at one address, one after the other, and kernel code that stays: made_code.py OUT BROKEN"""
import os
import sys

sys.path.insert(0, sys.argv[2])
import make as m  # noqa: E402

KERNEL, PROGRAM, STAYS = 2**64 - 128, 0xffffffffc0000000, 0xffffffff81000100


def ksymbol(time, name, gone=0):
    return m.record(17, m.u64(PROGRAM) + m.u32(64) + m.u16(1) + m.u16(gone) + m.text(name) + m.trailer(time))


def sample(time, *chain):
    """In the kernel, at the first of the addresses."""
    ident, ip = m.u64(11), m.u64(chain[0])
    return m.record(9, ident + ip + m.u32(70) * 2 + m.u64(time) + m.u64(0) + m.u64(1) + m.u64(1 + len(chain)) +
                    b"".join(map(m.u64, (KERNEL, *chain))), 1)


with open(sys.argv[1], "wb") as f:
    f.write(m.u64(m.MAGIC) + m.u64(16) + m.record(64, m.attr() + m.u64(11)))
    f.write(m.record(1, m.u32(2**32 - 1) + m.u32(0) + m.u64(0xffffffff81000000) + m.u64(0x1000000) + m.u64(0xffffffff81000000) +
                     m.text("[kernel.kallsyms]_text") + m.trailer(0), 1))
    for time in (2000, 5000, 8000, 11000):
        if time == 5000:
            f.write(ksymbol(4000, "bpf_prog_a"))
        if time == 8000:
            f.write(ksymbol(6000, "bpf_prog_a", 1) + ksymbol(7000, "bpf_prog_b"))
        if time == 11000:
            f.write(ksymbol(10000, "bpf_prog_b", 1))
        # A leaf, a caller whose return address is behind the program's last byte, and stacks that touch none of it.
        f.write(sample(time, PROGRAM + 16, STAYS) + sample(time + 100, STAYS, PROGRAM + 64) + sample(time + 200, STAYS))
