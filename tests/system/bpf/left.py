#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What of BPF a process holds, and what of that is still in the kernel.

    left.py held PID          "prog 12", "map 34", "link 5" of its descriptors, a line each
    left.py left < LINES      of those lines the ones that exist, after waiting up to 5 s for them to go
"""
import ctypes
import errno
import os
import sys
import time

SYS_BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
FD_BY_ID = {"prog": 13, "map": 14, "link": 30}
libc = ctypes.CDLL(None, use_errno=True)


def held(pid):
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            lines = open(f"/proc/{pid}/fdinfo/{name}").read().splitlines()
        except OSError:
            continue
        for line in lines:
            key, _, value = line.partition(":")
            if key in ("prog_id", "map_id", "link_id"):
                yield key[:-3], int(value)


def exists(kind, number):
    attr = (ctypes.c_uint32 * 16)(number)
    fd = libc.syscall(SYS_BPF, FD_BY_ID[kind], ctypes.byref(attr), ctypes.sizeof(attr))
    if fd >= 0:
        os.close(fd)
        return True
    if ctypes.get_errno() != errno.ENOENT:
        sys.exit(f"bpf({kind} {number}): {os.strerror(ctypes.get_errno())}")
    return False


if sys.argv[1] == "held":
    for kind, number in sorted(set(held(int(sys.argv[2])))):
        print(kind, number)
else:
    objects = [(line.split()[0], int(line.split()[1])) for line in sys.stdin]
    end = time.time() + 5
    while time.time() < end and any(exists(*o) for o in objects):
        time.sleep(0.05)
    for o in objects:
        if exists(*o):
            print(*o)
