#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What takes long is ended by INT, TERM and HUP: --archive of a tar that says it is 2^62 bytes,
or goes on without end, and each command while it reads. How much is read after the signal is
counted in bytes, not in seconds. What is ignored (nohup) ends nothing; an archive may come from a
pipe. Usage: archive_stopped.py SEAM"""
import os
import signal
import subprocess
import sys
import tempfile

SEAM = sys.argv[1]
MIB = 1 << 20
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
failures = 0


def same(what, expected, got):
    global failures
    if expected == got:
        print(f"ok: {what} ({got})")
    else:
        failures += 1
        print(f"FAILED: {what}: expected {expected}, got {got}")


def head(name, size, kind, pax=b""):
    """A tar header, behind a pax header where one is given."""
    block = bytearray(512)
    block[0:len(name)] = name
    block[124:136] = b"%011o\0" % size
    block[156:157] = kind
    block[257:263] = b"ustar\0"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    before = head(b"pax", len(pax), b"x") + pax.ljust(512, b"\0") if pax else b""
    return before + bytes(block)


HUGE = b"28 size=4611686018427387904\n"
GLOBAL = head(b"g", 60000, b"g") + bytes(60416)


def endless(first, again):
    yield first
    while True:
        yield again


def run(command, **more):
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **more)


def feed(fd, pieces, before, process, number):
    """Writes some MiB, sends the signal, and writes on while anybody reads: the MiB after
    the signal, up to 64."""
    done = sent = 0
    try:
        for piece in pieces:
            while piece:
                n = os.write(fd, piece)
                piece = piece[n:]
                done += n
            if done >= before * MIB and not sent:
                sent = done
                process.send_signal(number)
            if sent and done - sent >= 64 * MIB:
                break
    except BrokenPipeError:
        pass
    os.close(fd)
    return (done - sent) // MIB if sent else -1


def stopped(what, command, pieces, before, number, work):
    """The command reads the FIFO work/in without end, until the signal."""
    fifo = f"{work}/in"
    if not os.path.exists(fifo):
        os.mkfifo(fifo)
    process = run(command, env=dict(os.environ, TMPDIR=work))
    fd = os.open(fifo, os.O_WRONLY)
    after = feed(fd, pieces, before, process, number)
    said = process.communicate()[1].decode()
    same(f"{what}: ended by", -number, process.returncode)
    same(f"{what}: read on for 64 MiB", False, after < 0 or after >= 64)
    same(f"{what}: said", "", said)
    same(f"{what}: left behind", ["in"], os.listdir(work))


def archives(work):
    with open(f"{work}/huge", "wb") as f:
        f.write(head(b"d/", 0, b"5", HUGE))
        f.truncate(1 << 30)
    process = run([SEAM, "report", "--archive", f"{work}/huge"])
    said = process.communicate()[1].decode()
    same("2^62 bytes: status", 2, process.returncode)
    same("2^62 bytes: refused", True, "more than may be unpacked" in said)
    os.unlink(f"{work}/huge")
    cases = {
        "a directory that goes on": (head(b"d/", 512 * MIB, b"5"), bytes(MIB)),
        "a file that goes on": (head(b"f", 512 * MIB, b"0"), bytes(MIB)),
        "directories": (b"", head(b"d/", 0, b"5") * 2048),
        "headers": (b"", GLOBAL * 16),
    }
    for what, (first, again) in cases.items():
        for number in SIGNALS:
            stopped(f"--archive, {what}, {number.name}",
                    [SEAM, "report", "--archive", f"{work}/in"],
                    endless(first, again), 4, number, work)


def ignored(work):
    """Ends by itself: the tar is whole, but nothing that seam made."""
    process = run([SEAM, "report", "--archive", f"{work}/in"],
                  preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    fd = os.open(f"{work}/in", os.O_WRONLY)
    tar = head(b"f", 8 * MIB, b"0") + bytes(8 * MIB + 1024)
    feed(fd, (tar[at:at + MIB] for at in range(0, len(tar), MIB)), 4, process, signal.SIGHUP)
    said = process.communicate()[1].decode()
    same("HUP that is ignored: status", 2, process.returncode)
    same("HUP that is ignored: read to the end", True, "seam archive did not make it" in said)


def commands(work):
    """A recording in pipe mode that goes on: records of a type that nobody knows."""
    first = b"PERFILE2" + (16).to_bytes(8, "little")
    record = (200).to_bytes(4, "little") + bytes(2) + (4096).to_bytes(2, "little") + bytes(4088)
    for command in (["report"], ["script"], ["dump"], ["stat"], ["flame", "-o", "out"],
                    ["annotate", "f"], ["export", "--format", "pprof", "-o", "out"],
                    ["archive", "-o", "out"], ["convert", "-o", "out"], ["recover", "-o", "out"]):
        for number in SIGNALS:
            command = [f"{work}/out" if word == "out" else word for word in command]
            stopped(f"{command[0]}, {number.name}", [SEAM, *command, "-i", f"{work}/in"],
                    endless(first, record * 256), 4, number, work)


def main():
    # What started the tests may ignore some of them, as a shell does for its background.
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as work:
        archives(work)
        ignored(work)
        commands(work)
    sys.exit(f"{failures} failures" if failures else 0)


main()
