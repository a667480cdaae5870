#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The limits that docs/format.md states, each held against input that passes it.

    run.py SEAM

Streams are made as they are read, so that they may be larger than the memory that seam is given
(RLIMIT_AS, in MiB below; not under sanitizers). Each case says what must be counted and said: the sound
records, all of them, and in words what was not taken.
"""
import os
import resource
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "broken"))
import make as m  # noqa: E402

SECONDS = 60


def limit(mib):
    def apply():
        if os.environ.get("SEAM_SANITIZED") != "1":
            resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))
    return apply


def run(seam, args, chunks, mib):
    """seam ARGS with chunks on standard input: exit code, stdout, stderr."""
    with subprocess.Popen([seam] + args, stdin=subprocess.PIPE if chunks else subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit(mib)) as p:
        try:
            for chunk in chunks or ():
                p.stdin.write(chunk)
        except BrokenPipeError:
            pass
        if chunks:
            p.stdin.close()
            p.stdin = None
        out, err = p.communicate(timeout=SECONDS)
    return p.returncode, out.decode(), err.decode()


def head():
    return m.u64(m.MAGIC) + m.u64(16) + m.record(64, m.attr() + b"".join(map(m.u64, m.IDS)))


def samples(n, start=10**6):
    """n samples in pieces of 4096, in order of time."""
    one = bytearray(m.sample(0))
    at = one.index(m.u32(70) + m.u32(70), 16) + 8
    for i in range(0, n, 4096):
        piece = bytearray()
        for k in range(i, min(i + 4096, n)):
            struct.pack_into("<Q", one, at, start + k)
            piece += one
        yield bytes(piece)


# Each gives (args, chunks or None, MiB, exit code, [what stdout says], [what stderr says]).

def long_stream(work):
    n = 3 << 20
    return ["stat", "--check", "-"], [head(), *samples(n)], 64, 0, ["SAMPLE events: %10d" % n], []


def order_without_rounds(work):
    n = 6 << 20  # 576 MiB of samples that nothing lets go: order holds 256 MiB
    return ["stat", "--stacks", "-"], [deferring(), *samples(n)], 900, 0, [
        "SAMPLE events: %10d" % n, "user stacks: %d samples" % n], []


def deferring():
    attr = bytearray(m.attr())
    struct.pack_into("<Q", attr, 40, m.SAMPLE_ID_ALL | 1 << 38)
    return m.u64(m.MAGIC) + m.u64(16) + m.record(64, bytes(attr) + b"".join(map(m.u64, m.IDS)))


def stream_features(work):
    one = m.feature_record(3, m.u32(60000) + b"x" * 59999 + b"\0")
    n = (320 << 20) // len(one)
    return ["stat", "--check", "-"], [head()] + [one] * n + m.records(), 512, 3, ["SAMPLE events:          4"], ["features of over 256 MiB"]


def build_ids(work):
    one = m.record(67, m.u32(1) + b"b" * 24 + b"/" + b"p" * 4000 + b"\0" * 3, 2)
    n = (32 << 20) // len(one)
    return ["stat", "--check", "-"], [head()] + [one] * n + m.records(), 128, 3, [
        "BUILD_ID events: %10d" % n, "SAMPLE events:          4"], ["more than 16 MiB"]


def tracing_data(work):
    size = 200 << 20
    return ["stat", "--check", "-"], [head(), m.record(66, m.u32(size))] + [b"t" * (1 << 20)] * 200 + m.records(), \
        192, 3, ["SAMPLE events:          4"], ["TRACING_DATA: 209715200 bytes, more than 67108864"]


def too_many_events(work):
    path = os.path.join(work, "events")
    with open(path, "wb") as f:
        f.write(m.file_with(n_attrs=65537))
    return ["stat", path], None, 512, 1, [], ["65536"]


def damage_kept(work):
    """Every other record lies about its callchain: all are counted."""
    path = os.path.join(work, "damage")
    wrong = m.sample(1, nr=1 << 40)
    with open(path, "wb") as f:
        f.write(m.file_with(records=[r for _ in range(200) for r in (wrong, m.sample(2))]))
    return ["stat", "--check", path], None, 512, 3, ["SAMPLE events:        400"], ["the first of 200 records"]


def before_the_data(work):
    """A file through a pipe whose data begin behind 80 MiB of nothing."""
    whole = m.file_with(data_offset=80 << 20)
    return ["stat", "-"], [whole] + [bytes(1 << 20)] * 80, 256, 1, [], ["67108864"]


def files_of_a_directory(work):
    """As many as are read, all empty but for two."""
    path = os.path.join(work, "directory")
    os.mkdir(path)
    with open(os.path.join(path, "data"), "wb") as f:
        f.write(m.file_with())
    with open(os.path.join(path, "data.0"), "wb") as f:
        f.write(m.sample(9))
    for i in range(1, 65536):
        os.mknod(os.path.join(path, "data.%d" % i))
    return ["stat", "--check", path], None, 512, 0, ["SAMPLE events:          5"], []


def too_many_files(work):
    """Seven more."""
    path = os.path.join(work, "directory")
    for i in range(65536, 65543):
        os.mknod(os.path.join(path, "data.%d" % i))
    return ["stat", path], None, 512, 3, ["SAMPLE events: "], ["more than 65536 files data.N: 7 of them are left out"]


CASES = [files_of_a_directory, too_many_files, long_stream, order_without_rounds, stream_features, build_ids, tracing_data, too_many_events, damage_kept,
         before_the_data]


def main():
    seam = os.path.abspath(sys.argv[1])
    bad = 0
    with tempfile.TemporaryDirectory(prefix="seam-limits-") as work:
        for case in CASES:
            args, chunks, mib, wanted, says, complains = case(work)
            code, out, err = run(seam, args, chunks, mib)
            faults = ["exit %d, not %d" % (code, wanted)] if wanted != code else []
            faults += ["no '%s' in its text" % t for t in says if t not in out]
            faults += ["no '%s' in its words" % t for t in complains if t not in err]
            bad += bool(faults)
            print("%s %s: exit %d%s" % ("FAIL" if faults else "ok  ", case.__name__, code,
                                        ", " + err.strip().split("\n")[0][:160] if err else ""))
            for fault in faults:
                print("     " + fault)
            if faults:
                print("     " + out[:600].replace("\n", "\n     "))
    print("%d limits, %d faults" % (len(CASES), bad))
    sys.exit(bad > 0)


main()
