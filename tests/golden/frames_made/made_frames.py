# SPDX-License-Identifier: MIT
"""Made-up recordings of what a sample's frames are, with names of a made-up kernel; and what must be seen of them.

    made_frames.py hit|stopped|markers      writes made.data and made.kallsyms here
"""
import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TESTS, "system"), os.path.join(TESTS, "golden", "broken")]

import make  # noqa: E402
import made  # noqa: E402
from made import KERNEL, USER  # noqa: E402
from make import u16, u64  # noqa: E402

GUEST_KERNEL = 4
TEXT = 0xFFFFFFFF81000000
# Functions of 64 bytes, one behind the other.
NAMES = ("_text handle_one caller_two __pfx_lock lock never_returns stopped_here sysvec_x asm_sysvec_x asm_exc_y "
         "exc_y el1h_64_irq el1h_64_irq_handler apic_timer_interrupt return_to_handler outer").split()
AT = {name: TEXT + 64 * i for i, name in enumerate(NAMES)}


def inside(name):
    return AT[name] + 16


def sample(time, ip, chain, mode):
    r = make.sample(time, chain=chain)
    return r[:4] + u16(mode) + r[6:16] + u64(ip) + r[24:]


def hit():
    """Where a sample hit is not where its chain begins."""
    one, two = inside("handle_one"), inside("caller_two")
    yield one, (KERNEL, one, two), 1  # the usual
    yield one - 4, (KERNEL, one, two), 1  # precise: some instructions earlier, in the same function
    yield AT["lock"] + 8, (KERNEL, one, two), 1  # and in another
    yield one, (USER, 0x400100, 0x400200), 1  # exclude_callchain_kernel
    yield 0x4000F8, (KERNEL, one, USER, 0x400100), 2  # of the user, in front of its system call
    yield one, (), 1
    yield one, (KERNEL, USER), 1  # markers alone
    yield 0, (KERNEL, one, two), 1  # who has no ip to tell writes none
    yield one, (KERNEL, two), 0  # nor who names no mode


def stopped():
    """The first byte of a function: below an entry it is where that was stopped, and below a call where that returns."""
    for entry in ("asm_sysvec_x", "asm_exc_y", "el1h_64_irq", "apic_timer_interrupt"):
        yield inside("sysvec_x"), (KERNEL, inside("sysvec_x"), inside(entry), AT["stopped_here"], inside("outer")), 1
    # no entry: a call that does not return stands at the end of the function before
    yield inside("exc_y"), (KERNEL, inside("exc_y"), AT["stopped_here"], inside("outer")), 1
    yield inside("exc_y"), (KERNEL, inside("exc_y"), inside("el1h_64_irq_handler"), AT["stopped_here"]), 1
    # nobody calls from the padding in front of a function
    yield inside("exc_y"), (KERNEL, inside("exc_y"), AT["lock"], inside("outer")), 1
    # what function graph put in a return address's place
    yield inside("exc_y"), (KERNEL, inside("exc_y"), AT["return_to_handler"], inside("outer")), 1
    # only the frame right below
    yield inside("exc_y"), (KERNEL, inside("exc_y"), inside("asm_exc_y"), inside("outer"), AT["stopped_here"]), 1


def markers():
    """Markers again and again."""
    one, two = inside("handle_one"), inside("caller_two")
    yield 0x400100, (USER, 0x400100, USER, 0x400200, USER, 0x400300), 2
    yield 0x400100, (USER, USER, 0x400100, 0x400200, USER), 2
    yield 0x400100, (0x400100, USER, 0x400200), 2
    yield one, (KERNEL, one, KERNEL, two, USER, USER, 0x400100, 0x400200), 1
    yield one, (KERNEL, one, USER, 0x400100, KERNEL, two, USER, 0x400200), 1
    yield one, (KERNEL, one, USER, 0x400100, KERNEL, two), 1
    yield 0x400100, (USER, USER), 2


def main():
    records = [made.kernel_mmap(TEXT, 64 * len(NAMES)), make.mmap2(1100)]
    for i, (ip, chain, mode) in enumerate(globals()[sys.argv[1]]()):
        records.append(sample(2000 + i, ip, chain, mode))
    with open("made.data", "wb") as f:
        f.write(made.recording(records, []))
    with open("made.kallsyms", "w") as f:
        for name in NAMES:
            f.write("%016x t %s\n" % (AT[name], name))


main()
