#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory does not grow with a recording: what its samples say again is not held.

    run.py SEAM

A recording of 320 MiB of stack copies is made, and read as a file, compressed, and from a pipe; one of four million small samples; one of
two and a half million with deferred stacks; one of 60,000 runs of one program; one of
two million different stacks; one of deep stacks, each of which comes twice; and one in which kernel code comes and goes. The peak of each command's memory (which counts the
pages of the file that it has mapped) must stay below what is said beside it; not under sanitizers, which hold what was freed.
"""
import array
import os
import struct
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "broken"))
import make as m  # noqa: E402

REGS_USER, STACK_USER = 1 << 12, 1 << 13
COPY, SAMPLES, DISTINCT = 60000, 5600, 50
MEMORY = {"states": 60, "small": 100, "far": 100, "stream": 180, "many": 220, "deferred": 170, "execs": 105, "programs": 110, "compressed": 150, "distinct": 110, "deep": 100}  # MiB: a stream is read into memory up to 64 MiB


def attr():
    kind = m.IP | m.TID | m.TIME | m.PERIOD | m.CALLCHAIN | REGS_USER | STACK_USER
    a = bytearray(m.attr(128))
    struct.pack_into("<Q", a, 24, kind)
    struct.pack_into("<QI", a, 80, 1 << 6 | 1 << 7 | 1 << 8, COPY)  # bp, sp, ip
    return bytes(a)


def recording(samples=SAMPLES, distinct=DISTINCT):
    """In pipe mode, in pieces. The kernel part is one of a few, the copy is the same."""
    yield m.u64(m.MAGIC) + m.u64(16) + m.record(64, attr() + m.u64(11))
    yield m.record(3, m.u32(70) + m.u32(70) + b"made-up\0" + m.u32(70) + m.u32(70) + m.u64(1), 0x2000)
    yield m.record(1, m.u32(70) + m.u32(70) + m.u64(0x400000) + m.u64(0x10000) + m.u64(0) + b"/made/up".ljust(16, b"\0") +
                   m.u32(70) + m.u32(70) + m.u64(1), 0x2000)
    for i in range(samples):
        ips = [2**64 - 128, 0xffffffff81000000 + i % distinct * 16, 0xffffffff82000000]
        yield m.record(9, m.u64(ips[1]) + m.u32(70) + m.u32(70) + m.u64(10**9 + i * 1000) + m.u64(1) + m.u64(len(ips)) +
                       b"".join(map(m.u64, ips)) + m.u64(2) + m.u64(0x7ffe0100) + m.u64(0x7ffe0000) + m.u64(0x400100) +
                       m.u64(COPY) + STACK + m.u64(COPY), 1)


def far():
    """No kernel part comes again, and each is far from the one before."""
    return recording(3000, 3000)


def many():
    """The same 4,096 samples with their stacks, a thousand times."""
    yield m.u64(m.MAGIC) + m.u64(16) + m.record(64, m.attr() + m.u64(11))
    piece = b"".join(m.sample(10**9 + i * 1000, chain=(2**64 - 512, 0x400100 + i % DISTINCT, 0x400200)) for i in range(4096))
    for _ in range(1000):
        yield piece


def again(piece, times, rounds, changes):
    """The records of a piece, again and again: words are changed at these places, by so much."""
    words = array.array("Q", piece)
    for _ in range(rounds):
        yield words.tobytes()
        for place in times:
            words[place] += changes[0]
        for place in changes[1]:
            words[place] += 1 << 44


def deferred():
    """Each sample has a cookie, and is answered."""
    attr = bytearray(m.attr())
    struct.pack_into("<Q", attr, 40, m.SAMPLE_ID_ALL | 1 << 8 | 3 << 38)  # mmap, defer_callchain, defer_output
    yield m.u64(m.MAGIC) + m.u64(16) + m.record(64, bytes(attr) + m.u64(11))
    piece, times, cookies = b"", [], []
    for i in range(2048):
        cookie = (i << 1 | 1) << 32 | 1
        times.append(len(piece) // 8 + 4)
        piece += m.sample(10**9 + i * 1000, chain=(2**64 - 128, 0xffffffff81000000 + i % DISTINCT * 16, 2**64 - 640, cookie))
        cookies += [len(piece) // 8 - 1, len(piece) // 8 + 1]
        piece += m.record(22, m.u64(cookie) + m.u64(2) + m.u64(0x400100 + i % DISTINCT) + m.u64(0x400200) + m.trailer(10**9 + i * 1000 + 500))
        times.append(len(piece) // 8 - 3)
    yield from again(piece, times, 1220, (2048000, cookies))


def execs():
    """Forty shells that run one program with twelve libraries, which lie alike in all runs."""
    yield m.u64(m.MAGIC) + m.u64(16) + m.record(64, m.attr() + m.u64(11))
    piece, times = b"", []
    for pid in range(100, 140):
        own = m.u32(pid) + m.u32(pid)
        trailer = own + m.u64(10**9 + pid * 100000) + m.u32(0) * 2 + m.u64(11)
        parts = [m.record(7, own[:4] + m.u32(70) + own[:4] + m.u32(70) + m.u64(0) + trailer), m.record(3, own + m.text("worker") + trailer, 0x2000)]
        parts += [m.record(10, own + m.u64(0x400000 + (k << 20)) + m.u64(0x10000) + m.u64(0) + m.u32(8) + m.u32(1) + m.u64(99) + m.u64(0) +
                           m.u32(5) + m.u32(2) + m.text("/made/up/%d" % k) + trailer, 2) for k in range(12)]
        for part in parts:
            piece += part
            times.append(len(piece) // 8 - 3)
        for i in range(8):
            times.append(len(piece) // 8 + 4)
            piece += m.record(9, m.u64(11) + m.u64(0x400100) + own + m.u64(10**9 + pid * 100000 + i) + m.u64(0) + m.u64(1) + m.u64(4) +
                              m.u64(2**64 - 512) + m.u64(0x400100 + i * 16) + m.u64(0x500200 + i % 3) + m.u64(0x600300), 2)
    yield from again(piece, times, 1500, (10**8, []))


def distinct():
    """No stack comes again."""
    yield m.u64(m.MAGIC) + m.u64(16) + m.record(64, m.attr() + m.u64(11))
    piece, times, innermost = b"", [], []
    for i in range(2048):
        times.append(len(piece) // 8 + 4)
        piece += m.sample(10**9 + i * 1000, chain=(2**64 - 512, 0x400100 + i * 16, 0x400200))
        innermost.append(len(piece) // 8 - 2)
    yield from again(piece, times, 1000, (2048000, innermost))


def deep():
    """No two of a hundred thousand deep stacks are the same, and all come twice."""
    yield m.u64(m.MAGIC) + m.u64(16) + m.record(64, m.attr() + m.u64(11))
    for begin in 10**9, 10**12:
        piece, times, innermost = b"", [], []
        for i in range(1024):
            times.append(len(piece) // 8 + 4)
            piece += m.sample(begin + i * 1000, chain=(2**64 - 512, 0x400100 + i * 16, *(0x400200 + k * 16 for k in range(120))))
            innermost.append(len(piece) // 8 - 121)
        yield from again(piece, times, 100, (1024000, innermost))


def programs():
    """BPF programs come and go, and kernel stacks that touch none of them come again."""
    yield m.u64(m.MAGIC) + m.u64(16) + m.record(64, m.attr() + m.u64(11))
    piece, times = b"", []
    for i in range(512):
        times.append(len(piece) // 8 + 4)
        piece += m.sample(10**9 + i * 1000, chain=(2**64 - 128, 0xffffffff81000000 + i * 16, 0xffffffff82000000))
    piece += m.record(17, m.u64(0xffffffffc0000000) + m.u32(256) + b"\1\0\0\0" + m.text("bpf_prog_1") + m.trailer(10**9 + 512000))
    times.append(len(piece) // 8 - 3)
    yield from again(piece, times, 4000, (513000, []))


STACK = bytes(range(256)) * (COPY // 256) + bytes(COPY % 256)


def peak(seam, args, work, stdin=None):
    """Exit code, standard output, MiB at most."""
    out = os.path.join(work, "out")
    # meson's: it writes to all that is allocated, also what is there for later
    environ = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}
    with open(out, "wb") as f:
        child = subprocess.Popen([seam] + args, stdin=subprocess.PIPE if stdin else subprocess.DEVNULL, stdout=f,
                                 env=dict(environ, TMPDIR=work))
        if stdin:
            feeder = threading.Thread(target=feed, args=(child.stdin,))
            feeder.start()
            feeder.join()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    with open(out, "rb") as f:  # not all of a dump: this process is small when the next one begins
        return child.returncode, f.read(1 << 20), usage.ru_maxrss >> 10


def feed(to):
    try:
        for piece in recording():
            to.write(piece)
        to.close()
    except BrokenPipeError:
        pass


def main():
    seam, failed = os.path.abspath(sys.argv[1]), 0
    sanitized = os.environ.get("SEAM_SANITIZED") == "1"
    with tempfile.TemporaryDirectory(prefix="seam-memory-", dir=os.environ.get("SEAM_TEST_TMP", "/var/tmp")) as work:
        path, texts = os.path.join(work, "data"), {}
        with open(path, "wb") as f:
            for piece in recording():
                f.write(piece)
        for kind, pieces in (("far", far), ("many", many), ("deferred", deferred), ("execs", execs), ("distinct", distinct), ("deep", deep), ("programs", programs)):
            with open(os.path.join(work, kind), "wb") as f:
                for piece in pieces():
                    f.write(piece)
        converted = os.path.join(work, "converted")
        subprocess.run([seam, "convert", "-q", "-z", "--keep-raw", "-i", path, "-o", os.path.join(work, "compressed")], check=True)
        for what, args, kind in (("stat", [], "small"), ("report", ["--stats"], "small"), ("report", ["--no-children", "-g", "none"], "small"),
                                 ("report", [], "small"), ("report", [], "far"), ("script", [], "small"), ("dump", [], "small"),
                                 ("export", ["--format", "folded"], "small"), ("convert", ["-o", converted], "small"),
                                 ("report", ["--stats"], "many"), ("report", ["--no-children"], "many"),
                                 ("script", ["-F", "tid,time"], "many"), ("report", ["--stats"], "deferred"),
                                 ("report", ["--no-children"], "deferred"), ("report", ["--stats"], "distinct"), ("report", ["--no-children"], "deep"), ("report", ["--stats"], "execs"), ("report", [], "programs"), ("script", [], "programs"),
                                 ("stat", [], "compressed"), ("report", ["--stats"], "compressed"), ("report", [], "compressed"),
                                 ("script", [], "compressed"), ("dump", [], "compressed"),
                                 ("report", ["--no-children"], "execs"), ("report", ["--stats"], "stream"), ("report", [], "stream"), ("export", ["--format", "folded"], "stream")):
            streamed = kind == "stream"
            code, text, mib = peak(seam, [what, *args, "-i", "-" if streamed else path if kind == "small" else os.path.join(work, kind)], work, streamed)
            faults = ["exit %d" % code] if code else []
            # samples whose state needs no other record leave no entry where states alone are asked for
            most = MEMORY["states" if args == ["--stats"] and kind in ("many", "distinct") else kind]
            if mib > most and not sanitized:
                faults.append("%d MiB, more than %d" % (mib, most))
            if streamed and texts[what, *args] != text:
                faults.append("another text than that of the file")
            if kind == "small":
                texts[what, *args] = text
            failed += bool(faults)
            print("%s %s %s of a %s: %d MiB%s" % ("FAIL" if faults else "ok  ", what, " ".join(args), kind if kind != "small" else "file",
                                                  mib, ": " + ", ".join(faults) if faults else ""))
    sys.exit(failed > 0)


main()
