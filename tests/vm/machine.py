# SPDX-License-Identifier: MIT
"""Boots one kernel in QEMU and follows what its guest says.

Knows QEMU's command line, deadlines and the lines of the guest's protocol (see guest-init). Does not
know what the cases are about. The guest speaks in lines on the serial port and sends its files as
tar archives through a virtio port, which needs no module and takes 100 MB/s.
"""

import os
import re
import selectors
import subprocess
import tarfile
import time

BOOT_SECONDS = 90
ATTEMPTS = 2


class Lost(Exception):
    """The guest did not do what it was booted for; the message ends in the console's tail."""


class Unavailable(Exception):
    """Something that the rig needs cannot be had here: the test is skipped with this reason."""


def command(qemu, kernel, initrd, files, arguments):
    # KVM is not asked for: the figures of a run are to be the same in every CI. la57 costs a level
    # of page walk at each TLB miss of the emulation.
    return [*qemu, "-accel", "tcg,thread=multi", "-cpu", "max,la57=off", "-smp", "2", "-m", "3G",
            "-nodefaults", "-display", "none", "-no-reboot", "-kernel", kernel, "-initrd", initrd,
            "-append", "console=ttyS0 quiet panic=-1 oops=panic no_timer_check " + arguments,
            "-serial", "stdio", "-device", "virtio-serial-pci",
            "-chardev", f"file,id=files,path={files}", "-device", "virtserialport,chardev=files"]


class Console:
    """The lines of a guest, each before a deadline."""

    def __init__(self, process, log):
        self.process, self.log, self.rest, self.text = process, log, b"", []
        self.selector = selectors.DefaultSelector()
        self.selector.register(process.stdout, selectors.EVENT_READ)

    def tail(self):
        return "".join(f"\n    | {line}" for line in self.text[-25:])

    def lines(self, deadline):
        while True:
            left = deadline() - time.monotonic()
            if left <= 0:
                raise Lost("no answer in time" + self.tail())
            if not self.selector.select(left):
                continue
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                return
            self.log.write(data)
            self.log.flush()
            *whole, self.rest = (self.rest + data).split(b"\n")
            for line in whole:
                text = line.decode(errors="replace").rstrip("\r")
                self.text.append(text)
                yield text


def follow(console, case_seconds, results):
    """Reads the guest to its end; fills results, {case: (exit status, seconds)}. Raises Lost."""
    deadline, said_hello, done = time.monotonic() + BOOT_SECONDS, False, False
    for line in console.lines(lambda: deadline):
        match = re.search(r"@@ (\w+) ?(.*)", line)
        if not match:
            continue
        word, rest = match.groups()
        if word == "hello":
            said_hello = True
            deadline = time.monotonic() + 30
        elif word == "begin":
            deadline = time.monotonic() + case_seconds(rest) + 60
        elif word == "end":
            name, status, seconds = rest.split()
            results[name] = (int(status), float(seconds))
            deadline = time.monotonic() + 60
        elif word == "bye":
            done = True
            deadline = time.monotonic() + 30
    if not done:
        what = "the guest broke off" if said_hello else "the kernel did not boot"
        raise Lost(what + console.tail())


def boot_once(argv, log_path, case_seconds, results):
    with open(log_path, "wb") as log:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        try:
            follow(Console(process, log), case_seconds, results)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()


def unpack(archive, directory):
    # One archive for each case, one after the other; that of a lost guest may end anywhere.
    try:
        with tarfile.open(archive, ignore_zeros=True) as tar:
            tar.extractall(directory)
    except (tarfile.ReadError, EOFError):
        pass
    os.unlink(archive)


def run(qemu, kernel, initrd, directory, case_seconds, arguments="", say=print):
    """Boots, runs every case, unpacks the guest's files into directory. Returns ({case: (exit
    status, seconds)} of the cases that came to their end, None or what was lost)."""
    files = os.path.join(directory, "files.tar")
    argv = command(qemu, kernel, initrd, files, arguments)
    for attempt in range(1, ATTEMPTS + 1):
        results, lost = {}, None
        try:
            boot_once(argv, os.path.join(directory, "console.log"), case_seconds, results)
            break
        except Lost as reason:
            lost = reason
            # An emulator may lose a boot (QEMU 7.2: one in five). A guest that ran is not asked twice.
            if results:
                break
            say(f"# boot {attempt} lost: {reason}")
    unpack(files, directory)
    return results, lost
