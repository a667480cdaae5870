#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""seam script of a stream, while it is read: the same text as of a file, early, and in bounded memory.

run.py SEAM. Each recording of tests/data is told once more in pipe mode, as it was recorded: header, attrs,
names of events, build-ids, then its records. Long streams are made up.
"""
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(os.path.dirname(HERE)), "data")
seam = os.path.abspath(sys.argv[1])
failed = []


def record(kind, misc, payload):
    return struct.pack("<IHH", kind, misc, 8 + len(payload)) + payload


def check(ok, what):
    print("%-4s %s" % ("ok" if ok else "FAIL", what))
    if not ok:
        failed.append(what)


PIPE_HEADER = b"PERFILE2" + struct.pack("<Q", 16)
FINISHED_ROUND = record(68, 0, b"")


def piped(path):
    """A file as a stream, features in front; None if it is one already."""
    with open(path, "rb") as f:
        data = f.read()
    if struct.unpack_from("<Q", data, 8)[0] == 16:
        return None
    attr_size, attrs_at, attrs_n, data_at, data_n = struct.unpack_from("<QQQQQ", data, 16)
    out = [PIPE_HEADER]
    for at in range(attrs_at, attrs_at + attrs_n, attr_size):
        ids_at, ids_n = struct.unpack_from("<QQ", data, at + attr_size - 16)
        out.append(record(64, 0, data[at:at + attr_size - 16] + data[ids_at:ids_at + ids_n]))
    bits = int.from_bytes(data[72:104], "little")
    table = data_at + data_n
    if not data_n:  # the recorder was killed: no features
        return b"".join(out) + data[data_at:]
    for bit in range(256):
        if not bits >> bit & 1:
            continue
        at, n = struct.unpack_from("<QQ", data, table)
        table += 16
        if bit in (1, 18, 24, 27) or n > 60000:
            continue
        out.append(data[at:at + n] if bit == 2 else record(80, 0, struct.pack("<Q", bit) + data[at:at + n]))
    return b"".join(out) + data[data_at:data_at + data_n]


def run(args, stdin=None):
    """Status, text, error, peak memory in KiB."""
    done = subprocess.Popen([seam] + args, stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    text = done.communicate(stdin)
    return done.returncode, text[0].decode("utf-8", "replace"), text[1].decode("utf-8", "replace")


def same_text(work):
    for path in sorted(glob.glob(os.path.join(DATA, "*", "perf.data"))):
        name = os.path.basename(os.path.dirname(path))
        stream = piped(path)
        if stream is None:
            with open(path, "rb") as f:
                stream = f.read()
        copy = os.path.join(work, name)
        with open(copy, "wb") as f:
            f.write(stream)
        for fields in ([], ["-F", "comm,pid,tid,cpu,time,event,ip,sym,dso,state"], ["--comms", "deepmix,cc1"]):
            want, got = run(["script"] + fields + [copy]), run(["script"] + fields + ["-"], stream)
            check(want[:2] == got[:2] and (len(want[1]) > 10000 or fields[:1] == ["--comms"]),
                  "%s %s: %d lines" % (name, " ".join(fields), want[1].count("\n")))


# ---- made up ----

ATTR = struct.pack("<IIQQQQQ", 1, 128, 0, 1000000, 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 8, 0,
                   1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 38 | 1 << 39) + bytes(128 - 48)
KERNEL, USER, DEFER = 2**64 - 128, 2**64 - 512, 2**64 - 640
TIMES = 1000000


def rounds(n, samples=200, with_rounds=True):
    """n rounds of samples of 4 tasks; each user half comes one round later."""
    yield PIPE_HEADER + record(64, 0, ATTR + struct.pack("<Q", 7))
    time, answers = TIMES, []
    for i in range(4):
        yield record(3, 0x2000, struct.pack("<II8sIIQ", 100 + i, 100 + i, b"task%d" % i, 100 + i, 100 + i, 1))
        yield record(1, 0x2000, struct.pack("<IIQQQ16sIIQ", 100 + i, 100 + i, 0x400000, 0x10000, 0, b"/made/up", 100 + i,
                                            100 + i, 1))
    for i in range(n):
        chunk, answers = answers, []
        for j in range(samples):
            time += 1000
            tid = 100 + j % 4
            cookie = 1 << 48 | i << 16 | j
            ips = struct.pack("<6Q", 5, KERNEL, 0xffffffff81000000 + j * 16, 0xffffffff82000000, DEFER, cookie)
            chunk.append(record(9, 2, struct.pack("<QIIQQ", 0x400000, tid, tid, time, 1000) + ips))
            answers.append(record(22, 2, struct.pack("<5QIIQ", cookie, 3, USER, 0x400000 + j * 8, 0x401000, tid, tid,
                                                     time + 200500)))
        yield b"".join(chunk) + (FINISHED_ROUND if with_rounds else b"")
    yield b"".join(answers)


def peak_of(n, with_rounds=True):
    """Feeds n rounds: status, stitched samples out, peak memory in KiB."""
    child = subprocess.Popen([seam, "script", "-F", "tid,time,ip,state", "-"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
    lines = [0]

    def drain():
        for line in child.stdout:
            lines[0] += b" stitched" in line
    reader = threading.Thread(target=drain)
    reader.start()
    for chunk in rounds(n, with_rounds=with_rounds):
        child.stdin.write(chunk)
    with open("/proc/%d/status" % child.pid) as f:  # ru_maxrss would be that of this process before exec
        peak = int(re.search(r"VmHWM:\s*(\d+)", f.read()).group(1))
    child.stdin.close()
    reader.join()
    return child.wait(), lines[0], peak


def memory():
    few, many = peak_of(250), peak_of(1000)
    check(few[:2] == (0, 50000) and many[:2] == (0, 200000), "long streams: %d, %d samples" % (few[1], many[1]))
    keeps_freed = os.environ.get("SEAM_SANITIZED") == "1"  # the sanitizer holds what was freed
    check(keeps_freed or many[2] < 1.5 * few[2], "peak memory of 50,000 samples %d KiB, of 200,000 %d KiB" % (few[2], many[2]))
    status, samples, _ = peak_of(100, with_rounds=False)
    check((status, samples) == (0, 20000), "without rounds: %d samples" % samples)


def early(work):
    """Text comes while the writer still writes, to standard input and through a FIFO."""
    fifo = os.path.join(work, "fifo")
    os.mkfifo(fifo)
    for through in ("-", fifo):
        child = subprocess.Popen([seam, "script", "-F", "tid,time,ip", through], stdout=subprocess.PIPE,
                                 stdin=subprocess.PIPE if through == "-" else subprocess.DEVNULL)
        to = child.stdin if through == "-" else open(fifo, "wb", buffering=0)
        head, *rest = list(rounds(4))
        for piece in (head[:5], head[5:]):
            to.write(piece)
            to.flush()
        for chunk in rest:
            to.write(chunk)
            to.flush()
        first = child.stdout.readline()  # the writer waits: without text this would wait, too
        to.close()
        others = child.stdout.read()
        check(child.wait() == 0 and re.match(rb"\s*100\s+0\.00100", first) is not None and others.count(b"\n\n") == 800,
              "%s: text before the writer's end: %r" % ("standard input" if through == "-" else "a FIFO", first))


def damaged():
    stream = b"".join(rounds(20))
    for n in (0, 5, 15):  # not even a header
        done = subprocess.run([seam, "script", "-"], input=stream[:n], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30)
        check((done.returncode, done.stdout) == (1, b"") and done.stderr, "%d bytes: %s" % (n, done.stderr.decode().strip()))
    whole = run(["script", "-F", "tid,time,ip", "-"], stream)
    for cut in (len(stream) - 13, len(stream) // 2 + 3):
        status, text, err = run(["script", "-F", "tid,time,ip", "-"], stream[:cut])
        check(status == 3 and whole[1].startswith(text) and text.count("\n\n") > 1500 and "seam script:" in err,
              "cut at %d of %d: %d samples, %s" % (cut, len(stream), text.count("\n\n"), err.splitlines()[:1]))


with tempfile.TemporaryDirectory(prefix="seam-stream-") as work:
    same_text(work)
    memory()
    early(work)
    damaged()
sys.exit(1 if failed else 0)
